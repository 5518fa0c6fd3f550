"""A gradient scaler that leaves a step out when a gradient is not finite."""


class GradScaler:
    def __init__(self, device="cuda"):
        self.device = device

    def scale(self, loss):
        return loss * 2.0

    def step(self, optimizer, *arguments, **keywords):
        gradients = [p.grad for p in optimizer.param_groups[0]["params"]]
        if all(g.finite for g in gradients if g is not None):
            return optimizer.step(*arguments, **keywords)
        return None

    def update(self):
        pass
