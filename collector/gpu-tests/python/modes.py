"""The ways in which models are run: each a small program on the GPU that is recorded, and what must be seen.

    PYTHONPATH=OUT python3 modes.py [NAME...]

Modes whose library is missing are said and passed over.
"""

import os
import sys

import common

HEAD = """
import os, torch, warnings
from torch import nn
torch.manual_seed(0)
def parts():
    return nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256)).cuda()
def batch(): return torch.randn(64, 256, device="cuda")
def train(net, steps=5):
    optimizer = torch.optim.AdamW(net.parameters())
    for _ in range(steps):
        net(batch()).square().mean().backward()
        optimizer.step(); optimizer.zero_grad()
def group():
    for name, value in (("RANK", "0"), ("LOCAL_RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "127.0.0.1"),
                        ("MASTER_PORT", "29561")):
        os.environ.setdefault(name, value)
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
"""

PROGRAMS = {
    "compile": "train(torch.compile(parts()))",
    "compile_in_place": "net = parts(); net.compile(); train(net)",
    "compile_reduce_overhead": "train(torch.compile(parts(), mode='reduce-overhead'), 8)",
    "graph": """
net = parts(); optimizer = torch.optim.AdamW(net.parameters(), capturable=True); x = batch()
def once():
    optimizer.zero_grad(set_to_none=True); net(x).square().mean().backward(); optimizer.step()
side = torch.cuda.Stream(); side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3): once()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph): once()
for _ in range(10): graph.replay()
torch.cuda.synchronize()
""",
    "graphed_callables": """
net = torch.cuda.make_graphed_callables(parts(), (batch(),)); train(net)
""",
    "checkpoint": """
from torch.utils.checkpoint import checkpoint
class Saving(nn.Module):
    def __init__(self): super().__init__(); self.a = parts(); self.b = parts()
    def forward(self, x): return self.b(checkpoint(self.a, x, use_reentrant=False))
train(Saving())
""",
    "scaler": """
net = parts(); optimizer = torch.optim.SGD(net.parameters(), lr=0.1); scaler = torch.amp.GradScaler()
for step in range(5):
    loss = net(batch()).square().mean()
    if step == 2: loss = loss * float("inf")
    scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update(); optimizer.zero_grad()
""",
    "ddp": """
group()
train(nn.parallel.DistributedDataParallel(parts(), device_ids=[torch.cuda.current_device()]))
torch.distributed.destroy_process_group()
""",
    "fsdp2": """
group()
from torch.distributed.fsdp import fully_shard
net = parts(); fully_shard(net[0]); fully_shard(net[2]); fully_shard(net); train(net)
torch.distributed.destroy_process_group()
""",
    "transformers": """
import tempfile
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
class Data(torch.utils.data.Dataset):
    def __len__(self): return 32
    def __getitem__(self, i): t = torch.arange(64) + i; return {"input_ids": t, "labels": t}
model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=128, n_head=2, n_positions=64, vocab_size=512))
Trainer(model, TrainingArguments(tempfile.mkdtemp(), per_device_train_batch_size=2, max_steps=5,
    gradient_accumulation_steps=2, bf16=True, report_to=[], save_strategy="no", disable_tqdm=True,
    dataloader_num_workers=2), train_dataset=Data()).train()
""",
    "lightning": """
import lightning.pytorch as L
class Model(L.LightningModule):
    def __init__(self): super().__init__(); self.net = parts()
    def training_step(self, batch, i): return self.net(batch[0]).square().mean()
    def validation_step(self, batch, i): self.net(batch[0])
    def configure_optimizers(self): return torch.optim.AdamW(self.parameters())
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(80, 256)), 8)
L.Trainer(max_steps=5, accumulate_grad_batches=2, logger=False, enable_checkpointing=False,
    enable_progress_bar=False, accelerator="gpu", devices=1).fit(Model(), data, data)
""",
}

# Steps, micro-batches in each, and edges that are not there.
EXPECTED = {
    "compile_in_place": (5, 1, ("forward_end", "backward_start", "backward_end")),
    "compile_reduce_overhead": (8, 1, ()),
    "transformers": (5, 2, ()),
    "lightning": (5, 2, ()),
}


def look(name, found):
    """Checks of one journal."""
    edges = common.count(found)
    if name == "graph":
        # Three steps by hand and the captured one; replays call nothing that could be seen.
        common.check("graph: the steps before replays", edges.get("optimizer_step_end", 0) in (3, 4), **edges)
        return
    steps, micro, missing = EXPECTED.get(name, (5, 1, ()))
    wanted = {"step_start": steps, "step_end": steps, "optimizer_step_end": steps,
              "backward_end": steps * micro}
    if name == "scaler":
        wanted.update(optimizer_step_end=4, optimizer_skipped=1)
    if name == "graphed_callables":
        # Warm-up and capture run forward and backward outside of any step of an optimizer.
        wanted.pop("backward_end")
    wrong = {e: edges.get(e, 0) for e, n in wanted.items() if e not in missing and edges.get(e, 0) != n}
    common.check("%s: steps and phases" % name, not wrong, wrong=wrong, edges=edges)
    samples = common.of_kind(found, "sample")
    common.check("%s: figures" % name, all("allocated" in r and "reserved" in r for r in samples[2:]))
    bounds = [r for r in samples if r["edge"] == "step_end"]
    common.check("%s: device" % name, all(r.get("device_used", 0) >= r["reserved"] for r in bounds))


def main():
    import torch

    common.machine()
    for name in sys.argv[1:] or PROGRAMS:
        command = None
        ranks = 1
        if name in ("ddp", "fsdp2") and torch.cuda.device_count() > 1:
            ranks = torch.cuda.device_count()
        path = "/tmp/memscope-%s-%d.py" % (name, os.getpid())
        with open(path, "w") as file:
            # Workers of data loaders import this again.
            body = "\n".join("    " + line for line in PROGRAMS[name].strip().split("\n"))
            file.write(HEAD + "def main():\n" + body + "\nif __name__ == '__main__':\n    main()\n")
        if ranks > 1:
            command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(ranks)]
        code, folder, _, error = common.recorded([path], command=command)
        os.unlink(path)
        if code and "ModuleNotFoundError" in error:
            common.say(mode=name, skipped=error.strip().split("\n")[-1])
            continue
        common.check("%s: runs" % name, code == 0, error=error[-2000:] if code else "")
        said = [line for line in error.split("\n") if line.startswith("memscope:")]
        common.check("%s: nothing of MemScope's fails" % name, not said, said=said[:3])
        found = common.journals(folder)
        common.check("%s: a journal a rank" % name, len(found) == ranks, journals=len(found))
        for core in found:
            look(name, common.records(core)[0])
    common.finish()


main()
