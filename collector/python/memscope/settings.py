"""What can be set, by environment: `memscope run` sets these, so that a script needs no change.

    MEMSCOPE_DIR        where reports go (memscope_outputs)
    MEMSCOPE_MODULES    off | sampled | every | full: modules never, on steps 0-3 and every 100th, on those
                        and briefly on all others, on all
    MEMSCOPE_DEPTH      which modules `every` has on the other steps: blocks, or levels below the root
    MEMSCOPE_MODULE_STEPS  which steps are sampled: "0-3,%100"
    MEMSCOPE_GRADS      off | sampled: when the gradients of a sampled step appear
    MEMSCOPE_HISTORY    which steps PyTorch's memory history is on: "0-2", "5,10-12", "off"
    MEMSCOPE_HISTORY_ENTRIES  entries that the history keeps at most (100000)
    MEMSCOPE_INVENTORY  off | on: parameters, gradients, optimizer state and buffers by name
    MEMSCOPE_SNAPSHOT   off | on: memory_snapshot.pickle at the peak step and at an out-of-memory
    MEMSCOPE_RESET_PEAKS  1: reset the allocator's high-water mark at every step's start
    MEMSCOPE_FINALIZE   off: leave the journal only, make no report at exit
    MEMSCOPE_OFF        1: record nothing
"""

import os
import sys

# What is recorded of modules in a step: nothing, figures of the outline, all of all modules.
NOTHING, BRIEF, FULL = 0, 1, 2


class Steps:
    """Chosen steps: "0-3,%100" is 0, 1, 2, 3 and each that 100 divides; "off" is none."""

    def __init__(self, text):
        self.text = text.strip()
        self.ranges = []
        self.every = []
        if self.text.lower() in ("", "off", "none", "0x"):
            return
        if self.text.lower() in ("all", "every", "on"):
            self.every.append(1)
            return
        for part in self.text.split(","):
            part = part.strip()
            if part.startswith("%"):
                self.every.append(max(1, int(part[1:])))
            elif "-" in part:
                first, last = part.split("-", 1)
                self.ranges.append((int(first), int(last)))
            else:
                self.ranges.append((int(part), int(part)))

    def __contains__(self, step):
        if step is None:
            return False
        return any(a <= step <= b for a, b in self.ranges) or any(
            step % n == 0 for n in self.every
        )


def _steps(variable, default):
    text = os.environ.get(variable) or default
    try:
        return Steps(text)
    except ValueError:
        say("%s=%s is not understood (expected e.g. 0-3,%%100); %s is used" % (variable, text, default))
        return Steps(default)


def _word(variable, words):
    """One of `words`; the first is the default."""
    text = (os.environ.get(variable) or words[0]).lower()
    if text in words:
        return text
    say("%s=%s is not understood (expected %s); %s is used" % (variable, text, ", ".join(words), words[0]))
    return words[0]


def _depth():
    """Levels below the root; None is down to the blocks."""
    text = os.environ.get("MEMSCOPE_DEPTH") or "blocks"
    if text.isdigit():
        return int(text)
    if text != "blocks":
        say("MEMSCOPE_DEPTH=%s is not understood (expected blocks, or a number); blocks is used" % text)
    return None


def say(text):
    """One line on stderr. A closed stderr is no reason to fail."""
    try:
        sys.stderr.write("memscope: %s\n" % text)
    except Exception:
        pass


class Settings:
    """The settings of this process."""

    def __init__(self):
        self.directory = os.environ.get("MEMSCOPE_DIR") or None
        self.modules = _word("MEMSCOPE_MODULES", ("sampled", "off", "every", "full"))
        self.module_steps = _steps("MEMSCOPE_MODULE_STEPS", "0-3,%100")
        self.depth = _depth()
        self.grads = _word("MEMSCOPE_GRADS", ("sampled", "off")) == "sampled"
        self.history = _steps("MEMSCOPE_HISTORY", "0-2")
        self.inventory = _word("MEMSCOPE_INVENTORY", ("on", "off")) == "on"
        self.snapshot = _word("MEMSCOPE_SNAPSHOT", ("on", "off")) == "on"
        self.reset_peaks = os.environ.get("MEMSCOPE_RESET_PEAKS", "") not in ("", "0")
        self.finalize = _word("MEMSCOPE_FINALIZE", ("on", "off")) == "on"
        try:
            self.entries = int(os.environ.get("MEMSCOPE_HISTORY_ENTRIES") or 100000)
        except ValueError:
            self.entries = 100000

    def detail(self, step):
        """What is recorded of modules in a step; None is between steps."""
        if self.modules == "full":
            return FULL
        if self.modules != "off" and step in self.module_steps:
            return FULL
        return BRIEF if self.modules == "every" else NOTHING

    def as_texts(self):
        """For the journal's header."""
        return {
            "modules": self.modules,
            "module_steps": self.module_steps.text,
            "depth": "blocks" if self.depth is None else str(self.depth),
            "grads": "sampled" if self.grads else "off",
            "history": self.history.text,
            "history_entries": str(self.entries),
            "inventory": "on" if self.inventory else "off",
            "snapshot": "on" if self.snapshot else "off",
            "reset_peaks": "on" if self.reset_peaks else "off",
        }
