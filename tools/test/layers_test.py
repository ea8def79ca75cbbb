#!/usr/bin/env python3
"""The layer check must catch what it is for."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import layers


class LayersTest(unittest.TestCase):
    def found(self, path: str, include: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / path
            file.parent.mkdir(parents=True)
            file.write_text(f'#pragma once\n#include "{include}"\n')
            return layers.violations(pathlib.Path(folder))

    def test_upwards_is_caught_with_its_line(self):
        self.assertEqual(self.found("core/a.hpp", "journal/b.hpp"),
                         ["core/a.hpp:2: core/ must not include journal/b.hpp"])

    def test_sideways_is_caught(self):
        self.assertTrue(self.found("flow/a.hpp", "journal/b.hpp"))
        self.assertTrue(self.found("client/a.hpp", "journal/b.hpp"))

    def test_products_do_not_include_testing(self):
        self.assertTrue(self.found("flow/a.cpp", "testing/clock.hpp"))
        self.assertFalse(self.found("flow/test/a_test.cpp", "testing/clock.hpp"))

    def test_downwards_is_fine(self):
        self.assertFalse(self.found("journal/a.cpp", "core/b.hpp"))
        self.assertFalse(self.found("rt/a.cpp", "rt/b.hpp"))

    def test_an_edge_that_nobody_needs_is_caught(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "journal/a.cpp"
            file.parent.mkdir(parents=True)
            file.write_text('#include "core/b.hpp"\n')
            found = layers.needless(pathlib.Path(folder))
        self.assertIn("tools/layers.py: expect/ does not include journal/ any more; take the edge out", found)
        self.assertFalse([line for line in found if "journal/ does not include core/" in line])


if __name__ == "__main__":
    unittest.main()
