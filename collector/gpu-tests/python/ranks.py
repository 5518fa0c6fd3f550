"""Two ranks of DDP, the second with twice the batch: one journal a rank, on one time axis.

    PYTHONPATH=OUT python3 ranks.py [FOLDER]

NCCL with a GPU for each rank; with one GPU both share it, over gloo.
"""

import json
import os
import sys

import common


def train():
    """What each rank runs."""
    import torch
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel

    from gpt2 import GPT2

    rank, gpus = int(os.environ["RANK"]), torch.cuda.device_count()
    torch.cuda.set_device(rank % gpus)
    torch.distributed.init_process_group("nccl" if gpus > 1 else "gloo")
    torch.manual_seed(0)
    model = GPT2(layers=2, width=256, heads=4, vocabulary=8000, length=256).cuda()
    model = DistributedDataParallel(model, device_ids=[rank % gpus])
    optimizer = torch.optim.AdamW(model.parameters())
    tokens = torch.randint(0, 8000, (4 * (rank + 1), 256), device="cuda")
    for _ in range(4):
        logits = model(tokens)
        nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
    figures = torch.cuda.memory_stats()
    print(json.dumps({"rank": rank, "peak": figures["allocated_bytes.all.peak"],
                      "reserved": figures["reserved_bytes.all.peak"]}), flush=True)
    torch.distributed.destroy_process_group()


def main():
    common.machine()
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    code, folder, said, error = common.recorded(
        ["--nproc-per-node", "2", "--master-port", "29577", os.path.abspath(__file__), "--train"],
        folder, command=[sys.executable, "-m", "torch.distributed.run"])
    common.check("both ranks end", code == 0, code=code, error=error[-500:] if code else "")
    truth = {}
    for line in said.splitlines():
        if line.startswith("{"):
            stated = json.loads(line)
            truth[stated["rank"]] = stated
    cores = common.journals(folder)
    common.check("a journal a rank", len(cores) == 2, journals=len(cores))
    spans = []
    for core in cores:
        found, torn = common.records(core)
        header = found[0]
        rank = header["rank"]
        peak = max(s.get("max_allocated", 0) for s in common.of_kind(found, "sample"))
        common.check("the peak of rank %d" % rank, peak == truth[rank]["peak"] and not torn,
                     peak=peak, torch=truth[rank]["peak"], world=header.get("world_size"))
        ends = [s for s in common.of_kind(found, "sample") if s["edge"] == "step_end"]
        common.check("the steps of rank %d" % rank, len(ends) == 4, steps=len(ends))
        # The wall clock of each record: the header has both clocks.
        shift = header["realtime"] - header["t"]
        spans.append((ends[0]["t"] + shift, ends[-1]["t"] + shift))
    common.check("at the same time", spans[0][0] < spans[1][1] and spans[1][0] < spans[0][1])
    common.finish()


if __name__ == "__main__":
    train() if "--train" in sys.argv else main()
