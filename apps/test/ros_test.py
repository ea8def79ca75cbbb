#!/usr/bin/env python3
"""Ordinary ROS nodes (rospy, a real master) among Isochron's: topics both ways, /clock, services. And nodes on our node
class over ROS, which repeat. Usage: ros_test.py ISOCHRON SOURCE_DIR"""
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ISOCHRON, SOURCE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
PYTHON = "/usr/bin/python3"  # Debian's own, which has rospy
CLIENT = os.path.join(os.path.dirname(os.path.dirname(ISOCHRON)), "lib/libisochron_client.so")
ROS = os.path.join(SOURCE, "examples/ros/ros.yaml")
CHASER = os.path.join(SOURCE, "examples/ros/chaser.yaml")
CHASE = os.path.join(SOURCE, "examples/ros/chase.py")
ALL_TYPES = os.path.join(SOURCE, "apps/test/ros_all_types.py")
TYPES = [f"{package}/{name}" for package, names in {
    "std_msgs": "Bool Int32 Float64 String Float64MultiArray",
    "geometry_msgs": "Vector3 Point Pose PoseStamped PointStamped Twist TwistStamped Wrench WrenchStamped TransformStamped",
    "sensor_msgs": "Imu NavSatFix Range LaserScan PointCloud2 Image JointState",
    "nav_msgs": "Odometry Path",
    "tf2_msgs": "TFMessage"}.items() for name in names.split()]

# Listens and calls services, as any ROS user would; prints one JSON object.
WITNESS = """
import json, time, rospy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu
from std_msgs.msg import Float64
from std_srvs.srv import Trigger
clocks, imus = [], []
rospy.init_node("witness")
rospy.Subscriber("/clock", Clock, lambda m: clocks.append(m.clock.to_nsec()))
rospy.Subscriber("/prey/imu", Imu, lambda m: imus.append(m.header.stamp.to_nsec()))
nudge = rospy.Publisher("/prey/nudge", Float64, queue_size=1, latch=True)
nudge.publish(0.5)
def call(name):
    rospy.wait_for_service("/isochron/" + name)
    answer = rospy.ServiceProxy("/isochron/" + name, Trigger)()
    assert answer.success
    return json.loads(answer.message)
while len(clocks) < 20: time.sleep(0.02)
call("pause"); time.sleep(0.3)
stopped = call("query"); time.sleep(0.5)
later = call("query")
call("step"); time.sleep(0.3)
stepped = call("query")
resumed = call("resume"); time.sleep(0.5)
print(json.dumps({"stopped": stopped, "later": later, "stepped": stepped, "resumed": resumed, "after": call("query"),
                  "clocks": clocks, "imus": imus, "ros_time": rospy.get_time()}), flush=True)
rospy.spin()
"""

# Prints the first message of each topic below /ros, every number and text by its name. Usage: - CLIENT_FOLDER JOURNAL
RECORDED = """
import json, sys
sys.path.insert(0, sys.argv[1])
from isochron.journal import Journal
def flat(table):
    found = {}
    for name in table:
        value = table[name][0]
        value = value.tolist() if hasattr(value, "tolist") else value
        found.update({f"{name}[{i}]": v for i, v in enumerate(value)} if isinstance(value, list) else {name: value})
    return found
journal = Journal(sys.argv[2])
print(json.dumps({topic[5:]: flat(journal[topic]) for topic in journal if topic.startswith("/ros/")}))
"""


def isochron(*args, **kwargs):
    return subprocess.run([ISOCHRON, *args], capture_output=True, text=True, timeout=110, **kwargs)


@contextlib.contextmanager
def ros_master(port=None):
    port = port or 20000 + (os.getpid() + 11) % 20000
    os.environ["ROS_MASTER_URI"] = f"http://127.0.0.1:{port}"
    os.environ["ROS_HOSTNAME"] = "127.0.0.1"
    master = subprocess.Popen(["rosmaster", "--core", "-p", str(port)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield master
    finally:
        master.kill()
        master.wait()


@contextlib.contextmanager
def node(*words):
    process = subprocess.Popen([PYTHON, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


class RosTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def start(self, *args):
        return subprocess.Popen([ISOCHRON, "run", ROS, "--json", "--quiet", "--journal", self.path("ros.mcap"), *args],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def records(self):
        info = json.loads(isochron("journal", "info", self.path("ros.mcap"), "--json").stdout)
        self.assertTrue(info["whole"])
        return {channel["topic"]: channel["records"] for channel in info["channels"]}

    def test_an_ordinary_node_takes_part_through_topics_and_clock(self):
        for executor in ["thread", "processes"]:
            with self.subTest(executor), ros_master():
                run = self.start("--duration", "4s", "--set", f"flows.executor={executor}")
                with node(CHASE):
                    out, err = run.communicate(timeout=90)
                self.assertEqual(run.returncode, 0, out + err)
                report = json.loads(out)
                self.assertTrue(any("their order is not guaranteed" in note for note in report["notes"]), report["notes"])
                records = self.records()
                self.assertGreater(records["/ros/push"], 20)
                self.assertEqual(records["/ros/push"], records["/ros/writes"])

    def test_an_ordinary_node_takes_part_in_every_mode(self):
        with open(self.path("loops.py"), "w") as file:
            file.write("import isochron; robot = isochron.attach()\nwhile robot.wait() is not None: robot.read('pose')\n")
        pilot = f"{{run: [{PYTHON}, {self.path('loops.py')}], every: 20ms}}"
        board = ["--set", f"robots.predator.programs={{pilot: {pilot}}}"]  # without one there is no mode hil
        os.environ.update(PYTHONPATH=os.path.join(SOURCE, "client/python"), ISOCHRON_CLIENT=CLIENT)
        for mode in ["callback", "consistent", "repeatable", "hil", "realtime"]:
            with self.subTest(mode), ros_master():
                run = self.start("--duration", "4s", "--set", f"time.mode={mode}", *(board if mode == "hil" else []))
                with node(CHASE):
                    out, err = run.communicate(timeout=90)
                self.assertEqual(run.returncode, 0, out + err)
                report = json.loads(out)
                self.assertIn("ros: messages of ROS nodes are taken in when they arrive", report["not_repeatable"])
                records = self.records()
                self.assertGreater(records["/ros/push"], 20)
                self.assertEqual(records["/ros/push"], records["/programs/ros"])

    def test_services_pause_step_and_query_and_the_clock_keeps_to_it(self):
        with ros_master():
            run = self.start("--duration", "1h")
            with node(CHASE), node("-c", WITNESS) as witness:
                line = witness.stdout.readline()
                self.assertTrue(line, "the witness failed")
                seen = json.loads(line)
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=60)
        self.assertTrue(seen["stopped"]["paused"])
        self.assertEqual(seen["stopped"]["time_s"], seen["later"]["time_s"])
        self.assertAlmostEqual(seen["stepped"]["time_s"] - seen["later"]["time_s"], 0.01, places=6)
        self.assertFalse(seen["resumed"]["paused"])
        self.assertGreater(seen["after"]["time_s"], seen["stepped"]["time_s"])
        self.assertEqual(seen["clocks"], sorted(seen["clocks"]))
        self.assertGreater(len(seen["imus"]), 3)
        self.assertLess(seen["ros_time"], 3600)  # simulated, not since 1970
        self.assertGreaterEqual(self.records()["/ros/nudge"], 1)

    def test_it_says_whom_it_waits_for(self):
        with ros_master():
            run = self.start()
            line = "".join(run.stderr.readline() for _ in range(4))
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=60)
        self.assertIn("ros waits for a publisher of /predator/push", line)

    def test_without_a_master_it_says_what_to_start(self):
        os.environ["ROS_MASTER_URI"] = "http://127.0.0.1:1"
        result = isochron("run", ROS, "--journal", self.path("ros.mcap"))
        self.assertEqual(result.returncode, 3)
        self.assertIn("start `roscore`", result.stdout + result.stderr)

    def test_every_type_is_heard_recorded_and_said_as_rospy_has_it(self):
        def entries(line):
            return "".join("    " + line.format(type=kind, name=kind.replace("/", "_")) + "\n" for kind in TYPES)
        with open(self.path("types.yaml"), "w") as file:
            file.write("name: types\nduration: 1h\nros:\n  publish:\n" +
                       entries("back_{name}: {{topic: /back/{name}, from: echo.{name}, awaited: 1}}") + "  subscribe:\n" +
                       entries("{name}: {{topic: /there/{name}, as: {type}, awaited: 1}}") +
                       "nodes:\n  echo:\n   library: test_nodes\n   type: Echo\n   inputs:\n" +
                       entries("{name}: ros.{name}") + "time: {mode: repeatable, compute: zero, pace: 1x}\n")
        with ros_master():
            run = subprocess.Popen([ISOCHRON, "run", self.path("types.yaml"), "--json", "--quiet", "--journal",
                                    self.path("types.mcap")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            with node(ALL_TYPES, *TYPES) as witness:
                line = witness.stdout.readline()
                self.assertTrue(line, "the witness failed")
            run.send_signal(signal.SIGINT)
            out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, out + err)
        seen = json.loads(line)
        self.assertEqual(seen["differ"], {})
        recorded = json.loads(subprocess.run([PYTHON, "-c", RECORDED, os.path.join(SOURCE, "client/python"),
                                              self.path("types.mcap")], check=True, capture_output=True).stdout)
        for kind in TYPES:  # what comes back would look right even if two fields were exchanged
            with self.subTest(kind):
                self.assertEqual(recorded[kind.replace("/", "_")], seen["values"][kind])

    def test_mistakes_are_placed(self):
        for change, what in [("ros.publish.imu.from=prey/imu.readin", "did you mean `prey/imu.reading`"),
                             ("ros.publish.prey.as=sensor_msgs/Imu", "it can be: nav_msgs/Odometry"),
                             ("ros.subscribe.push.as=std_msgs/Float64", "takes 6 numbers"),
                             ("ros.subscribe.push.to=predator/wrenc", "did you mean `predator/wrench`")]:
            with self.subTest(change):
                result = isochron("check", ROS, "--set", change)
                self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
                self.assertIn(what, result.stderr)

    def test_a_node_on_our_node_class_repeats_over_ros(self):
        digests = []
        with ros_master():
            for verb, carrier in [("run", "ros"), ("launch", "ros"), ("launch", "ros")]:
                result = isochron(verb, CHASER, "--duration", "3s", "--json", "--journal", self.path("chaser.mcap"))
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                report = json.loads(result.stdout)
                self.assertTrue(report["digest_complete"])
                digests.append(report["digest"])
        self.assertEqual(len(set(digests)), 1, digests)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
