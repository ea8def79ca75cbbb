"""Autopilots fly robots through the simulator interfaces of ArduPilot, PX4 and Betaflight: from outside in lock-step, and
as stacks in the simulated network. The autopilot of most tests is examples/autopilots/square_pilot.cpp, which knows nothing of
Isochron; those that misbehave are written here."""
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

ISOCHRON, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
BUILD = os.path.dirname(os.path.dirname(ISOCHRON))
EXAMPLES = os.path.join(ROOT, "examples/autopilots")
PILOT = os.path.join(BUILD, "bin/square_pilot")
PATIENCE = 110


def free_port(kind):
    """One with two free ones after it."""
    while True:
        with socket.socket(socket.AF_INET, kind) as first:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
        try:
            for beyond in range(3):
                with socket.socket(socket.AF_INET, kind) as one:
                    one.bind(("127.0.0.1", port + beyond))
            return port
        except OSError:
            continue


def servos(frame, pulses=1000, magic=18458, rate=400, channels=16):
    return struct.pack(f"<HHI{channels}H", magic, rate, frame, *([pulses] * channels))


class Ardupilot:
    """A null autopilot that can misbehave: sends servo packets, waits for lines."""

    def __init__(self, port):
        self.to = ("127.0.0.1", port)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(0.2)
        self.frame = 0
        self.lines = []

    def exchange(self, packet=None, within=30):
        """Says a packet again until a line comes."""
        packet = servos(self.frame) if packet is None else packet
        end = time.monotonic() + within
        while time.monotonic() < end:
            self.socket.sendto(packet, self.to)
            try:
                self.lines.append(json.loads(self.socket.recv(65536)))
                self.frame += 1
                return self.lines[-1]
            except socket.timeout:
                continue
        return None


class Autopilots(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def scenario(self, link, *, program="", time_="mode: callback", step="2.5ms", more=""):
        text = f"""
            name: flight
            duration: 40s
            world: {{model: {ROOT}/models/uav.xml, step: {step}}}
            aircraft: {{uav: {{frame: quad_x}}}}
            robots:
              uav:
                sensors: {{imu: {{type: imu, site: imu, every: 2.5ms}}}}
                programs:
                  pilot:
                    link: {{{link}}}
                    {program}
            time: {{{time_}}}
            {more}
        """
        file = os.path.join(self.folder, "flight.yaml")
        with open(file, "w") as out:
            out.write(textwrap.dedent(text))
        return file

    def run_it(self, file, *args, journal="run.mcap"):
        return subprocess.run([ISOCHRON, "run", file, "--json", "--quiet", "--journal",
                               os.path.join(self.folder, journal), *args], capture_output=True, text=True, timeout=PATIENCE)

    def start(self, file, *args):
        return subprocess.Popen([ISOCHRON, "run", file, "--json", "--quiet", "--journal",
                                 os.path.join(self.folder, "run.mcap"), *args], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def ardupilot(self, port):
        pilot = Ardupilot(port)
        self.addCleanup(pilot.socket.close)
        return pilot

    def report(self, done):
        try:
            return json.loads(done.stdout.strip().splitlines()[-1])
        except (IndexError, ValueError):
            raise AssertionError((done.stdout, done.stderr)) from None

    def end_of(self, run):
        out, err = run.communicate(timeout=PATIENCE)
        try:
            return json.loads(out.strip().splitlines()[-1])
        except (IndexError, ValueError):
            raise AssertionError((out, err)) from None

    def notes(self, report):
        return "\n".join(report["notes"])

    def flown(self, text):
        """(seconds, from where it began, rms, most) as the pilot says it."""
        found = re.search(r"landed after (\S+) s, (\S+) m from where it began; on the way (\S+) m off \(rms\), (\S+) m", text)
        self.assertTrue(found, text)
        return tuple(float(part) for part in found.groups())

    # ---- flights

    def test_a_square_is_flown_in_lock_step_through_each_interface_and_twice_the_same(self):
        for protocol, kind in (("ardupilot", socket.SOCK_DGRAM), ("px4", socket.SOCK_STREAM),
                               ("betaflight", socket.SOCK_DGRAM)):
            with self.subTest(protocol):
                port = free_port(kind)
                file = self.scenario(f"{protocol}: {{port: {port}}}", program=f"run: [{PILOT}, {protocol}, '{port}']")
                digests = []
                for again in range(2):
                    done = self.run_it(file)
                    report = self.report(done)
                    self.assertEqual(report["end"], "finished", done.stdout)
                    took, away, rms, most = self.flown(done.stdout + done.stderr)
                    self.assertLess(rms, 0.15)
                    self.assertLess(away, 0.25)
                    pilot = report["autopilots"][0]
                    self.assertGreater(pilot["frames"], 15 / pilot["every_s"])
                    self.assertEqual(pilot["overruns"], 0)
                    self.assertEqual(pilot["time"], "lock-step")
                    self.assertGreater(pilot["world_waited_s"], 0)
                    digests.append(report["digest"])
                self.assertEqual(digests[0], digests[1])

    def test_inside_the_simulated_network_a_flight_has_one_digest_through_each_interface(self):
        for protocol, port in (("ardupilot", 9002), ("px4", 4560), ("betaflight", 9002)):
            with self.subTest(protocol):
                file = self.scenario(f"{protocol}: {{}}", program=f"run: [{PILOT}, {protocol}, '{port}']\n"
                                     "                    clock: virtual\n                    on_exit: go-on\n"
                                     "                    compute: {modelled: {fixed: 300us}}",
                                     time_="mode: repeatable", step="500us")
                digests = set()
                for again in range(2):
                    done = self.run_it(file, "--duration", "24s", "--output")
                    report = self.report(done)
                    self.assertEqual(report["end"], "finished", done.stdout + done.stderr)
                    pilot = report["autopilots"][0]
                    self.assertEqual(pilot["time"], "in the simulated network")
                    self.assertEqual(pilot["overruns"], 0, pilot)
                    digests.add(report["digest"])
                took, away, rms, most = self.flown(done.stdout + done.stderr)
                self.assertLess(rms, 0.15)
                self.assertEqual(len(digests), 1)

    def test_a_slow_computer_misses_its_loop_and_flies_worse(self):
        flown = {}
        for speed in ("1", "0.1"):
            file = self.scenario("ardupilot: {}", program=f"run: [{PILOT}, ardupilot, '9002']\n"
                                 "                    clock: virtual\n                    on_exit: go-on\n"
                                 f"                    cpu_speed: {speed}\n"
                                 "                    compute: {modelled: {fixed: 2ms}}", time_="mode: repeatable",
                                 step="500us")
            done = self.run_it(file, "--duration", "24s", "--output")
            report = self.report(done)
            flown[speed] = (report["autopilots"][0], self.flown(done.stdout + done.stderr))
        fast, slow = flown["1"], flown["0.1"]
        self.assertEqual(fast[0]["overruns"], 0)
        self.assertGreater(slow[0]["overruns"], 100)
        self.assertGreater(slow[0]["missed"], slow[0]["overruns"])
        self.assertGreater(slow[0]["response_mean_s"], 5 * fast[0]["response_mean_s"])
        self.assertGreater(slow[1][2], 1.3 * fast[1][2])

    def test_measured_computing_is_charged(self):
        file = self.scenario("ardupilot: {}", program=f"run: [{PILOT}, ardupilot, '9002', work, '400']\n"
                             "                    clock: virtual\n                    on_exit: go-on\n"
                             "                    cpu_speed: 0.1", time_="mode: consistent", step="500us")
        done = self.run_it(file, "--duration", "2s")
        report = self.report(done)
        pilot = report["autopilots"][0]
        self.assertGreater(pilot["overruns"], 10, done.stdout)
        program = next(p for p in report["programs"] if p["name"] == "uav/pilot")
        self.assertEqual(program["overruns"], pilot["overruns"])

    def test_two_vehicles_count_their_ports_up_and_fly_the_same_again(self):
        digests = set()
        for again in range(2):
            done = self.run_it(os.path.join(EXAMPLES, "two.yaml"), "--set",
                               f"robots.left.programs.pilot.run=[{PILOT},px4,'4560']", "--set",
                               f"robots.right.programs.pilot.run=[{PILOT},betaflight,'9002']")
            report = self.report(done)
            self.assertEqual(report["end"], "finished", done.stdout + done.stderr)
            self.assertEqual([a["where"] for a in report["autopilots"]], ["TCP port 4560", "UDP port 9002"])
            self.assertEqual((done.stdout + done.stderr).count("landed after"), 2)
            digests.add(report["digest"])
        self.assertEqual(len(digests), 1)

    # ---- bad days

    def test_a_port_that_is_taken_is_said_with_its_place(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
            done = self.run_it(self.scenario(f"ardupilot: {{port: {port}}}"))
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, rf"flight.yaml:\d+:\d+: UDP port {port} of this machine: Address already in use")

    def test_nobody_comes(self):
        port = free_port(socket.SOCK_DGRAM)
        done = self.run_it(self.scenario(f"ardupilot: {{port: {port}}}", more="hil: {wait_for_targets: 300ms}"))
        self.assertIn(f"no autopilot came to UDP port {port} for uav/pilot within 300ms", done.stdout)

    def test_wrong_packets_are_named_and_the_flight_goes_on(self):
        port = free_port(socket.SOCK_DGRAM)
        run = self.start(self.scenario(f"ardupilot: {{port: {port}}}"), "--duration", "100ms")
        pilot = self.ardupilot(port)
        self.assertIsNotNone(pilot.exchange())
        for bad in (b"", b"hello", servos(7, magic=1), servos(7) + b"more", servos(7, channels=32), b"x" * 60000):
            pilot.socket.sendto(bad, pilot.to)
        while run.poll() is None:
            pilot.exchange(within=1)
        report = self.end_of(run)
        self.assertEqual(report["end"], "finished")
        self.assertEqual(report["autopilots"][0]["wrong_packets"], 6)
        notes = self.notes(report)
        self.assertIn("its magic is 1, not 18458 (16 channels) or 29569 (32)", notes)
        self.assertIn("it has 0 bytes and needs 8 at least", notes)
        self.assertIn("it has 44 bytes; with 16 channels it has 40", notes)
        times = [line["timestamp"] for line in pilot.lines]
        self.assertEqual(times, sorted(set(times)))
        self.assertAlmostEqual(times[1] - times[0], 0.0025)

    def test_one_that_falls_silent_ends_the_run_or_does_not(self):
        for on_loss, said in (("end", r"was lost at [\d.]+ms, and `target: {on_loss: end}` ends the run"),
                              ("pause", "did not come back within 300ms"),
                              ("go-on", r"sent nothing for 200ms \(`hil: {patience: …}`\), at [\d.]+ms; its last controls hold")):
            with self.subTest(on_loss):
                port = free_port(socket.SOCK_DGRAM)
                file = self.scenario(f"ardupilot: {{port: {port}}}", program=f"target: {{on_loss: {on_loss}}}",
                                     more="hil: {patience: 200ms, wait_for_return: 300ms}")
                run = self.start(file, "--duration", "200ms")
                pilot = self.ardupilot(port)
                for _ in range(10):
                    self.assertIsNotNone(pilot.exchange())
                report = self.end_of(run)
                self.assertRegex(json.dumps(report, ensure_ascii=False), said)
                self.assertEqual(report["end"], "finished" if on_loss == "go-on" else "failed")

    def test_one_that_comes_back_is_waited_for_and_begins_again(self):
        port = free_port(socket.SOCK_DGRAM)
        run = self.start(self.scenario(f"ardupilot: {{port: {port}}}", more="hil: {patience: 200ms}"), "--duration", "100ms")
        first = self.ardupilot(port)
        for _ in range(10):
            self.assertIsNotNone(first.exchange())
        time.sleep(1.2)  # until the first may be replaced
        second = self.ardupilot(port)
        while run.poll() is None:
            second.exchange(within=1)
        report = self.end_of(run)
        self.assertEqual(report["end"], "finished")
        self.assertEqual(report["autopilots"][0]["restarts"], 1)
        self.assertIn("uav/pilot came again", self.notes(report))
        self.assertGreater(second.lines[0]["timestamp"], first.lines[-1]["timestamp"])

    def test_a_second_autopilot_on_the_port_is_not_heard(self):
        port = free_port(socket.SOCK_DGRAM)
        run = self.start(self.scenario(f"ardupilot: {{port: {port}}}"), "--duration", "100ms")
        first, second = self.ardupilot(port), self.ardupilot(port)
        self.assertIsNotNone(first.exchange())
        for _ in range(5):
            second.socket.sendto(servos(0, pulses=2000), second.to)
            first.exchange()
        self.assertIsNone(second.exchange(within=0.1))
        while run.poll() is None:
            first.exchange(within=1)
        report = self.end_of(run)
        self.assertEqual(report["end"], "finished")
        self.assertGreaterEqual(report["autopilots"][0]["strangers"], 5)
        self.assertIn("a second autopilot", self.notes(report))

    def test_one_that_runs_ahead_is_named(self):
        port = free_port(socket.SOCK_DGRAM)
        run = self.start(self.scenario(f"ardupilot: {{port: {port}}}"), "--duration", "100ms")
        pilot = self.ardupilot(port)
        pilot.exchange()
        for frame in range(1, 6):
            pilot.socket.sendto(servos(frame), pilot.to)
        pilot.frame = 6
        while run.poll() is None:
            pilot.exchange(within=1)
        report = self.end_of(run)
        self.assertEqual(report["end"], "finished")
        self.assertGreater(report["autopilots"][0]["ahead"], 0)
        self.assertIn("runs ahead", self.notes(report))

    def test_controls_that_are_no_numbers_are_not_taken(self):
        port = free_port(socket.SOCK_DGRAM)
        run = self.start(self.scenario(f"betaflight: {{port: {port}}}"), "--duration", "100ms")
        pilot = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(pilot.close)
        pilot.bind(("127.0.0.1", port + 1))
        pilot.settimeout(1)
        count = 0
        while run.poll() is None:
            try:
                state = pilot.recv(4096)
            except socket.timeout:
                continue
            self.assertEqual(len(state), 144)
            count += 1
            bad = float("nan") if count == 5 else 0.25
            pilot.sendto(struct.pack("<4f", 0.25, 0.25, bad, 0.25), ("127.0.0.1", port))
        report = self.end_of(run)
        self.assertEqual(report["end"], "finished")
        self.assertEqual(report["autopilots"][0]["not_numbers"], 1)
        self.assertIn("commanded channel 3 with what is not a number", self.notes(report))

    def test_a_process_that_fails_says_how(self):
        port = free_port(socket.SOCK_DGRAM)
        done = self.run_it(self.scenario(f"ardupilot: {{port: {port}}}", program="run: [/bin/sh, -c, exit 3]"))
        report = self.report(done)
        self.assertEqual(report["end"], "failed")
        self.assertIn("uav/pilot exited with 3", json.dumps(report))

    # ---- what cannot mean anything

    def refused(self, file):
        done = subprocess.run([ISOCHRON, "check", file], capture_output=True, text=True, timeout=PATIENCE)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stdout + done.stderr

    def test_what_cannot_mean_anything_is_refused_with_its_place(self):
        for link, program, time_, said in (
                ("px4: {}", "", "mode: repeatable", "nobody can promise that it does the same twice"),
                ("px4: {}, ardupilot: {}", "", "mode: callback", "needs either `ardupilot`, `px4` or `betaflight`"),
                ("every: 4ms", "", "mode: callback", "needs either `ardupilot`, `px4` or `betaflight`"),
                ("px4: {port: 70000}", "", "mode: callback", "`port` must be 1 to 65535"),
                ("betaflight: {port: 65534}", "", "mode: callback", "`port` must be 1 to 65533"),
                ("px4: {}, every: 3ms", "", "mode: callback", "`every` must be a multiple of the world's step of 2.5ms"),
                ("px4: {}", "", "mode: realtime", "whose world is stepped here"),
                ("px4: {}, imu: sonar", "", "mode: callback", "`imu` names `sonar`, which is no IMU of robot `uav`"),
                ("px4: {}", "compute: zero", "mode: consistent", "the world waits for each of its answers"),
                ("px4: {key: flight.yaml}", "", "mode: callback", "has not exactly 32 bytes")):
            with self.subTest(said):
                text = self.refused(self.scenario(link, program=program, time_=time_))
                self.assertIn(said, text)
                self.assertRegex(text, r"flight.yaml:\d+:\d+")

    def test_a_robot_without_motors_names_its_actuators(self):
        file = self.scenario("px4: {}")
        with open(file) as scenario:
            text = scenario.read()
        model = os.path.join(self.folder, "model.xml")
        with open(model, "w") as out:
            out.write('<mujoco><worldbody><body name="uav"><freejoint/><geom size="0.1"/><site name="imu"/></body></worldbody>'
                      '<actuator><general name="up" site="imu" gear="0 0 1 0 0 0" ctrllimited="true" ctrlrange="0 6"/>'
                      '</actuator></mujoco>')
        text = text.replace(os.path.join(ROOT, "models/uav.xml"), model).replace("aircraft: {uav: {frame: quad_x}}", "")
        with open(file, "w") as scenario:
            scenario.write(text)
        said = self.refused(file)
        self.assertIn("robot `uav` has no `motors`", said)
        self.assertIn("name those of channel 1, 2, …, of: up", said)
        with open(file, "w") as scenario:
            scenario.write(text.replace("px4: {}", "px4: {}, motors: [up, down]"))
        self.assertIn("`motors` names `down`, which is no actuator", self.refused(file))
        with open(file, "w") as scenario:
            scenario.write(text.replace("px4: {}", "px4: {}, motors: [up]"))
        done = subprocess.run([ISOCHRON, "check", file], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_keys_that_do_nothing_are_said(self):
        file = self.scenario("px4: {}", program="priority: 3")
        done = subprocess.run([ISOCHRON, "check", file], capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn("`priority` has no effect here: the autopilot is outside", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
