#!/usr/bin/env python3
"""Nodes on the wire of ROS 2 that are not ours (plain C on Debian's Cyclone DDS, types by idlc) among Isochron's: topics
both ways, /clock, /tf_static, services, and what goes wrong. Usage: ros2_test.py ISOCHRON SOURCE_DIR PEER DRIVER"""
import contextlib
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest

ISOCHRON, SOURCE, PEER, DRIVER = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
TURTLE = os.path.join(SOURCE, "examples/ros2/turtle.yaml")
CAR = os.path.join(SOURCE, "examples/ros2/car.yaml")
PROGRAM = os.path.join(SOURCE, "examples/ros2/program.yaml")
os.environ["ROS_DOMAIN_ID"] = DOMAIN = str(1 + os.getpid() % 70)


def isochron(*args):
    return subprocess.run([ISOCHRON, *args], capture_output=True, text=True, timeout=110)


@contextlib.contextmanager
def process(*words):
    started = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def peer(*words):
    return subprocess.run([PEER, *words], capture_output=True, text=True, timeout=60)


# A robot and a car for nodes of ROS 2 in every mode: `hear` and `drive` below are the nodes. {program} and {mode} differ.
MATRIX = """
name: matrix
duration: 2500ms
seed: 1
world: {{model: {source}/examples/ros2/turtle.xml, step: 2ms}}
robots:
  turtle:
    body: base_link
    sensors:
      imu: {{type: imu, site: imu, every: 20ms, latency: 5ms, frame: imu}}
    programs: {{{program}}}
ros2:
  interface: lo
  publish:
    imu: {{topic: /imu, from: turtle/imu.reading, awaited: 1, qos: {{depth: 1000}}}}
    odom: {{topic: /odom, variable: turtle/pose, as: nav_msgs/Odometry, frame: odom, child: base_link, awaited: 1,
           qos: {{depth: 1000}}}}
  subscribe:
    cmd_vel:
      topic: /cmd_vel
      as: geometry_msgs/Twist
      awaited: 1
      drives: [{{field: linear.x, actuator: left, gain: 20}}, {{field: linear.x, actuator: right, gain: 20}}]
time: {{mode: {mode}, pace: 1x}}
"""
CARS = """
name: cars
duration: 2500ms
seed: 1
world: {{model: {source}/models/crossing.xml, step: 5ms}}
agents:
  heartbeat: 10ms
  members:
    car01: {{kind: car, client: north_south}}
    car02: {{kind: car, client: north_south, path: [[1.75, -40], [1.75, 110]], speed: 10}}
    car10: {{kind: car, client: east_west, path: [[40, 1.75], [-110, 1.75]], speed: 10}}
robots:
  car01:
    sensors:
      imu: {{type: imu, every: 20ms, latency: 5ms, frame: imu}}
ros2:
  interface: lo
  publish:
    imu: {{topic: /imu, from: car01/imu.reading, awaited: 1, qos: {{depth: 1000}}}}
    odom: {{topic: /odom, variable: car01/pose, as: nav_msgs/Odometry, frame: odom, child: base_link, awaited: 1,
           qos: {{depth: 1000}}}}
  subscribe:
    cmd_vel:
      topic: /cmd_vel
      as: geometry_msgs/Twist
      awaited: 1
      drives: [{{field: linear.x, actuator: car01/throttle}}, {{field: angular.z, actuator: car01/steer}}]
time: {{mode: {mode}, pace: 1x}}
"""
LOOPS = "import isochron; robot = isochron.attach()\nwhile robot.wait() is not None: robot.read('pose')\n"
BUILD = os.path.dirname(os.path.dirname(ISOCHRON))
os.environ.update(PYTHONPATH=os.path.join(SOURCE, "client/python"),
                  ISOCHRON_CLIENT=os.path.join(BUILD, "lib/libisochron_client.so"))


class Cdr:
    """Reads the few types that the tests look into."""

    def __init__(self, text):
        self.bytes, self.at = bytes.fromhex(text), 4
        assert self.bytes[:2] == b"\0\1", text[:8]

    def number(self, kind):
        size = struct.calcsize(kind)
        self.at = 4 + (self.at - 4 + size - 1) // size * size
        value, = struct.unpack_from("<" + kind, self.bytes, self.at)
        self.at += size
        return value

    def text(self):
        size = self.number("I")
        value = self.bytes[self.at:self.at + size - 1].decode()
        self.at += size
        return value

    def stamp(self):
        return self.number("i") * 10**9 + self.number("I")

    def header(self):
        return self.stamp(), self.text()


class Ros2Test(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_words(self, *args, scenario=TURTLE):
        return [ISOCHRON, "run", scenario, "--json", "--quiet", "--journal", self.path("out.mcap"), "--set",
                f"ros2.domain={DOMAIN}", *args]

    def free(self, *args):
        """Does not wait for anybody."""
        return self.run_words("--set", "ros2.publish.odom.awaited=0", "--set", "ros2.subscribe.cmd_vel.awaited=0", *args)

    def records(self):
        info = json.loads(isochron("journal", "info", self.path("out.mcap"), "--json").stdout)
        self.assertTrue(info["whole"])
        return {channel["topic"]: channel["records"] for channel in info["channels"]}

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def test_an_ordinary_node_drives_the_robot(self):
        for executor in ["thread", "processes"]:
            with self.subTest(executor), process(DRIVER):
                done = subprocess.run(self.run_words("--duration", "6s", "--set", f"flows.executor={executor}"),
                                      capture_output=True, text=True, timeout=90)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                report = json.loads(done.stdout)
                self.assertTrue(any("their order is not guaranteed" in note for note in report["notes"]), report["notes"])
                self.assertFalse(report["repeatable"])
                records = self.records()
                self.assertGreater(records["/ros2/cmd_vel"], 30)
                self.assertEqual(2 * records["/ros2/cmd_vel"], records["/ros2/writes"])  # two wheels
                where = isochron("journal", "export", self.path("out.mcap"), "base_link.position.x").stdout.split()
                self.assertGreater(float(where[-1].split(",")[1]), 0.5)

    def drive(self, scenario, *args):
        """The scenario with nodes that hear and drive; the driver dies on the way. Its report, what was heard, records."""
        hear = [PEER, "hear", "rosgraph_msgs/msg/Clock", "/clock", "180"]
        with process(*hear) as clock, process(PEER, "hear", "sensor_msgs/msg/Imu", "/imu", "80") as imu, \
                process(PEER, "hear", "nav_msgs/msg/Odometry", "/odom", "180") as odom, \
                process(PEER, "drive", "/cmd_vel", "100000", "10", "0.3", "0") as driver, \
                process(*self.run_words(*args, scenario=scenario)) as run:
            heard = {name: [Cdr(line) for line in node.communicate(timeout=60)[0].split()]
                     for name, node in (("clock", clock), ("imu", imu), ("odom", odom))}
            driver.kill()
            out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, out + err)
        return json.loads(out), heard, self.records()

    def check_drive(self, report, heard, records):
        clock = [message.stamp() for message in heard["clock"]]
        self.assertEqual(len(clock), 180)
        self.assertEqual({b - a for a, b in zip(clock, clock[1:])}, {10_000_000})
        imu = [message.header()[0] for message in heard["imu"]]
        self.assertEqual({b - a for a, b in zip(imu, imu[1:])}, {20_000_000})
        stamps, places = [], []
        for message in heard["odom"]:
            stamp, frame = message.header()
            self.assertEqual((frame, message.text()), ("odom", "base_link"))
            stamps.append(stamp)
            places.append([message.number("d") for _ in range(3)])
        self.assertEqual({b - a for a, b in zip(stamps, stamps[1:])}, {10_000_000})
        self.assertGreater(math.dist(places[0], places[-1]), 0.1)  # it moved
        self.assertGreater(records["/ros2/cmd_vel"], 30)
        self.assertTrue(any("their order is not guaranteed" in note for note in report["notes"]), report["notes"])
        self.assertIn("ros2: messages of ROS 2 nodes are taken in when they arrive", report["not_repeatable"])
        self.assertFalse(report["repeatable"])

    def test_nodes_take_part_in_every_mode(self):
        executable = f"pilot: {{run: [/usr/bin/python3, {self.write('loops.py', LOOPS)}], every: 20ms%s}}"
        for mode, program in {"callback": executable % "", "consistent": executable % "", "realtime": executable % "",
                              "hil": executable % "",
                              "repeatable": executable % ", compute: {modelled: {fixed: 1ms}}"}.items():
            with self.subTest(mode):
                scenario = self.write("matrix.yaml", MATRIX.format(source=SOURCE, program=program, mode=mode))
                report, heard, records = self.drive(scenario)
                self.check_drive(report, heard, records)
                self.assertEqual(2 * records["/ros2/cmd_vel"], records["/programs/ros2"])  # two wheels
                self.assertEqual(report["mode"], mode)
        done = isochron("replay", self.path("out.mcap"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("are taken in when they arrive; such a run does not repeat", done.stdout + done.stderr)

    def test_nodes_take_part_beside_nodes_of_flows(self):
        program = "pilot: {run: [/usr/bin/python3, %s], every: 20ms, compute: zero}" % self.write("loops.py", LOOPS)
        scenario = self.write("matrix.yaml", MATRIX.format(source=SOURCE, program=program, mode="repeatable"))
        report, heard, records = self.drive(scenario, "--set", "flows.executor=thread")
        self.check_drive(report, heard, records)
        self.assertEqual(2 * records["/ros2/cmd_vel"], records["/ros2/writes"])

    def test_a_node_drives_a_car_of_a_shared_world(self):
        for mode in ["heartbeat", "repeatable"]:
            with self.subTest(mode):
                scenario = self.write("cars.yaml", CARS.format(source=SOURCE, mode=mode))
                report, heard, records = self.drive(scenario)
                self.check_drive(report, heard, records)
                self.assertGreater(records["/agents/east_west"], 200)

    def test_what_the_radio_of_a_car_hears_is_published(self):
        scenario = self.write("cars.yaml", CARS.format(source=SOURCE, mode="repeatable") + "v2x: {medium: ideal}\n")
        quiet = [word for topic in ("publish.imu", "publish.odom", "subscribe.cmd_vel")
                 for word in ("--set", f"ros2.{topic}.awaited=0")]
        with process(PEER, "hear", "std_msgs/msg/UInt8MultiArray", "/v2x", "5") as radio:
            words = self.run_words(*quiet, "--set", "ros2.publish.v2x={topic: /v2x, from: car01/v2x.frames, awaited: 1}",
                                   scenario=scenario)
            done = subprocess.run(words, capture_output=True, text=True, timeout=90)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            for line in radio.communicate(timeout=30)[0].split():
                frame = Cdr(line)
                self.assertEqual((frame.number("I"), frame.number("I")), (0, 0))
                size = frame.number("I")
                self.assertEqual(frame.bytes[16:16 + 2], b"\0\x14")  # a BSM
                self.assertEqual(len(frame.bytes), 16 + size)

    def test_the_car_of_the_example_is_driven(self):
        with process(DRIVER):
            done = subprocess.run(self.run_words("--duration", "3s", scenario=CAR), capture_output=True, text=True, timeout=90)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(self.records()["/ros2/cmd_vel"], 10)

    def test_what_means_nothing_beside_agents_is_said_with_its_place(self):
        scenario = self.write("cars.yaml", CARS.format(source=SOURCE, mode="heartbeat"))
        for change, said in [("ros2.publish.odom.variable=car10/steer", "a bridge stands at one client"),
                             ("agents.members.car01.path=[[0, 0], [1, 0]]", "a node of ROS drives `car01`"),
                             ("ros2.publish.imu.from=car01/imu.readin", "there is no flow `car01/imu.readin`"),
                             ("ros2.publish.odom.variable=car02/pose", "the world has no `car02/pose`")]:
            with self.subTest(change):
                done = isochron("check", scenario, "--set", change)
                self.assertNotEqual(done.returncode, 0, change)
                self.assertIn(said, done.stdout + done.stderr)
                self.assertRegex(done.stdout + done.stderr, r"cars.yaml:\d+:\d+|--set", change)

    def test_what_is_published_is_what_ros_expects(self):
        with process(*self.free("--duration", "1h")) as run:
            clock = [Cdr(line).stamp() for line in peer("hear", "rosgraph_msgs/msg/Clock", "/clock", "20").stdout.split()]
            odom = Cdr(peer("hear", "nav_msgs/msg/Odometry", "/odom", "1").stdout.strip())
            tf = Cdr(peer("hear", "tf2_msgs/msg/TFMessage", "/tf", "1").stdout.strip())
            static = Cdr(peer("hear", "tf2_msgs/msg/TFMessage", "/tf_static", "1", "latched").stdout.strip())
            info = Cdr(peer("hear", "sensor_msgs/msg/CameraInfo", "/camera/camera_info", "1", "best_effort").stdout.strip())
            image = Cdr(peer("hear", "sensor_msgs/msg/Image", "/camera/image_raw", "1", "best_effort").stdout.strip())
            scan = Cdr(peer("hear", "sensor_msgs/msg/LaserScan", "/scan", "1", "best_effort").stdout.strip())
            self.assertIsNone(run.poll())
        self.assertEqual(len(clock), 20)
        self.assertEqual({b - a for a, b in zip(clock, clock[1:])}, {10_000_000})
        self.assertEqual(odom.header()[1], "odom")
        self.assertEqual(odom.text(), "base_link")
        self.assertEqual(tf.number("I"), 1)
        self.assertEqual((tf.header()[1], tf.text()), ("odom", "base_link"))
        mounted = {}
        for _ in range(static.number("I")):
            parent, child = static.header()[1], static.text()
            mounted[child] = (parent, [static.number("d") for _ in range(7)])
        self.assertEqual(set(mounted), {"laser", "imu", "camera_optical_frame"})
        self.assertEqual(mounted["laser"], ("base_link", [0, 0, 0.15, 0, 0, 0, 1]))
        optical = mounted["camera_optical_frame"][1][3:]
        for value, wanted in zip(optical, [-0.5, 0.5, -0.5, 0.5]):
            self.assertAlmostEqual(abs(value), abs(wanted), places=6)
        self.assertEqual(info.header()[1], "camera_optical_frame")
        self.assertEqual((info.number("I"), info.number("I")), (120, 160))
        self.assertEqual(image.header()[1], "camera_optical_frame")
        self.assertEqual(scan.header()[1], "laser")

    def test_services_pause_step_and_query_and_the_clock_keeps_to_it(self):
        with process(*self.free("--duration", "1h")):
            first = json.loads(peer("call", "/isochron/pause").stdout)
            self.assertTrue(first["paused"])
            stopped = json.loads(peer("call", "/isochron/query").stdout)
            later = json.loads(peer("call", "/isochron/query").stdout)
            self.assertEqual(stopped["time_s"], later["time_s"])
            self.assertEqual(peer("step", "/isochron/step_simulation", "10").stdout.split()[0], "1")
            stepped = json.loads(peer("call", "/isochron/query").stdout)
            self.assertEqual(round(stepped["time_s"] - later["time_s"], 6), 0.02)  # steps of 2 ms
            self.assertFalse(json.loads(peer("call", "/isochron/resume").stdout)["paused"])

    def test_what_others_do_wrong_is_said_and_the_run_goes_on(self):
        with process(*self.free("--duration", "6s", "--set", "time.pace=1x")) as run:
            self.assertEqual(peer("lie", "/cmd_vel", "3").returncode, 0)
            self.assertEqual(peer("drive", "/cmd_vel", "5000", "0", "0.1", "0").returncode, 0)  # floods
            peer("hear", "std_msgs/msg/String", "/odom", "0")
            peer("hear", "sensor_msgs/msg/LaserScan", "/scan", "0")  # reliable
            out, err = run.communicate(timeout=90)
        self.assertEqual(run.returncode, 0, out + err)
        self.assertIn("what came on /cmd_vel is no geometry_msgs/msg/Twist", err)
        self.assertRegex(err, r"\d+ messages of /cmd_vel were dropped")
        self.assertIn("a subscriber of /odom has the type std_msgs/msg/String, ours is nav_msgs/msg/Odometry", err)
        self.assertIn("a subscriber of /scan does not fit: the subscriber asks for reliable, the publisher is best effort",
                      err)
        self.assertGreater(self.records()["/ros2/log"], 2)

    def test_a_type_of_the_user_is_a_flow(self):
        os.makedirs(self.path("shop_msgs/msg"))
        self.write("shop_msgs/msg/Order.msg", "std_msgs/Header header\nstring name\nItem[] items\n")
        self.write("shop_msgs/msg/Item.msg", "string what\nfloat32 price\n")
        scenario = self.write("shop.yaml", """
name: shop
duration: 1s
ros2:
  interface: lo
  types: [shop_msgs]
  subscribe:
    order: {topic: /order, as: shop_msgs/Order}
    text: {topic: /text, as: std_msgs/String, awaited: 1, qos: {depth: 100}}
time: {mode: repeatable, compute: zero, pace: 1x}
""")
        with process(PEER, "say", "/text", "20", "20", "hello"):
            done = subprocess.run(self.run_words(scenario=scenario), capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.records()["/ros2/text"], 20)

    def test_mistakes_have_their_place(self):
        for change, said in [("ros2.publish.odom.topic=/o dom", "is no name of ROS 2"),
                             ("ros2.publish.odom.variable=turtle/pos", "turtle/pos"),
                             ("ros2.publish.scan.from=turtle/laser.readin", "there is no flow"),
                             ("ros2.subscribe.cmd_vel.as=geometry_msgs/Twost", "no message type that is known here"),
                             ("ros2.domain=400", "must be 0 to 232"),
                             ("ros2.publish.scan.frame=x", "is of a variable's message"),
                             ("ros2.publish.odom.as=geometry_msgs/Pose", "has no header"), ("ros2.clock=15ms", "multiple of `every`"),
                             ("ros2.publish.imu.camera_info=true", "is no picture of a camera")]:
            done = isochron("check", TURTLE, "--set", change)
            self.assertNotEqual(done.returncode, 0, change)
            self.assertIn(said, done.stdout + done.stderr)
            self.assertRegex(done.stdout + done.stderr, r"turtle.yaml:\d+:\d+|--set", change)

    def test_without_a_world_it_is_a_node_of_flows(self):
        scenario = self.write("alone.yaml", "name: alone\nduration: 1s\nros2: {subscribe: {text: {as: std_msgs/String}}}\n")
        done = isochron("check", scenario, "--set", "time.mode=realtime")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ROS nodes without a `world` take part in modes callback, consistent and repeatable", done.stderr)
        self.assertEqual(isochron("check", scenario, "--set", "time.mode=callback").returncode, 0)

    def test_keys_for_a_node_of_flows_are_said_to_have_no_effect(self):
        done = isochron("check", TURTLE, "--set", "ros2.at=127.0.0.1:7000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("`at` has no effect here: the bridge stands where the world is stepped", done.stdout + done.stderr)

    def test_no_such_interface_is_said(self):
        done = subprocess.run(self.free("--duration", "1s", "--set", "ros2.interface=nothing0"), capture_output=True,
                              text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ip link", done.stdout + done.stderr)

    def test_a_bag_is_played(self):
        done = subprocess.run(self.free("--duration", "1s", "--set", "time.pace=free"), capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        os.rename(self.path("out.mcap"), self.path("bag.mcap"))
        scenario = self.write("play.yaml", """
name: play
duration: 2s
nodes:
  bag: {play: {file: bag.mcap, topics: {scan: /turtle/laser, imu: /turtle/imu}}}
time: {mode: repeatable}
""")
        digests = set()
        for speed in ["1", "1", "2"]:
            done = subprocess.run([ISOCHRON, "run", scenario, "--json", "--quiet", "--journal", self.path("out.mcap"), "--set",
                                   f"nodes.bag.play.speed={speed}"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            digests.add(json.loads(done.stdout)["digest"])
            records = self.records()
            self.assertGreaterEqual(records["/bag.scan"], 10)
            self.assertGreaterEqual(records["/bag.imu"], 50)
        self.assertEqual(len(digests), 2)

    def test_a_node_that_is_a_program_is_measured(self):
        done = subprocess.run(self.run_words("--duration", "4s", scenario=PROGRAM), capture_output=True, text=True,
                              timeout=90)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        self.assertGreater(report["programs"][0]["executed_s"], 0)
        self.assertIn("turtle/driver: messages over DDS arrive at no fixed time", report["not_repeatable"])
        self.assertGreater(self.records()["/ros2/cmd_vel"], 10)


if __name__ == "__main__":
    unittest.main()
