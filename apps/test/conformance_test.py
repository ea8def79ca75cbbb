"""What a program may ask, and what it is told: the same in every mode and however it is attached, in C++ and Python.
The table below is the definition of the desk. Usage: conformance_test.py ISOCHRON SOURCE_DIR"""
import json
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
os.environ["ISOCHRON"] = ISOCHRON
import isochron  # noqa: E402

PYTHON = textwrap.dedent("""\
    import isochron, math, sys
    robot = isochron.attach()
    def refused(what, act):
        try:
            act()
            robot.log(what + ": done")
        except isochron.Error as error:
            robot.log(what + ": " + str(error))
    def asks():
        robot.wait()
        robot.read("pose")
        robot.write("fx", 0.25)
        refused("unknown", lambda: robot.read("poze"))
        refused("not a number", lambda: robot.write("fx", math.nan))
        refused("nobody", lambda: robot.send("whom", 1.0))
        refused("from nobody", lambda: robot.receive("whom"))
        good = 0
        while (now := robot.wait()) is not None:
            try:
                while robot.receive("tells", type_name="float64") is not None:
                    good += 1
            except isochron.Error as error:
                robot.log("message: " + str(error))
            if now >= 0.25:
                break
        robot.log(f"good messages: {good}")
        while robot.wait() is not None:
            pass
    def tells():
        robot.wait()
        robot.send("asks", 1, type_name="int32")
        for i in range(5):
            robot.wait()
            robot.send("asks", 1.0 + i)
        while robot.wait() is not None:
            pass
    tells() if sys.argv[1:] == ["tells"] else asks()
    """)

# How a program is attached and what its computing costs. `exact`: releases are at their times to the nanosecond. On the
# wall clock and on hardware they are not before them.
MODES = {
    "callback": {"time": "{mode: callback}", "exact": True},
    "consistent, zero": {"time": "{mode: consistent, compute: zero}", "exact": True},
    "consistent, measured": {"time": "{mode: consistent}", "exact": True},
    "consistent, modelled": {"time": "{mode: consistent, compute: {modelled: {fixed: 100us}}}", "exact": True},
    "repeatable, modelled": {"time": "{mode: repeatable, compute: {modelled: {fixed: 100us}}}", "exact": True},
    "realtime": {"time": "{mode: realtime}", "exact": False},
    "hil": {"time": "{mode: hil}", "exact": True},
}

LOGS = {
    "unknown": "there is no variable poze; did you mean `pose`?",
    "type": "fx is float64, not int32",
    "read only": "writes prey/pose, which cannot be written",
    "not a number": "is not a number",
    "nobody": "sends to whom, which is no program of this run",
    "from nobody": "receives from whom, which is no program of this run",
    "message": "receives float64 from prey/tells, which sent int32",
    "good messages": "5",
}


class Conformance(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.python = os.path.join(self.folder, "twin.py")
        with open(self.python, "w") as file:
            file.write(PYTHON)

    def run_pair(self, program, mode, more=""):
        """The report and the events of `asks`."""
        scenario, journal = (os.path.join(self.folder, name) for name in ("conformance.yaml", "conformance.mcap"))
        first, second = (f"[{', '.join(program + [name])}]" for name in ("asks", "tells"))
        with open(scenario, "w") as file:
            file.write(f"name: conformance\nduration: 300ms\nworld: {{model: {ROOT}/models/ships.xml, step: 5ms}}\n"
                       f"robots:\n  prey:\n    programs:\n"
                       f"      asks: {{run: {first}, every: 20ms, offset: 7ms{more}}}\n"
                       f"      tells: {{run: {second}, every: 20ms}}\ntime: {MODES[mode]['time']}\n")
        done = subprocess.run([ISOCHRON, "run", scenario, "--json", "--journal", journal], capture_output=True, text=True,
                              timeout=90, env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "client/python"),
                                               "ISOCHRON_CLIENT": os.path.join(BUILD, "lib/libisochron_client.so")})
        self.assertEqual(done.returncode, 0, mode + done.stdout + done.stderr)
        report = json.loads(done.stdout.strip().splitlines()[-1])
        found = isochron.load(journal)
        self.assertEqual(found.report["digest"], report["digest"], mode + ": the journal says what the command said")
        return report, found["/programs/prey/asks"]

    def check_events(self, events, mode, logs):
        what = list(events["what"])
        times = [int(s) * 10**9 + int(ns) for s, ns in zip(events["at.sec"], events["at.nanosec"])]
        self.assertEqual(what.count("start"), 1, mode)
        releases = [t for t, w in zip(times, what) if w == "release"]
        for n, at in enumerate(releases[:5]):
            due = 7_000_000 + n * 20_000_000
            if MODES[mode]["exact"]:
                self.assertEqual(at, due, f"{mode}: release {n}")
            else:
                self.assertGreaterEqual(at, due, f"{mode}: release {n}")
        self.assertEqual(times, sorted(times), mode)
        said = [bytes(v).decode() for v, w in zip(events["value"], what) if w == "log"]
        for key in logs:
            lines = [line for line in said if line.startswith(key + ": ")]
            self.assertEqual(len(lines), 1, f"{mode}: {key} in {said}")
            self.assertIn(LOGS[key], lines[0], mode)
        self.assertEqual(what.count("write"), 1, mode + ": what is refused is not written")

    def program_of(self, report, name="prey/asks"):
        return next(p for p in report["programs"] if p["name"] == name)

    def test_cpp_in_every_mode(self):
        for mode in MODES:
            with self.subTest(mode):
                report, events = self.run_pair([f"{BUILD}/test/client_conformance_program"], mode)
                self.check_events(events, mode, LOGS)
                self.assertGreaterEqual(self.program_of(report)["activations"], 14, mode)

    def test_python_in_every_mode(self):
        for mode in MODES:
            with self.subTest(mode):
                _, events = self.run_pair(["/usr/bin/python3", self.python], mode)
                self.check_events(events, mode, [k for k in LOGS if k not in ("type", "read only")])

    def test_a_deadline_that_cannot_be_met_is_missed_wherever_computing_costs_time(self):
        for mode in MODES:
            with self.subTest(mode):
                report, _ = self.run_pair([f"{BUILD}/test/client_conformance_program"], mode, ", deadline: 1us")
                program = self.program_of(report)
                free = mode in ("callback", "consistent, zero")  # there computing takes no time
                self.assertEqual(program["missed_deadlines"] == 0, free, f"{mode}: {program}")
                self.assertEqual(program["overruns"], 0, mode)

    def test_a_program_that_is_made_to_compute_longer_misses_releases(self):
        for mode in MODES:
            with self.subTest(mode):
                scenario, journal = (os.path.join(self.folder, name) for name in ("late.yaml", "late.mcap"))
                with open(scenario, "w") as file:
                    file.write(f"name: late\nduration: 600ms\nworld: {{model: {ROOT}/models/ships.xml, step: 5ms}}\n"
                               f"robots:\n  prey:\n    programs:\n      waits: {{run: [{BUILD}/test/client_conformance_program, "
                               f"tells], every: 20ms, to: waits}}\n      asks: {{run: [{BUILD}/test/client_conformance_program], "
                               f"every: 20ms}}\ntime: {MODES[mode]['time']}\n")
                with isochron.start(scenario, journal=journal) as run:
                    run.step(20)
                    run.fault("delay", "prey/waits", seconds=0.15)
                    run.go_on()
                program = self.program_of(run.run.report, "prey/waits")
                self.assertGreaterEqual(program["missed_deadlines"], 5, f"{mode}: {program}")
                self.assertGreaterEqual(program["overruns"], 1, f"{mode}: {program}")


if __name__ == "__main__":
    unittest.main()
