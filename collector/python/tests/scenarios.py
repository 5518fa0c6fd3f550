"""Small programs that train or infer: run against PyTorch and against its stand-in.

`python scenarios.py NAME` runs one. They use the part of torch that both have.
"""

import sys

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.act = nn.ReLU()
        self.last = nn.Linear(4, 2)

    def forward(self, x):
        return self.last(self.act(self.first(x)))


def _parts():
    torch.manual_seed(1)
    net = Net()
    return net, torch.optim.SGD(net.parameters(), lr=0.1)


def _batch():
    return torch.randn(3, 4)


def plain():
    net, optimizer = _parts()
    for _ in range(3):
        net(_batch()).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def accumulation():
    net, optimizer = _parts()
    for _ in range(2):
        for _ in range(3):
            net(_batch()).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def closure():
    net, optimizer = _parts()

    def compute():
        optimizer.zero_grad()
        loss = net(_batch()).sum()
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(compute)


def skipped():
    net, optimizer = _parts()
    scaler = torch.amp.GradScaler("cpu")
    for step in range(3):
        loss = net(_batch()).sum()
        if step == 1:
            loss = loss * float("inf")
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


def recompute():
    from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop

    class Saving(Net):
        def forward(self, x):
            x = checkpoint(self.first, x, use_reentrant=False)
            return self.last(self.act(x))

    torch.manual_seed(1)
    net = Saving()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        with set_checkpoint_early_stop(False):
            net(_batch()).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def inference():
    torch.manual_seed(1)
    net = Net()
    with torch.no_grad():
        for _ in range(3):
            net(_batch())


def forgot_no_grad():
    torch.manual_seed(1)
    net = Net()
    for _ in range(3):
        net(_batch())


def evaluation():
    net, optimizer = _parts()
    for _ in range(2):
        net(_batch()).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        with torch.no_grad():
            net(_batch())
            net(_batch())


def two_optimizers():
    first, one = _parts()
    second, two = _parts()
    for _ in range(3):
        first(_batch()).sum().backward()
        one.step()
        second(_batch()).sum().backward()
        two.step()


def unused_optimizer():
    net, optimizer = _parts()
    other = torch.optim.SGD(Net().parameters(), lr=0.1)
    for _ in range(4):
        net(_batch()).sum().backward()
        optimizer.step()
    del other


def loss_module():
    net, optimizer = _parts()
    criterion = nn.CrossEntropyLoss()
    target = torch.tensor([0, 1, 0])
    for _ in range(2):
        criterion(net(_batch()), target).backward()
        optimizer.step()


def raises_in_forward():
    class Failing(Net):
        fail = False

        def forward(self, x):
            x = self.first(x)
            if self.fail:
                raise ValueError("no")
            return self.last(x)

    torch.manual_seed(1)
    net = Failing()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        net.fail = step == 1
        try:
            net(_batch()).sum().backward()
        except ValueError:
            continue
        optimizer.step()


def interrupted():
    class Stopping(Net):
        stop = False

        def forward(self, x):
            x = self.first(x)
            if self.stop:
                raise KeyboardInterrupt
            return self.last(x)

    torch.manual_seed(1)
    net = Stopping()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        net.stop = step == 1
        try:
            net(_batch()).sum().backward()
        except KeyboardInterrupt:
            continue
        optimizer.step()


def explicit():
    import memscope

    net, optimizer = _parts()
    for _ in range(3):
        memscope.step()
        with memscope.phase("rollout"):
            net(_batch())
        net(_batch()).sum().backward()
        optimizer.step()
        net(_batch()).sum().backward()
        optimizer.step()
        memscope.mark("done")


def uncaught():
    plain()
    raise RuntimeError("the program failed")


def uncaught_interrupt():
    plain()
    raise KeyboardInterrupt


NAMES = [
    n for n, f in list(globals().items())
    if callable(f) and not n.startswith("_") and getattr(f, "__module__", "") == __name__ and n != "Net"
]

if __name__ == "__main__":
    globals()[sys.argv[1]]()
