"""Several variables in one request, in every mode, from C++, C and Python. Usage: several_test.py ISOCHRON SOURCE_DIR"""
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

ISOCHRON, ROOT = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
BUILD = os.path.dirname(os.path.dirname(ISOCHRON))
sys.path.insert(0, os.path.join(ROOT, "client/python"))
import isochron  # noqa: E402

PYTHON = textwrap.dedent("""\
    import isochron, math
    robot = isochron.attach()
    robot.wait(0.01)
    assert set(robot.read_all(["pose", "imu", "fx"])) == {"pose", "imu", "fx"}
    robot.write_all({"fx": 0.25, "fy": -0.5})
    robot.wait(0.01), robot.wait(0.01)
    assert robot.read_all(["fx", "fy"]) == {"fx": 0.25, "fy": -0.5}
    try:
        robot.write_all({"fx": 1.0, "fy": math.nan})
    except isochron.Error as error:
        assert "not a number" in str(error), error
    else:
        raise SystemExit("what is not a number was written")
    robot.wait(0.01), robot.wait(0.01)
    both = robot.read_all(["fx", "imu"])
    assert both["fx"] == 0.25 and both["imu"].number > 0, both
    robot.log("all was well")
    while robot.wait(0.01) is not None:
        robot.read_all(["pose", "fy"])
    """)
MODES = ["{mode: callback}", "{mode: consistent, compute: zero}", "{mode: consistent, compute: measured}",
         "{mode: realtime}", "{mode: hil}"]


class Several(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def run_program(self, program, mode):
        scenario, journal = (os.path.join(self.folder, name) for name in ("several.yaml", "several.mcap"))
        target = ", target: {}" if "hil" in mode else ""
        with open(scenario, "w") as file:
            file.write(f"name: several\nduration: 300ms\nworld: {{model: {ROOT}/models/ships.xml, step: 10ms}}\n"
                       f"robots:\n  prey:\n    sensors: {{imu: {{type: imu, site: prey, every: 10ms}}}}\n"
                       f"    programs:\n      asks: {{run: {program}, every: 10ms{target}}}\ntime: {mode}\n")
        done = subprocess.run([ISOCHRON, "run", scenario, "--quiet", "--journal", journal], capture_output=True, text=True,
                              timeout=90, env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "client/python"),
                                               "ISOCHRON_CLIENT": os.path.join(BUILD, "lib/libisochron_client.so")})
        self.assertEqual(done.returncode, 0, mode + done.stdout + done.stderr)
        return isochron.load(journal)["/programs/prey/asks"]

    def check(self, events, mode):
        """Each value is recorded by itself, and those of one request have one time."""
        times = [s * 10**9 + ns for s, ns in zip(events["at.sec"], events["at.nanosec"])]
        what, about = list(events["what"]), list(events["about"])
        self.assertIn("log", what, mode + ": it did not come to its end")
        at = {(w, a): t for t, w, a in reversed(list(zip(times, what, about)))}  # the first of each
        self.assertEqual(at["write", "prey/fx"], at["write", "prey/fy"], mode)
        self.assertEqual(at["read", "prey/pose"], at["read", "prey/imu"], mode)
        self.assertEqual(what.count("write"), 2, mode + ": of a request that is refused nothing is written")
        self.assertEqual(times, sorted(times), mode)

    def test_cpp_and_c_in_every_mode(self):
        for mode in MODES:
            with self.subTest(mode):
                self.check(self.run_program(f"[{BUILD}/test/client_several_program]", mode), mode)

    def test_python_in_every_mode(self):
        program = os.path.join(self.folder, "several.py")
        with open(program, "w") as file:
            file.write(PYTHON)
        for mode in MODES:
            with self.subTest(mode):
                self.check(self.run_program(f"[/usr/bin/python3, {program}]", mode), mode)


if __name__ == "__main__":
    unittest.main()
