"""Which modules have a record on every step, told by hand for models of several shapes."""

import gc
import os
import sys
import unittest

import harness

sys.path.insert(0, os.path.dirname(harness.PACKAGE))
from memscope.names import Names  # noqa: E402
from memscope.outline import outline  # noqa: E402


class Module:
    """As torch's, as far as it is looked at."""

    def __init__(self, **parts):
        self._modules = parts

    def forward(self):
        pass

    def named_modules(self, prefix="", seen=None):
        seen = set() if seen is None else seen
        if id(self) not in seen:
            seen.add(id(self))
            yield prefix, self
            for name, part in self._modules.items():
                if part is not None:
                    yield from part.named_modules(prefix + "." + name if prefix else name, seen)


class Holder(Module):
    """A ModuleList: not called."""



def _forward_unimplemented(self):
    pass


Holder.forward = _forward_unimplemented


class Sequence(Module):
    pass


class Block(Module):
    pass


class OtherBlock(Module):
    pass


class CheckpointWrapper(Module):
    pass


def numbered(kind, *parts):
    return kind(**{str(n): p for n, p in enumerate(parts)})


def block(kind=Block):
    return kind(
        norm=Module(), attn=Module(qkv=Module(), out=Module(drop=Module())), mlp=Module(up=Module(), act=Module())
    )


def names(root, depth=None):
    known = {id(m): n for n, m in root.named_modules()}
    return sorted(known[id(m)] for m in outline(root, depth))


BLOCKS = [p + s for p in ("0", "1") for s in ("", ".attn", ".mlp")]


def under(prefix, found=BLOCKS):
    return [prefix + "." + n for n in found]


class Outline(unittest.TestCase):
    def test_blocks_in_a_list(self):
        model = Module(wte=Module(), h=numbered(Holder, block(), block()), head=Module())
        self.assertEqual(names(model), sorted(["", "wte", "head"] + under("h")))

    def test_blocks_however_deep_they_are(self):
        inner = Module(
            embed=Module(), vision=Module(model=Module(deep=Module(layers=numbered(Holder, block(), block())))),
            other=Module(a=Module(b=Module(c=Module()))),
        )
        found = names(Module(model=inner, head=Module()))
        self.assertEqual(found, sorted(
            ["", "head", "model", "model.embed", "model.vision", "model.other", "model.vision.model",
             "model.vision.model.deep"] + under("model.vision.model.deep.layers")))

    def test_blocks_in_a_sequence_and_in_a_sequence_of_a_block(self):
        def stage():
            return numbered(Sequence, Block(conv=Module(), down=numbered(Sequence, Module())), Block(conv=Module()))

        model = Module(stem=Module(), layer1=stage(), layer2=stage())
        self.assertEqual(names(model), sorted(
            ["", "stem"] + [p + s for p in ("layer1", "layer2") for s in ("", ".0", ".0.down", ".1")]))

    def test_what_is_no_block(self):
        # One alone, two of different classes, several without parts.
        alone = Module(x=Module(h=numbered(Holder, block())))
        self.assertEqual(names(alone), ["", "x", "x.h.0"])
        different = Module(x=Module(h=numbered(Holder, block(), block(OtherBlock))))
        self.assertEqual(names(different), ["", "x", "x.h.0", "x.h.1"])
        leaves = numbered(Sequence, Module(), Module(), Module())
        self.assertEqual(names(leaves), ["", "0", "1", "2"])

    def test_wrappers_are_no_level(self):
        def wrapped():
            return CheckpointWrapper(_checkpoint_wrapped_module=block())

        model = Module(h=numbered(Holder, wrapped(), wrapped()))
        within = "._checkpoint_wrapped_module"
        self.assertEqual(names(model), sorted(
            [""] + ["h." + n + s for n in "01" for s in ("", within, within + ".attn", within + ".mlp")]))

    def test_a_number_of_levels(self):
        model = Module(wte=Module(), h=numbered(Holder, block(), block()), nothing=None)
        self.assertEqual(names(model, 0), [""])
        self.assertEqual(names(model, 1), ["", "h.0", "h.1", "wte"])
        two = ["", "h.0", "h.1", "wte"] + ["h.%d.%s" % (n, s) for n in (0, 1) for s in ("attn", "mlp", "norm")]
        self.assertEqual(names(model, 2), sorted(two))

    def test_shared_modules_once(self):
        shared = block()
        model = Module(a=Module(x=shared), b=Module(x=shared))
        self.assertEqual(len(outline(model)), len({id(m) for m in outline(model)}))

    def test_names_go_with_their_modules(self):
        known = Names()
        model = Module(h=numbered(Holder, block(), block()))
        known.add(model)
        self.assertEqual(known.outline[id(model._modules["h"]._modules["1"])], ("h.1", "Block"))
        self.assertEqual(known.of(model), "Module")
        del model
        gc.collect()
        self.assertEqual((known._names, known.outline, known._alive), ({}, {}, {}))


if __name__ == "__main__":
    unittest.main()
