"""Any participant beside any other, in one scenario: every pair of ways to be attached, in every mode that has them.
Usage: composition_test.py ISOCHRON SOURCE_DIR"""
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

ISOCHRON, ROOT = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
BUILD = os.path.dirname(os.path.dirname(ISOCHRON))
sys.path.insert(0, os.path.join(ROOT, "client/python"))
os.environ["ISOCHRON"] = ISOCHRON
import isochron  # noqa: E402

UNMODIFIED = textwrap.dedent("""\
    import time
    begin = time.monotonic()
    for i in range(20):
        time.sleep(0.01)
        print(f"{i} {time.monotonic() - begin:.3f}", flush=True)
    """)

ATTACHED = textwrap.dedent("""\
    import isochron
    robot = isochron.attach()
    while robot.wait() is not None:
        robot.read("pose")
        robot.write("fx", 0.25)
    """)

# How a robot's one program takes part. {robot} is its name, {folder} where the unmodified program is.
PROGRAMS = {
    "library": "pilot: {{library: ships_controllers, every: 10ms{more}}}",
    "executable": "pilot: {{run: [/usr/bin/python3, {folder}/flies.py], every: 10ms{more}}}",
    "unmodified": "pilot: {{run: [/usr/bin/python3, {folder}/walks.py], clock: virtual{more}}}",
    "board": "pilot: {{run: [/usr/bin/python3, {folder}/flies.py], every: 10ms{more}}}",
}
MODELLED = ", compute: {modelled: {fixed: 300us}}"

BOARD = ", compute: hardware"

# Per mode: what each kind of program is given besides. No board runs the same twice, nor by this machine's wall clock.
MODES = {
    "callback": {"library": "", "executable": "", "unmodified": "", "board": BOARD},
    "consistent": {"library": "", "executable": "", "unmodified": "", "board": BOARD},
    "repeatable": {"library": MODELLED, "executable": MODELLED, "unmodified": MODELLED},
    "realtime": {"library": "", "executable": "", "unmodified": ""},
    "hil": {"library": "", "executable": ", compute: measured", "unmodified": "", "board": ""},
}


class Composition(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        for name, text in (("walks.py", UNMODIFIED), ("flies.py", ATTACHED)):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text)
        self.environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "client/python"),
                            "ISOCHRON_CLIENT": os.path.join(BUILD, "lib/libisochron_client.so")}

    def scenario(self, mode, predator, prey, extra="", duration="300ms"):
        path = os.path.join(self.folder, "pair.yaml")
        programs = {robot: PROGRAMS[kind].format(robot=robot, folder=self.folder, more=MODES[mode][kind])
                    for robot, kind in (("predator", predator), ("prey", prey))}
        with open(path, "w") as file:
            file.write(f"name: pair\nduration: {duration}\nworld: {{model: {ROOT}/models/ships.xml, step: 5ms}}\nrobots:\n"
                       f"  predator:\n    programs:\n      {programs['predator']}\n"
                       f"  prey:\n    programs:\n      {programs['prey']}\n{extra}time: {{mode: {mode}}}\n")
        return path

    def run_it(self, scenario, mode):
        journal = scenario[:-5] + ".mcap"
        check = subprocess.run([ISOCHRON, "check", "--trust", scenario], capture_output=True, text=True, timeout=60)
        self.assertEqual(check.returncode, 0, mode + check.stdout + check.stderr)
        done = subprocess.run([ISOCHRON, "run", scenario, "--json", "--journal", journal], capture_output=True, text=True,
                              timeout=120, env=self.environment)
        self.assertEqual(done.returncode, 0, mode + done.stdout + done.stderr)
        return json.loads(done.stdout.strip().splitlines()[-1]), isochron.load(journal)

    def check_part(self, report, journal, robot, kind, where):
        """That the program did what it is there to do, at the times of the run."""
        name = f"{robot}/pilot"
        self.assertIn(f"/programs/{name}", journal.topics, where)
        events = journal[f"/programs/{name}"]
        what = list(events["what"])
        self.assertEqual(what.count("start"), 1, where)
        if kind == "unmodified":
            lines = "".join(journal[f"/output/{name}"]["text"]).split("\n")
            self.assertGreaterEqual(len(lines), 20, f"{where}: {lines}")
            self.assertAlmostEqual(float(lines[19].split()[1]), 0.2, delta=0.02, msg=where)  # its clock is the robot's
            return
        program = next(p for p in report["programs"] if p["name"] == name)
        self.assertGreaterEqual(program["activations"], 15, where)  # a loaded machine makes a board late
        self.assertEqual(program["activations"], what.count("release"), where)
        self.assertGreaterEqual(what.count("write"), 9, where)

    def test_every_pair_in_every_mode(self):
        for mode, kinds in MODES.items():
            for predator, prey in itertools.product(kinds, kinds):
                if mode == "hil" and "board" not in (predator, prey):
                    continue
                if mode == "callback" and predator == prey == "board":
                    continue  # nothing here is called back
                if mode == "repeatable" and "library" in (predator, prey):
                    continue  # flows, below
                where = f"{mode}: {predator} and {prey}"
                with self.subTest(where):
                    report, journal = self.run_it(self.scenario(mode, predator, prey), where)
                    for robot, kind in (("predator", predator), ("prey", prey)):
                        if mode == "realtime" and kind in ("library", "unmodified"):
                            continue  # on the wall clock neither is followed: what they write is
                        self.check_part(report, journal, robot, kind, where)

    def test_a_mixed_run_that_is_repeatable_repeats(self):
        for predator, prey in (("executable", "unmodified"), ("library", "executable"), ("library", "unmodified")):
            with self.subTest(f"{predator} and {prey}"):
                scenario = self.scenario("repeatable", predator, prey)
                digests = {self.run_it(scenario, "repeatable")[0]["digest"] for _ in range(3)}
                self.assertEqual(len(digests), 1, digests)

    def test_programs_of_one_robot_share_its_cpu_whatever_they_are(self):
        scenario = os.path.join(self.folder, "shared.yaml")
        with open(scenario, "w") as file:
            file.write(f"name: shared\nduration: 300ms\nworld: {{model: {ROOT}/models/ships.xml, step: 5ms}}\nrobots:\n"
                       f"  prey:\n    programs:\n"
                       f"      urgent: {{library: ships_controllers, every: 10ms, priority: 5, compute: {{modelled: {{fixed: 4ms}}}}}}\n"
                       f"      other: {{run: [/usr/bin/python3, {self.folder}/flies.py], every: 20ms, "
                       f"compute: {{modelled: {{fixed: 9ms}}}}}}\ntime: {{mode: consistent}}\n")
        report, journal = self.run_it(scenario, "shared")
        by_name = {p["name"]: p for p in report["programs"]}
        self.assertEqual(by_name["prey/urgent"]["missed_deadlines"], 0)
        self.assertGreaterEqual(by_name["prey/other"]["preemptions"], 5)
        other = journal["/programs/prey/other"]
        written = [int(s) * 10**9 + int(ns) for s, ns, w in zip(other["at.sec"], other["at.nanosec"], other["what"])
                   if w == "write"]
        # 4 ms of the library, 6 of 9 ms, 4 ms of the library again, then the rest.
        self.assertEqual(written[1], 20_000_000 + 17_000_000, written)

    def test_a_board_is_not_hurried_by_a_planner_on_this_machine(self):
        """What a measured program computes passes for the board too: the board's answers wait for it."""
        scenario = self.scenario("hil", "board", "executable")
        report, journal = self.run_it(scenario, "hil")
        self.assertEqual(report["end"], "finished")
        self.assertEqual({t["name"] for t in report["hil"]["targets"]}, {"predator/pilot"})

    def test_boards_and_programs_here_send_each_other_messages(self):
        talks = ("import isochron, sys\nrobot = isochron.attach()\nother, heard = sys.argv[1], 0\n"
                 "while robot.wait() is not None:\n"
                 "    robot.send(other, 1.0 + heard)\n"
                 "    while robot.receive(other) is not None: heard += 1\n")
        with open(os.path.join(self.folder, "talks.py"), "w") as file:
            file.write(talks)
        for mode, compute in (("hil", "measured"), ("consistent", "measured"), ("consistent", "{modelled: {fixed: 1ms}}"),
                              ("callback", "zero")):
            scenario = os.path.join(self.folder, "talks.yaml")
            with open(scenario, "w") as file:
                file.write(f"name: talks\nduration: 300ms\nworld: {{model: {ROOT}/models/ships.xml, step: 5ms}}\nrobots:\n"
                           "  predator: {programs: {pilot: {run: [/usr/bin/python3, talks.py, prey/pilot], every: 10ms, "
                           "compute: hardware}}}\n"
                           "  prey: {programs: {pilot: {run: [/usr/bin/python3, talks.py, predator/pilot], every: 10ms, "
                           f"compute: {compute}}}}}}}\ntime: {{mode: {mode}}}\n")
            where = f"{mode}, {compute}"
            _, journal = self.run_it(scenario, where)
            for robot in ("predator", "prey"):
                events = journal[f"/programs/{robot}/pilot"]
                what = list(events["what"])
                self.assertGreaterEqual(what.count("send"), 15, where)
                self.assertGreaterEqual(what.count("receive"), 12, f"{where}: {robot}")
                for w, s, ns, sent_s, sent_ns in zip(what, events["at.sec"], events["at.nanosec"], events["stamp.sec"],
                                                     events["stamp.nanosec"]):
                    if w == "receive":
                        self.assertLess((sent_s, sent_ns), (s, ns), f"{where}: nobody receives before it was sent")

    def test_a_board_drives_an_agent(self):
        with open(os.path.join(self.folder, "drives.py"), "w") as file:
            file.write("import isochron\nrobot = isochron.attach()\nwhile robot.wait() is not None:\n"
                       "    robot.write('throttle', 0.4 if robot.read('speed') < 8 else 0.0)\n")
        scenario = os.path.join(self.folder, "agents.yaml")
        with open(scenario, "w") as file:
            file.write(f"name: agents\nduration: 1s\nworld: {{model: {ROOT}/models/crossing.xml, step: 5ms}}\n"
                       "agents:\n  heartbeat: 10ms\n  members:\n    car01: {kind: car, client: one}\n"
                       "    car09: {kind: car, client: two}\nrobots:\n"
                       "  car01: {programs: {pilot: {run: [/usr/bin/python3, drives.py], every: 20ms, compute: hardware}}}\n"
                       "  car09: {programs: {pilot: {run: [/usr/bin/python3, drives.py], every: 20ms}}}\n"
                       "time: {mode: heartbeat}\n")
        report, _ = self.run_it(scenario, "heartbeat")
        by_name = {p["name"]: p for p in report["programs"]}
        for car in ("car01", "car09"):
            self.assertGreaterEqual(by_name[f"{car}/pilot"]["activations"], 45, report["programs"])
        self.assertEqual([t["name"] for t in report["hil"]["targets"]], ["car01/pilot"])

    def test_a_board_is_refused_where_a_run_must_repeat(self):
        scenario = self.scenario("repeatable", "executable", "executable")
        with open(scenario) as file:
            text = file.read()
        with open(scenario, "w") as file:
            file.write(text.replace(MODELLED, BOARD, 1))
        done = subprocess.run([ISOCHRON, "check", "--trust", scenario], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("no board runs the same twice", done.stderr)

    def test_a_program_that_fails_beside_a_board_ends_the_run_under_its_name(self):
        scenario = self.scenario("hil", "board", "executable")
        with open(scenario) as file:
            text = file.read()
        with open(scenario, "w") as file:
            file.write(text.replace("flies.py], every: 10ms, compute: measured", "fails.py], every: 10ms, compute: measured"))
        with open(os.path.join(self.folder, "fails.py"), "w") as file:
            file.write("import isochron, sys\nrobot = isochron.attach()\nfor _ in range(5): robot.wait()\nsys.exit(3)\n")
        done = subprocess.run([ISOCHRON, "run", scenario, "--json"], capture_output=True, text=True, timeout=60,
                              cwd=self.folder, env=self.environment)
        report = json.loads(done.stdout.strip().splitlines()[-1])
        self.assertEqual(report["end"], "failed")
        self.assertIn("prey/pilot exited with 3", report["why"])

    def test_mode_hil_without_a_target_is_refused_with_what_to_do(self):
        scenario = self.scenario("hil", "library", "unmodified")
        done = subprocess.run([ISOCHRON, "check", "--trust", scenario], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("no program of this scenario runs on a target", done.stderr)

    def stand_still(self, mode, program, more=""):
        """The report of a run whose one program is this, and who waited for whom."""
        scenario, journal = os.path.join(self.folder, "stands.yaml"), os.path.join(self.folder, "stands.mcap")
        with open(os.path.join(self.folder, "stands.py"), "w") as file:
            file.write("import isochron, os, time\nrobot = isochron.attach()\nfor _ in range(5): robot.wait()\n" + program)
        with open(scenario, "w") as file:
            file.write(f"name: stands\nduration: 200ms\nworld: {{model: {ROOT}/models/ships.xml, step: 5ms}}\nrobots:\n"
                       f"  prey:\n    programs:\n      pilot: {{run: [/usr/bin/python3, stands.py], every: 10ms}}\n"
                       f"time: {{mode: {mode}, stall: 500ms}}\n{more}")
        done = subprocess.run([ISOCHRON, "run", scenario, "--json", "--journal", journal], capture_output=True, text=True,
                              timeout=60, env=self.environment)
        return json.loads(done.stdout.strip().splitlines()[-1]), isochron.load(journal)

    def check_standstill(self, report, journal):
        self.assertTrue(any("prey/pilot" in note and "nothing moved" in note for note in report["notes"]), report["notes"])
        self.assertIn("prey/pilot", list(journal["/isochron/stall"]["node"]))
        self.assertIn("prey/pilot", list(journal["/isochron/stall"]["whom"]))

    def test_a_program_that_keeps_the_others_is_named(self):
        report, journal = self.stand_still("callback", "time.sleep(2)\nwhile robot.wait() is not None: pass\n")
        self.check_standstill(report, journal)
        self.assertEqual(report["end"], "finished")

    def test_a_board_that_is_lost_and_keeps_the_others_is_named(self):
        report, journal = self.stand_still("hil", "os._exit(1)\n", "hil: {wait_for_return: 2s}\n")
        self.check_standstill(report, journal)
        self.assertEqual(report["end"], "failed")
        self.assertIn("did not come back", report["why"])

    def test_keys_without_effect_are_named_with_their_place(self):
        scenario = self.scenario("hil", "board", "library")
        with open(scenario) as file:
            text = file.read()
        with open(scenario, "w") as file:
            file.write(text.replace("ships_controllers, every: 10ms", "ships_controllers, every: 10ms, memory: 1GiB"))
        done = subprocess.run([ISOCHRON, "check", "--trust", scenario], capture_output=True, text=True, timeout=60)
        self.assertIn("`memory` has no effect here: it is for executables, and this is a library", done.stdout)
        self.assertRegex(done.stdout, r"pair\.yaml:\d+:\d+: `memory`")

    def test_programs_drive_agents_in_both_modes(self):
        with open(os.path.join(self.folder, "drives.py"), "w") as file:
            file.write("import isochron\nrobot = isochron.attach()\nwhile robot.wait() is not None:\n"
                       "    robot.write('throttle', 0.4 if robot.read('speed') < 8 else 0.0)\n")
        digests = set()
        for mode, compute in (("heartbeat", "measured"), ("repeatable", "{modelled: {fixed: 1ms}}"),
                              ("repeatable", "{modelled: {fixed: 1ms}}")):
            scenario = os.path.join(self.folder, "agents.yaml")
            with open(scenario, "w") as file:
                file.write(f"name: agents\nduration: 2s\nworld: {{model: {ROOT}/models/crossing.xml, step: 5ms}}\n"
                           "agents:\n  heartbeat: 10ms\n  members:\n    car01: {kind: car, client: one}\n"
                           "    car02: {kind: car, client: one, path: [[1.75, -40], [1.75, 110]], speed: 12}\n"
                           "    car09: {kind: car, client: two}\nrobots:\n"
                           "  car01: {programs: {pilot: {run: [/usr/bin/python3, drives.py], every: 20ms}}}\n"
                           "  car09: {programs: {pilot: {run: [/usr/bin/python3, drives.py], every: 20ms}}}\n"
                           f"time: {{mode: {mode}, compute: {compute}}}\n")
            report, journal = self.run_it(scenario, mode)
            by_name = {p["name"]: p for p in report["programs"]}
            for car in ("car01", "car09"):
                self.assertGreaterEqual(by_name[f"{car}/pilot"]["activations"], 90, f"{mode}: {report['programs']}")
            if mode == "repeatable":
                digests.add(report["digest"])
                self.assertTrue(report["repeatable"])
        self.assertEqual(len(digests), 1, digests)

    def test_a_run_that_is_stopped_is_interrupted_not_failed(self):
        pilots = os.path.join(ROOT, "examples/pilots/pilots.yaml")
        for _ in range(2):
            run = subprocess.Popen([ISOCHRON, "run", pilots, "--duration", "60s", "--pace", "1x", "--json", "--journal",
                                    os.path.join(self.folder, "stopped.mcap")], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True, env=self.environment)
            time.sleep(1.5)
            run.send_signal(signal.SIGINT)
            out, _ = run.communicate(timeout=30)
            self.assertEqual(json.loads(out.strip().splitlines()[-1])["end"], "interrupted", out)
            self.assertEqual(run.returncode, 130)

    def test_a_car_that_a_program_drives_has_no_path(self):
        scenario = os.path.join(self.folder, "agents.yaml")
        with open(scenario, "w") as file:
            file.write(f"name: agents\nduration: 2s\nworld: {{model: {ROOT}/models/crossing.xml, step: 5ms}}\n"
                       "agents: {heartbeat: 10ms, members: {car01: {kind: car, client: one, path: [[0, 0], [1, 0]]}}}\n"
                       "robots: {car01: {programs: {pilot: {run: [/usr/bin/python3, walks.py], every: 20ms}}}}\n"
                       "time: {mode: heartbeat}\n")
        done = subprocess.run([ISOCHRON, "check", scenario], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("`path` is for built-in drivers, and programs drive `car01`", done.stderr)


if __name__ == "__main__":
    unittest.main()
