"""Callbacks for frameworks that say themselves where steps begin. None is imported unless asked for."""
