"""Wires: programs that know nothing of Isochron see and drive a robot over sockets of the simulated network, as JSON or binary
numbers, in every mode that has such a network.
Usage: wire_test.py ISOCHRON SOURCE_DIR"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

ISOCHRON, ROOT = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
PYTHON = "/usr/bin/python3"

JSON_PILOT = """\
    import json, socket, sys
    base = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    base.connect(("127.0.0.1", 5005))
    base.send(b'{"force": [0, 0, 0]}')
    while True:
        seen = json.loads(base.recv(65536))
        base.send(json.dumps({"force": [4 - seen["x"], 0, 0]}).encode())
    """
# Little-endian over TCP: a magic number, a counter, three float32; and a force of three doubles back, with a magic number.
BINARY_PILOT = """\
    import socket, struct
    base = socket.create_connection(("127.0.0.1", 7000))
    stream = base.makefile("rb")
    before = None
    while True:
        magic, n, x, y, z = struct.unpack("<HIfff", stream.read(18))
        assert magic == 18450 and before in (None, n - 1), (magic, n, before)
        before = n
        base.sendall(struct.pack("<H3d", 77, 4 - x, 0, 0))
    """
JSON_WIRE = "{udp: 5005, every: 20ms, sends: {t: time, x: pose.position.x}, takes: {force: wrench.force}}"
BINARY_WIRE = ("{tcp: 7000, every: 20ms, form: little, sends: {magic: uint16 18450, n: uint32 count, at: 'float32[3] pose.position'}, "
               "takes: {magic: uint16 77, force: 'float64[3] wrench.force'}}")


class Wires(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(textwrap.dedent(text))

    def scenario(self, wire, pilot, time="{mode: repeatable, compute: {modelled: {fixed: 1ms}}}", more="", program="clock: virtual"):
        self.write("pilot.py", pilot)
        self.write("s.yaml", f"""\
            name: wires
            duration: 1s
            world: {{model: {ROOT}/models/ships.xml, step: 10ms}}
            robots:
              prey:
                wires: {{base: {wire}}}
                programs:
                  pilot: {{run: [{PYTHON}, pilot.py], {program}}}
            {more}
            time: {time}
            """)

    def command(self, *words):
        return subprocess.run([ISOCHRON, *words], capture_output=True, text=True, timeout=170, cwd=self.folder)

    def play(self, *more):
        done = self.command("run", "s.yaml", "--json", "--journal", "s.mcap", *more)
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        self.said = done.stderr
        return json.loads(done.stdout.strip().splitlines()[-1])

    def test_json_over_udp_drives_a_robot_in_every_mode_and_repeats(self):
        for mode in ("{mode: repeatable, compute: {modelled: {fixed: 1ms}}}", "{mode: consistent}", "{mode: callback}"):
            with self.subTest(mode):
                self.scenario(JSON_WIRE, JSON_PILOT, mode)
                report = self.play()
                self.assertEqual(report["end"], "finished", report)
                wire = report["wires"][0]
                self.assertEqual(wire["name"], "prey/base")
                self.assertEqual(wire["where"], "simulated UDP port 5005")
                self.assertGreater(wire["sent"], 20)
                self.assertGreater(wire["taken"], 20)
                self.assertEqual(wire["wrong"], 0)
                if "repeatable" in mode:
                    self.assertTrue(report["repeatable"], report["not_repeatable"])
                    self.assertEqual(self.play()["digest"], report["digest"])

    def test_binary_over_tcp_drives_a_robot_and_repeats(self):
        self.scenario(BINARY_WIRE, BINARY_PILOT)
        report = self.play()
        self.assertEqual(report["end"], "finished", report)
        self.assertGreater(report["wires"][0]["taken"], 20)
        self.assertEqual(report["wires"][0]["wrong"], 0)
        self.assertEqual(self.play()["digest"], report["digest"])

    def test_what_comes_over_a_wire_acts(self):
        """The prey starts at 5 m and is pulled to 4 m; without the force it stays where it is."""
        for wire, pilot, moves in ((JSON_WIRE, JSON_PILOT, True), (BINARY_WIRE, BINARY_PILOT, True),
                                   (JSON_WIRE, JSON_PILOT.replace("4 - seen", "0 * seen"), False)):
            with self.subTest(pilot):
                self.scenario(wire, pilot, more="expect: {moves: eventually prey.position.x < 4.8}")
                self.assertEqual(self.play()["expectations"][0]["verdict"], "held" if moves else "violated")

    def test_beside_nodes_of_flows(self):
        self.scenario(JSON_WIRE, JSON_PILOT, more="nodes: {clock: {run: [%s, node.py]}}" % PYTHON)
        self.write("node.py", """\
            from isochron import node
            Beat = node.message("example_msgs/msg/Beat", "float64 at")
            class Clock(node.Node):
                def __init__(self, parameters): self.output("beat", Beat, lambda t: Beat(t), every="100ms")
            node.main(Clock)
            """)
        report = self.play()
        self.assertEqual(report["end"], "finished", report)
        self.assertGreater(report["wires"][0]["taken"], 20)

    def test_a_base_station_gets_what_another_robot_sees(self):
        self.write("station.py", """\
            import json, socket
            port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            port.bind(("0.0.0.0", 9000))
            for _ in range(3):
                print(sorted(json.loads(port.recv(65536))), flush=True)
            """)
        self.scenario("{udp: 5005, to: 'predator:9000', every: 100ms, sends: {t: time, all: pose.orientation}}",
                      "import time; time.sleep(100)", more="")
        report = self.play("--set", f"robots.predator.programs.station.run=[{PYTHON}, station.py]", "--set",
                           "robots.predator.programs.station.clock=virtual", "--set",
                           "robots.predator.programs.station.on_exit=go-on", "--output")
        self.assertEqual(report["end"], "finished", report)
        self.assertGreaterEqual(report["wires"][0]["sent"], 3)
        self.assertEqual(self.said.count("['all', 't']"), 3)

    def test_wrong_messages_are_counted_and_the_first_is_named(self):
        self.scenario(JSON_WIRE, """\
            import socket, time
            base = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            for bad in (b"", b"hello", b"[1]", b'{"force": [1, 2]}', b'{"force": [1, 2, "x"]}', b'{"torque": 1}', b"{" * 60000):
                base.sendto(bad, ("127.0.0.1", 5005))
            base.sendto(b'{"force": [1, 2, 3], "more": 1}', ("127.0.0.1", 5005))
            time.sleep(10)
            """)
        report = self.play()
        wire = report["wires"][0]
        self.assertEqual((wire["wrong"], wire["taken"]), (7, 1), report)
        self.assertIn("wire prey/base got 7 messages that it could not read; the first at 10ms: it is not JSON",
                      "\n".join(report["notes"]))

    def test_what_is_not_a_number_does_not_reach_the_world(self):
        self.scenario(BINARY_WIRE.replace("magic: uint16 77, ", ""), """\
            import math, socket, struct, time
            base = socket.create_connection(("127.0.0.1", 7000))
            base.sendall(struct.pack("<3d", math.nan, 0, 0) + struct.pack("<3d", 1, 0, 0))
            time.sleep(10)
            """)
        wire = self.play()["wires"][0]
        self.assertEqual((wire["wrong"], wire["taken"]), (1, 1))
        self.assertIn("not a number", wire["first_wrong"])

    def test_a_wire_that_nobody_uses_is_said(self):
        self.scenario(JSON_WIRE, "import time; time.sleep(100)")
        notes = "\n".join(self.play()["notes"])
        self.assertIn("wire prey/base took no message: nobody sent one that it could read to simulated UDP port 5005", notes)
        self.assertIn("wire prey/base sent nothing: nobody was there to hear it", notes)

    def test_mistakes_have_their_place(self):
        for wire, said in (
                ("{sends: {x: pose.position.x}}", "wire `base` needs either `udp` or `tcp`"),
                ("{udp: 70000, sends: {x: pose.position.x}}", "`udp` must be 1 to 65535"),
                ("{tcp: 7000, to: 7001, sends: {x: pose.position.x}}", "`to` is for `udp`"),
                ("{udp: 7000, to: 'nobody:1', sends: {x: pose.position.x}}", "names `nobody`, which is no robot"),
                ("{udp: 7000, to: x, sends: {x: pose.position.x}}", "`to` must be a port or ROBOT:PORT"),
                ("{udp: 7000, every: 15ms, sends: {x: pose.position.x}}", "`every` must be a multiple of the world's step of 10ms"),
                ("{udp: 7000}", "neither sends nor takes anything"),
                ("{udp: 7000, sends: {x: pose}}", "`prey/pose` is more than a number; name a field of it, of: position, orientation"),
                ("{udp: 7000, sends: {x: pose.positon.x}}", "`prey/pose` has no field `positon.x`, of: position, orientation"),
                ("{udp: 7000, sends: {x: 'pose.position[3]'}}", "there is no `[3]` of 3 numbers"),
                ("{udp: 7000, sends: {x: psoe.position.x}}", "there is no variable `psoe`"),
                ("{udp: 7000, takes: {x: pose.position.x}}", "`prey/pose` cannot be written"),
                ("{udp: 7000, sends: {x: float32 pose.position.x}}", "types are for binary wires"),
                ("{udp: 7000, form: big, sends: {x: pose.position.x}}", "a binary field needs a type"),
                ("{udp: 7000, form: big, sends: {x: float33 pose.position.x}}", "`float33` is not a type"),
                ("{udp: 7000, form: big, sends: {x: float32 pose.position}}", "`pose.position` is 3 numbers"),
                ("{udp: 7000, form: big, sends: {x: 'float32[4] pose.position'}}", "`pose.position` is 3 numbers, not 4")):
            with self.subTest(wire):
                self.scenario(wire, "pass")
                done = self.command("check", "s.yaml")
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(said, done.stdout + done.stderr)
                self.assertRegex(done.stdout + done.stderr, r"s\.yaml:6:\d+")

    def test_where_there_is_no_simulated_network_it_is_refused(self):
        self.scenario(JSON_WIRE, JSON_PILOT, program="every: 10ms")
        done = self.command("check", "s.yaml")
        self.assertIn("nobody can talk over wire `base`", done.stdout + done.stderr)
        self.scenario(JSON_WIRE, JSON_PILOT, "{mode: realtime}")
        done = self.command("check", "s.yaml")
        self.assertIn("mode realtime has none", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
