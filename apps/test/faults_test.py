#!/usr/bin/env python3
"""Everything that a timeline of faults can break, in every mode that has it, and what it says where it cannot.
Usage: faults_test.py PATH_OF_ISOCHRON SOURCE_FOLDER"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ISOCHRON, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
WORLD = f"""name: ships
duration: 2s
seed: 1
world: {{model: {SOURCE}/models/ships.xml, step: 10ms}}
"""
TALKER = """import isochron
robot = isochron.attach()
n = 0.0
while robot.wait() is not None:
    robot.send("prey/listener", n)
    n += 1
"""
LISTENER = """import isochron
robot = isochron.attach()
heard = 0
while robot.wait() is not None:
    while robot.receive() is not None:
        heard += 1
    robot.write("fy", heard / 1000)
    imu = robot.read("imu")
    robot.write("fx", imu.angular_velocity[2] if imu else 0.0)
"""


def programs(talker="", listener=""):
    return f"""robots:
  predator:
    programs:
      talker: {{run: [python3, talker.py], every: 10ms{talker}}}
  prey:
    sensors:
      imu: {{type: imu, site: prey, every: 10ms, latency: 1ms}}
    programs:
      listener: {{run: [python3, listener.py], every: 10ms{listener}}}
"""


MODES = {"callback": "time: {mode: callback}\n",
         "modelled": "time: {mode: repeatable, compute: {modelled: {fixed: 100us}}}\n",
         "consistent": "time: {mode: consistent, compute: {modelled: {fixed: 100us}}}\n"}


class Case(unittest.TestCase):
    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = pathlib.Path(keep.name)
        (self.folder / "talker.py").write_text(TALKER)
        (self.folder / "listener.py").write_text(LISTENER)

    def silence_the_talker(self):
        (self.folder / "talker.py").write_text(TALKER.replace('    robot.send("prey/listener", n)\n', ""))

    def isochron(self, *args, code=0):
        done = subprocess.run([ISOCHRON, *args], capture_output=True, text=True, cwd=self.folder, timeout=120)
        self.assertEqual(done.returncode, code, f"{args}\n{done.stdout}\n{done.stderr}")
        return done

    def record(self, text, name="run", code=0):
        (self.folder / f"{name}.yaml").write_text(text)
        done = self.isochron("run", f"{name}.yaml", "--journal", f"{name}.mcap", "--json", "--quiet", "--trust", code=code)
        return json.loads(done.stdout)

    def column(self, names, name="run"):
        lines = self.isochron("journal", "export", f"{name}.mcap", names).stdout.splitlines()[1:]
        return [(int(row[0]) / 1e9, *(float(v) if v else None for v in row[1:])) for row in (line.split(",") for line in lines)]

    def heard(self, name="run"):
        """How many messages the listener had."""
        return round(1000 * self.column("prey/fy.command", name)[-1][1])

    def replays(self, name="run"):
        self.assertIn("the same", self.isochron("replay", f"{name}.mcap", "--quiet", "--trust").stdout)

    def refused(self, entry, said, more="", text=None):
        (self.folder / "bad.yaml").write_text((text or WORLD + programs() + MODES["modelled"]) + more + f"faults: [{entry}]\n")
        done = self.isochron("check", "bad.yaml", code=2)
        self.assertIn(said, done.stderr, entry)
        self.assertRegex(done.stderr, r"bad.yaml:\d+:\d+", entry)


class Sensors(Case):
    def test_a_frozen_sensor_says_the_same_with_new_stamps_and_a_biased_one_is_off(self):
        spun = "faults: [{at: 0s, push: prey, force: [0, 0, 1], for: 2s}, {at: 1s, %s, for: 500ms}]\n"
        field = "prey/imu.linear_acceleration.z"
        sensors = "robots:\n  prey:\n    sensors:\n      imu: {type: imu, site: prey, every: 10ms, " \
                  "imu: {accelerometer: {noise_density: 0.01}}}\n"
        self.record(WORLD + sensors + spun % "push: prey, force: [0, 0, 0.001]", "plain")
        plain = dict(self.column(field, "plain"))
        self.record(WORLD + sensors + spun % f"bias: {field}, by: 0.5", "bias")
        for at, value in self.column(field, "bias"):
            if at in plain and abs(at - 1) > 0.02:
                self.assertAlmostEqual(value - plain[at], 0.5 if 1 <= at < 1.5 else 0, delta=0.01, msg=at)
        self.record(WORLD + sensors + spun % "freeze: prey/imu", "freeze")
        frozen = self.column(f"{field},prey/imu.header.stamp", "freeze")
        inside = [(value, stamp) for at, value, stamp in frozen if 1.0 <= at < 1.5]
        self.assertGreater(len(inside), 40)
        self.assertEqual(len({value for value, _ in inside}), 1)
        self.assertEqual(len({stamp for _, stamp in inside}), len(inside))
        self.assertGreater(len({value for at, value, _ in frozen if at > 1.5}), 40)
        for name in ("bias", "freeze"):
            self.replays(name)

    def test_blind_frozen_and_biased_sensors_are_so_to_programs_and_nodes_in_every_mode(self):
        for mode, time in {**MODES, "flows": MODES["modelled"] + "flows: {executor: threads}\n"}.items():
            if mode == "flows":  # robots that are nodes do not send to each other
                self.silence_the_talker()
            for entry, seen in (("bias: prey/imu.angular_velocity.z, by: 2", {0.0, 2.0}), ("freeze: prey/imu", {0.0})):
                report = self.record(WORLD + programs() + time + f"faults: [{{at: 1s, {entry}, for: 500ms}}]\n")
                self.assertEqual(report["end"], "finished", (mode, report["why"]))
                commands = {round(value, 3) for _, value in self.column("prey/fx.command") if value is not None}
                self.assertEqual(commands, seen, (mode, entry))
            self.replays()

    def test_mistakes_have_their_place(self):
        self.refused("{at: 1s, freeze: prey/imo, for: 1s}", "prey/imu")
        self.refused("{at: 1s, bias: prey/imu, by: 1, for: 1s}", "field")
        self.refused("{at: 1s, bias: prey/imu.angular_velocity.q, by: 1, for: 1s}", "no field `q`")
        self.refused("{at: 1s, bias: prey/imu.header.frame_id, by: 1, for: 1s}", "not a number")
        self.refused("{at: 1s, bias: prey/imu.angular_velocity.z, for: 1s}", "`by`")
        self.refused("{at: 1s, freeze: prey/imu, by: 3, for: 1s}", "no meaning")
        self.refused("{at: 1s, freeze: prey/imu, blind: prey/imu, for: 1s}", "one thing")


class Programs(Case):
    def test_a_stopped_program_leaves_its_cpu_to_others_and_goes_on(self):
        for mode, time in {**MODES, "measured": "time: {mode: consistent}\n"}.items():
            report = self.record(WORLD + programs() + time + "faults: [{at: 1s, stop: predator/talker, for: 300ms}]\n")
            talker, listener = report["programs"]
            self.assertEqual(talker["name"], "predator/talker")
            self.assertIn(talker["missed_deadlines"], range(28, 33 if mode != "measured" else 60), mode)
            self.assertLess(listener["missed_deadlines"], 1 if mode != "measured" else 20, mode)
            self.assertEqual(report["end"], "finished")
            self.replays()

    def test_killed_and_stopped_on_the_wall_clock(self):
        text = WORLD.replace("2s", "1s") + programs(", on_exit: go-on") + "time: {mode: realtime}\n"
        report = self.record(text + "faults: [{at: 500ms, kill: predator/talker}]\n")
        self.assertEqual(report["end"], "finished", report["why"])
        self.assertIn("killed", report["programs"][0]["end"])
        report = self.record(text + "faults: [{at: 300ms, stop: predator/talker, for: 300ms}]\n")
        self.assertGreater(report["programs"][0]["missed_deadlines"], 20)

    def test_killed_slowed_and_stopped_where_the_world_is_a_node(self):
        flows = MODES["modelled"] + "flows: {executor: %s}\n"
        for entry, holds in (("{at: 1s, kill: predator/talker}", lambda r: True),
                             ("{at: 1s, slow: predator/talker, by: 300, for: 500ms}", lambda r: r["missed_deadlines"] > 5),
                             ("{at: 1s, stop: predator/talker, for: 300ms}", lambda r: r["missed_deadlines"] > 20)):
            digests = set()
            for executor in ("thread", "threads"):
                self.silence_the_talker()
                report = self.record(WORLD + programs(", on_exit: go-on") + flows % executor + f"faults: [{entry}]\n")
                self.assertEqual(report["end"], "finished", report["why"])
                self.assertTrue(holds(report["programs"][0]), (entry, report["programs"]))
                digests.add(report["digest"])
            self.assertEqual(len(digests), 1, entry)

    def test_what_cannot_be_is_refused(self):
        self.refused("{at: 1s, slow: prey/listener, by: 2, for: 1s}", "computing is free",
                     text=WORLD + programs() + MODES["callback"])
        self.refused("{at: 1s, unplug: prey/listener}", "does not run on a board")
        self.refused("{at: 1s, kill: prey/listener, for: 1s}", "done once")
        self.refused("{at: 1s, stop: prey/listner, for: 1s}", "prey/listener")
        self.refused("{at: 1s, disk: empty}", "full")


class Links(Case):
    def test_a_link_loses_a_share_or_everything_or_is_late(self):
        def times(entry):
            report = self.record(WORLD + programs() + MODES["modelled"] + (f"faults: [{entry}]\n" if entry else ""))
            self.assertEqual(report["end"], "finished", report["why"])
            self.replays()
            return self.heard()
        everything = times("")
        self.assertGreater(everything, 190)
        for ends in ("[predator, prey]", "[prey]", "[predator/talker]", "[prey/listener, predator]"):
            self.assertIn(everything - times(f"{{at: 1s, link: {ends}, for: 500ms}}"), range(49, 52), ends)
        some = everything - times("{at: 500ms, link: [predator, prey], loss: 50%, for: 1s}")
        self.assertIn(some, range(30, 71))
        late = times("{at: 500ms, link: [predator, prey], lag: 300ms, for: 1s}")
        self.assertEqual(late, everything)

    def test_mistakes_have_their_place(self):
        self.refused("{at: 1s, link: [prey, pray], for: 1s}", "did you mean")
        self.refused("{at: 1s, link: [prey, predator, prey], for: 1s}", "two ends")
        self.refused("{at: 1s, link: [prey], lag: 0s, for: 1s}", "loses nothing")
        self.refused("{at: 1s, link: [prey], for: 1s, value: 3}", "no meaning")


class Boards(Case):
    def test_a_board_is_unplugged_and_the_scenario_says_what_then(self):
        for on_loss, end in (("go-on", "finished"), ("end", "failed")):
            text = WORLD + "robots:\n  prey:\n    programs:\n      pilot: {run: [python3, pilot.py], every: 20ms, " \
                f"target: {{on_loss: {on_loss}}}}}\ntime: {{mode: hil}}\nfaults: [{{at: 1s, unplug: prey/pilot}}]\n"
            (self.folder / "pilot.py").write_text("import isochron\nrobot = isochron.attach()\n"
                                                  "while robot.wait() is not None:\n    robot.write('fx', 1.0)\n")
            report = self.record(text, code=0 if end == "finished" else 3)
            self.assertEqual(report["end"], end, report)
            self.assertIn("unplugged by a fault", json.dumps(report))


class Disks(Case):
    def test_a_disk_that_fills_up_ends_the_run_and_what_was_written_can_be_read(self):
        report = self.record(WORLD.replace("2s", "1000s") + "faults: [{at: 50s, disk: full}]\n", code=3)
        self.assertEqual(report["end"], "failed")
        self.assertIn("no space left", report["why"])
        self.isochron("journal", "recover", "run.mcap", "-o", "whole.mcap")
        self.isochron("journal", "info", "whole.mcap")


class Agents(Case):
    def test_a_timeline_in_a_world_that_clients_share(self):
        file = os.path.join(SOURCE, "examples/agents/crossing.yaml")
        for mode in ("heartbeat", "repeatable"):
            found = []
            for entry in ("[]", "[{at: 500ms, push: cone1, force: [0, 0, 60], for: 500ms}, "
                                "{at: 500ms, freeze: car01/lidar, for: 1s}]"):
                done = self.isochron("run", file, "--json", "--quiet", "--trust", "--journal", "run.mcap", "--set",
                                     "duration=2s", "--set", f"time.mode={mode}", "--set", f"faults={entry}")
                self.assertEqual(json.loads(done.stdout)["end"], "finished")
                found.append(max(z for _, z in self.column("cone1.position.z") if z is not None))
            self.assertGreater(found[1], found[0] + 0.2, mode)
            names = self.isochron("journal", "names", "run.mcap").stdout
            self.assertIn("marks.what", names, mode)
        self.isochron("check", file, "--set", "faults=[{at: 1s, push: cone9, force: [0, 0, 1], for: 1s}]", code=2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
