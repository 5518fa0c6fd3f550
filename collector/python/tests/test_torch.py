"""What needs PyTorch itself: compiled models, DDP, FSDP2, early-stopped recomputation. On CPU tensors."""

import unittest

from harness import REAL, Case, of_kind

TRAIN = (
    "import torch, os, warnings\n"
    "from torch import nn\n"
    "warnings.simplefilter('error', UserWarning)\n"
    "torch.manual_seed(0)\n"
    "def parts():\n"
    "    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))\n"
    "    return net\n"
    "def train(net, steps=3, optimizer=None):\n"
    "    optimizer = optimizer or torch.optim.AdamW(net.parameters())\n"
    "    for _ in range(steps):\n"
    "        net(torch.randn(3, 4)).sum().backward()\n"
    "        optimizer.step(); optimizer.zero_grad()\n"
    "def group():\n"
    "    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='0', RANK='0', WORLD_SIZE='1')\n"
    "    torch.distributed.init_process_group('gloo', store=torch.distributed.HashStore(), rank=0, "
    "world_size=1)\n"
)


@unittest.skipUnless(REAL, "needs PyTorch: MEMSCOPE_TEST_TORCH=real with a Python that has it")
class Torch(Case):
    def steps(self, records):
        edges = [e.split()[0] for e in self.edges(records)]
        return [edges.count(e) for e in (
            "step_start", "forward_end", "backward_start", "backward_end", "optimizer_step_start",
            "optimizer_step_end", "step_end")]

    def names(self, records):
        return {r["name"] for r in of_kind(records, "module")}

    def test_compiled_models(self):
        # One region: the root is seen, its parts are not. No graph is broken by the hooks.
        records = self.program(TRAIN + (
            "net = torch.compile(parts(), backend='eager', fullgraph=True)\n"
            "train(net)\n"
            "from torch._dynamo.utils import counters\n"
            "assert not counters['graph_break'], counters\n"
        ))
        self.assertEqual(self.steps(records), [3] * 7)
        self.assertEqual(self.names(records), {"Sequential"})
        names = {i["name"] for i in of_kind(records, "inventory")[0]["items"]}
        self.assertIn("0.weight", names)

    def test_models_compiled_in_place(self):
        # Forwards are out of sight; optimizers alone tell steps.
        records = self.program(TRAIN + (
            "net = parts(); net.compile(backend='eager', fullgraph=True)\n"
            "train(net)\n"
        ))
        self.assertEqual([self.steps(records)[n] for n in (0, 4, 5, 6)], [3] * 4)

    def test_ddp(self):
        records = self.program(TRAIN + (
            "group()\n"
            "train(nn.parallel.DistributedDataParallel(parts()))\n"
            "torch.distributed.destroy_process_group()\n"
        ))
        self.assertEqual(self.steps(records), [3] * 7)
        self.assertEqual(self.names(records), {"Sequential", "0", "1", "2"})

    def test_fsdp2(self):
        records = self.program(TRAIN + (
            "from torch.distributed.fsdp import fully_shard\n"
            "from torch.distributed.device_mesh import init_device_mesh\n"
            "group()\n"
            "mesh = init_device_mesh('cpu', (1,))\n"
            "net = parts()\n"
            "fully_shard(net[0], mesh=mesh); fully_shard(net, mesh=mesh)\n"
            "train(net)\n"
            "torch.distributed.destroy_process_group()\n"
        ))
        self.assertEqual(self.steps(records), [3] * 7)
        self.assertEqual(self.names(records), {"FSDPSequential", "0", "1", "2"})
        items = of_kind(records, "inventory")[0]["items"]
        shards = {i["name"]: i["bytes"] for i in items if i["kind"] == "parameter"}
        self.assertEqual(shards, {"0.weight": 128, "0.bias": 32, "2.weight": 64, "2.bias": 8})
        states = {i["state"] for i in items if i["kind"] == "optimizer_state"}
        self.assertEqual(states, {"step", "exp_avg", "exp_avg_sq"})

    def test_recomputation_that_stops_early_and_within_itself(self):
        for reentrant in ("False", "True"):
            with self.subTest(reentrant):
                self.setUp()
                records = self.program(TRAIN + (
                    "from torch.utils.checkpoint import checkpoint\n"
                    "class Saving(nn.Module):\n"
                    "    def __init__(self):\n"
                    "        super().__init__(); self.a = parts(); self.b = nn.Linear(2, 2)\n"
                    "    def forward(self, x):\n"
                    "        x = x.requires_grad_()\n"
                    "        return self.b(checkpoint(self.a, x, use_reentrant=%s))\n"
                    "train(Saving())\n" % reentrant
                ))
                self.assertEqual(self.steps(records), [3] * 7)
                again = [r for r in of_kind(records, "module") if r["phase"] == "recompute"]
                self.assertEqual({r["name"] for r in again}, {"a", "a.0", "a.1", "a.2"})
                pairs = {}
                for record in again:
                    pairs.setdefault(record["call"], []).append(record["edge"])
                for edges in pairs.values():
                    self.assertEqual(len(edges), 2)
                    self.assertIn(edges[1], ("post", "abort"))

    def test_lbfgs_evaluates_more_than_once_a_step(self):
        records = self.program(TRAIN + (
            "net = parts(); optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)\n"
            "x = torch.randn(3, 4)\n"
            "def closure():\n"
            "    optimizer.zero_grad(); loss = (net(x) ** 2).sum(); loss.backward(); return loss\n"
            "for _ in range(2): optimizer.step(closure)\n"
        ))
        starts, forwards, _, backwards, updates, ends, step_ends = self.steps(records)
        self.assertEqual((starts, ends, step_ends), (2, 2, 2))
        self.assertGreater(forwards, 2)
        self.assertEqual((backwards, updates), (forwards, forwards))

    def test_optimizers_inside_of_backward(self):
        records = self.program(TRAIN + (
            "net = parts()\n"
            "optimizers = {p: torch.optim.SGD([p], lr=0.1) for p in net.parameters()}\n"
            "def update(p):\n"
            "    optimizers[p].step(); optimizers[p].zero_grad()\n"
            "for p in net.parameters(): p.register_post_accumulate_grad_hook(update)\n"
            "for _ in range(3): net(torch.randn(3, 4)).sum().backward()\n"
        ))
        self.assertEqual(self.steps(records), [3, 3, 3, 3, 0, 0, 3])

    def test_threads_have_stacks_of_their_own(self):
        records = self.program(TRAIN + (
            "import threading\n"
            "net = parts()\n"
            "def work():\n"
            "    with torch.no_grad():\n"
            "        for _ in range(20): net(torch.randn(3, 4))\n"
            "threads = [threading.Thread(target=work) for _ in range(4)]\n"
            "[t.start() for t in threads]; [t.join() for t in threads]\n"
        ), MEMSCOPE_MODULES="full")
        modules = of_kind(records, "module")
        self.assertEqual(len(modules), 4 * 20 * 4 * 2)
        depths = {(r["name"], r["depth"]) for r in modules}
        self.assertEqual(depths, {("Sequential", 0), ("0", 1), ("1", 1), ("2", 1)})


if __name__ == "__main__":
    unittest.main()
