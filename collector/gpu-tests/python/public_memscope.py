"""The run that the public MemScope recorded in the fixture `original_memscope`, recorded here: a GPT-2 of 6
layers in bf16 with Adam, batch 4, sequence 512, three steps. Its script is not known; what its report tells
(shapes, dtypes, figures before the first step) is what is run.

    PYTHONPATH=OUT python3 public_memscope.py tests/fixtures/original_memscope/rank00000/runtime_report.json
"""

import json
import sys

import common

PROGRAM = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel
torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(n_layer=6)).cuda().to(torch.bfloat16)
model.train()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
tokens = torch.randint(0, 50257, (4, 512), device="cuda")
for _ in range(3):
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    del loss
"""
EDGES = ("step_start", "forward_backward_end", "optimizer_step_start", "optimizer_step_end", "step_end")
# The script is a guess in its details (dropout, the loss's own buffers): so much may they differ.
TOLERANCE = 0.02


def main():
    with open(sys.argv[1]) as file:
        trace = json.load(file)["runtime_trace"]
    public = {(e["step"], e["phase"]): e for e in trace if e["event_type"] == "step"}
    common.machine()
    code, folder, _, error = common.recorded(["-c", PROGRAM])
    if code:
        raise RuntimeError(error)
    found, _ = common.records(common.journals(folder)[0])
    ours = {(r["step"], r["edge"]): r for r in common.of_kind(found, "sample") if r["edge"] in EDGES}
    common.check("the same boundaries", set(public) == set(ours), public=len(public), ours=len(ours))
    for key in sorted(set(public) & set(ours)):
        common.say(step=key[0], edge=key[1],
                   allocated=[public[key]["mem_allocated_after"], ours[key]["allocated"]],
                   highest=[public[key]["max_mem_allocated"], ours[key]["max_allocated"]])
    for what, theirs, mine in (("allocated", "max_mem_allocated", "max_allocated"),
                               ("reserved", "max_mem_reserved", "max_reserved")):
        a = max(e[theirs] for e in public.values())
        b = max(r[mine] for r in ours.values())
        common.check("the same peak of %s" % what, abs(a - b) <= TOLERANCE * a, public=a, ours=b,
                     differ_percent=round(100 * (b - a) / a, 3))
    common.finish()


main()
