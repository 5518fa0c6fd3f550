"""The stand-in calls hooks as PyTorch does: both against what was recorded with PyTorch."""

import json
import os
import unittest

import harness


class Calls(harness.Case):
    def test_as_recorded(self):
        with open(os.path.join(harness.HERE, "calls.json")) as file:
            recorded = json.load(file)["calls"]
        self.run_python([os.path.join(harness.HERE, "calls.py")], bootstrap=False)
        now = json.loads(self.stdout)["calls"]
        self.assertEqual(sorted(now), sorted(recorded))
        self.assertGreater(len(now), 10)
        for name, calls in recorded.items():
            with self.subTest(name):
                self.assertEqual(now[name], calls)


if __name__ == "__main__":
    unittest.main()
