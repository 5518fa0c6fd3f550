"""The gradient scaler."""

from . import grad_scaler
from .grad_scaler import GradScaler

__all__ = ["grad_scaler", "GradScaler"]
