"""Out of memory: the record, the snapshot with its history, the inventory, the footer.

    PYTHONPATH=OUT python3 oom.py
"""

import os
import pickle

import common

ASKED = 1 << 42
PROGRAM = """
import torch, gpt2
torch.manual_seed(0)
model = gpt2.GPT2(layers=2, length=256).to("cuda")
optimizer = torch.optim.AdamW(model.parameters())
tokens = torch.randint(0, 50257, (2, 256), device="cuda")
for step in range(3):
    model(tokens, tokens).backward()
    if step == 1:
        torch.empty(%d, dtype=torch.uint8, device="cuda")
    optimizer.step()
    optimizer.zero_grad()
""" % ASKED


def main():
    common.machine()
    code, folder, _, error = common.recorded(["-c", PROGRAM])
    common.check("the program fails as it would", code == 1 and "OutOfMemoryError" in error, code=code)
    found, torn = common.records(common.journals(folder)[0])
    ooms = common.of_kind(found, "oom")
    common.check("one record", len(ooms) == 1 and torn == 0, records=len(ooms))
    oom = ooms[0] if ooms else {}
    common.check("what was asked for", oom.get("requested") == ASKED, requested=oom.get("requested"))
    common.check("the device", 0 < (oom.get("device_free") or 0) < (oom.get("device_total") or 0),
                 free=oom.get("device_free"), total=oom.get("device_total"))
    common.check("where", oom.get("step") == 1 and oom.get("stack", [""])[0].startswith("<string>:10"),
                 step=oom.get("step"), stack=oom.get("stack", [])[:2])
    path = os.path.join(folder, "rank00000/memory_snapshot.pickle")
    actions = set()
    if os.path.isfile(path):
        with open(path, "rb") as file:
            snapshot = pickle.load(file)
        actions = {e["action"] for trace in snapshot["device_traces"] for e in trace}
    common.check("the snapshot has the history", {"alloc", "oom"} <= actions, actions=sorted(actions))
    named = [r for r in common.of_kind(found, "inventory") if r["at"] == "oom"]
    kinds = {i["kind"] for r in named for i in r["items"]}
    common.check("what was there by name", {"parameter", "gradient", "optimizer_state"} <= kinds,
                 kinds=sorted(kinds))
    last = found[-1]
    common.check("the footer", last["k"] == "footer" and last["reason"] == "exception"
                 and "OutOfMemoryError" in last.get("error", ""), last=last["k"])
    common.finish()


main()
