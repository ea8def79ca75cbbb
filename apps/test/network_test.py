#!/usr/bin/env python3
"""Nodes in processes and on hosts of their own: the same digest over every carrier, through delay, loss, partition and
death. Hosts are network namespaces, so that part needs root. Usage: network_test.py ISOCHRON SOURCE_DIR"""
import contextlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ISOCHRON, SOURCE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
NBODY = os.path.join(SOURCE, "examples/nbody/nbody.yaml")
UAV = os.path.join(SOURCE, "examples/uav/uav.yaml")
NODES = ["yellow", "red", "green", "blue"]
PREDATOR = os.path.join(SOURCE, "experiments/predator_prey/predator_prey.yaml")
# What has one digest everywhere: the file, how it is made short and exact, and the sections that say where nodes are.
SCENARIOS = {
    "nbody": (NBODY, ["--duration", "500s"], [f"nodes.{name}" for name in NODES]),
    "uav": (UAV, ["--duration", "1s"],
            [f"nodes.{name}" for name in ["wind", "dynamics", "gps", "imu", "controller", "mission"]]),
    "predator_prey": (PREDATOR, ["--duration", "200ms", "--set", "time.mode=repeatable", "--set",
                                 "time.compute={modelled: {fixed: 1ms, per_clock_read: 10ms}}", "--set",
                                 "flows.executor=thread"],
                      ["world", "robots.predator", "robots.prey"]),
}
TAG = f"i{os.getpid() % 100000}"
# A build may be without some of them: what is not there is said and left out.
LEFT_OUT = re.findall(r"^without (.*)", subprocess.run([ISOCHRON, "--version"], capture_output=True, text=True).stdout, re.M)
PARTS = {"tcp": "", "dds": "DDS", "ros": "ROS 1"}
CARRIERS = [carrier for carrier, part in PARTS.items() if not part or part not in "".join(LEFT_OUT).split(", ")]
for carrier in PARTS.keys() - set(CARRIERS):
    print(f"skipped over {carrier}: this build has no {PARTS[carrier]}", file=sys.stderr)
needs_dds = unittest.skipUnless("dds" in CARRIERS, "this build has no DDS")
needs_ros = unittest.skipUnless("ros" in CARRIERS, "this build has no ROS 1")
PYTHON = "/usr/bin/python3"  # Debian's own, which has rospy
# Speaks on a node's ROS topic as another version would. Usage: - FEDERATION NODE
OTHER_VERSION = """
import struct, sys, time, rospy
from std_msgs.msg import UInt8MultiArray
rospy.init_node("other_version", anonymous=True)
topic = rospy.Publisher(f"/isochron/f_{sys.argv[1]}/n_{sys.argv[2]}", UInt8MultiArray, queue_size=1)
while topic.get_num_connections() == 0: time.sleep(0.05)
topic.publish(UInt8MultiArray(data=b"ISOP" + struct.pack("<HH", 99, 0) + bytes(60)))
time.sleep(0.5)
"""


def isochron(*args, **kwargs):
    return subprocess.run([ISOCHRON, *args], capture_output=True, text=True, timeout=110, **kwargs)


def sh(command):
    subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def can_make_hosts():
    if os.geteuid() != 0:
        return False
    made = subprocess.run(["ip", "netns", "add", TAG + "t"], capture_output=True)
    subprocess.run(["ip", "netns", "del", TAG + "t"], capture_output=True)
    return made.returncode == 0


@contextlib.contextmanager
def hosts(count):
    """Namespaces on one bridge, 10.77.0.1 and up."""
    names = [f"{TAG}h{i}" for i in range(count)]
    switch = TAG + "sw"
    try:
        sh(f"ip netns add {switch} && ip -n {switch} link add br0 type bridge && ip -n {switch} link set br0 up")
        for i, name in enumerate(names):
            sh(f"ip netns add {name} && ip -n {name} link set lo up")
            sh(f"ip link add {name}v netns {name} type veth peer name {name}p netns {switch}")
            sh(f"ip -n {switch} link set {name}p master br0 up")
            sh(f"ip -n {name} addr add 10.77.0.{i + 1}/24 dev {name}v && ip -n {name} link set {name}v up")
            sh(f"ip -n {name} route add 224.0.0.0/4 dev {name}v")
        yield names
    finally:
        for name in names + [switch]:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


@contextlib.contextmanager
def lossy_hosts(count, *how):
    """Namespaces on a switch that delays and loses frames."""
    names = [f"{TAG}l{i}" for i in range(count)]
    switch = None
    try:
        for name in names:
            sh(f"ip netns add {name}")
        switch = subprocess.Popen([sys.executable, os.path.join(SOURCE, "tools/test/lossy_switch.py"), *how, *names],
                                  stdout=subprocess.PIPE, text=True)
        assert switch.stdout.readline() == "ready\n"
        yield names
    finally:
        if switch:
            switch.kill()
            switch.communicate()
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


@contextlib.contextmanager
def ros_master(host=None, address="127.0.0.1"):
    """A real master, on a host if one is given."""
    port = 20000 + (os.getpid() + 7) % 20000
    os.environ["ROS_MASTER_URI"] = f"http://{address}:{port}"
    os.environ["ROS_HOSTNAME"] = address
    inside = ["ip", "netns", "exec", host] if host else []
    master = subprocess.Popen([*inside, "rosmaster", "--core", "-p", str(port)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    knock = f"import socket; socket.create_connection(('{address}', {port}), 1)"
    try:
        for _ in range(300):
            if subprocess.run([*inside, sys.executable, "-c", knock], capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        yield master
    finally:
        master.kill()
        master.wait()


class Watched:
    """A process whose complaints are kept with the time at which each came."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.lines.append((time.monotonic(), line))

    def said_after(self, start, words):
        """How long after `start` something with these words was said; None if it was not."""
        return next((at - start for at, line in list(self.lines) if at >= start and re.search(words, line)), None)

    def end(self, timeout=60):
        """Its report; it has so many seconds to come to it."""
        timer = threading.Timer(timeout, self.process.kill)
        timer.start()
        out = self.process.stdout.read()
        timer.cancel()
        self.process.wait()
        self.reader.join(5)
        assert out, "it did not end:\n" + self.complaints()
        return json.loads(out)

    def complaints(self):
        return "".join(line for _, line in self.lines)


class Fixture(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.environ["ISOCHRON_KEY"] = "0123456789abcdef" * 4

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def digest_of(self, *args):
        result = isochron(*args, "--json", "--journal", self.path("run.mcap"))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        report = json.loads(result.stdout)
        self.assertTrue(report["digest_complete"], report)
        return report["digest"]

    def check_whole(self, journal):
        info = json.loads(isochron("journal", "info", journal, "--json").stdout)
        self.assertTrue(info["whole"], journal)
        self.assertGreater(info["records"], 10, journal)

    def base_port(self):
        return 20000 + os.getpid() % 20000

    def local(self, carrier):
        if carrier != "tcp":
            return ["--set", f"network.carrier={carrier}", "--set", "network.interface=lo", "--set",
                    f"network.federation={TAG}"]
        sets = []
        for i, node in enumerate(NODES):
            sets += ["--set", f"nodes.{node}.at=127.0.0.1:{self.base_port() + i}"]
        return sets

    def watched(self, *command):
        run = Watched(command)
        self.addCleanup(run.process.kill)
        return run

    def start(self, node, *args, host=None, journal=None):
        words = ["ip", "netns", "exec", host] if host else []
        return subprocess.Popen([*words, ISOCHRON, "run", NBODY, "--node", node, "--json", "--quiet", "--journal",
                                 self.path(journal or node + ".mcap"), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)


class NetworkTest(Fixture):
    def test_three_scenarios_have_one_digest_in_process_over_shared_memory_tcp_dds_and_ros(self):
        with ros_master():
            for name, (file, how, sections) in SCENARIOS.items():
                with self.subTest(name):
                    alone = self.digest_of("run", file, *how)
                    for executor in ["processes", "threads"]:
                        self.assertEqual(self.digest_of("run", file, *how, "--set", f"flows.executor={executor}"), alone)
                    for carrier in CARRIERS:
                        where = ["--set", f"network.carrier={carrier}", "--set", f"network.federation={TAG}{name}",
                                 "--set", "network.interface=lo"]
                        for i, section in enumerate(sections):
                            where += ["--set", f"{section}.at=127.0.0.1:{self.base_port() + i}"]
                        self.assertEqual(self.digest_of("launch", file, *how, *where), alone, carrier)

    @needs_dds
    def test_a_bad_link_on_purpose_changes_nothing_but_the_wall_time(self):
        alone = self.digest_of("run", NBODY, "--duration", "200s")
        bad = ["--loss", "2%", "--delay", "1ms±0.5", "--reorder"]
        self.assertEqual(self.digest_of("launch", NBODY, "--duration", "200s", *self.local("tcp"), *bad), alone)
        refused = isochron("launch", NBODY, "--duration", "200s", *self.local("dds"), *bad)
        self.assertIn("faults work on TCP links only", refused.stdout + refused.stderr)

    @needs_ros
    def test_a_real_ros_master_brings_nodes_together_and_may_die_and_come_back(self):
        alone = self.digest_of("run", NBODY, "--duration", "5000s")
        with ros_master() as master:
            run = subprocess.Popen([ISOCHRON, "launch", NBODY, "--duration", "5000s", "--json", "--journal",
                                    self.path("ros.mcap"), "--set", "network.carrier=ros", "--set", "time.pace=1000x"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(3)
            master.kill()
            master.wait()
            time.sleep(0.5)
            with ros_master():
                out, err = run.communicate(timeout=90)
        self.assertEqual(run.returncode, 0, out + err)
        self.assertEqual(json.loads(out)["digest"], alone)

    def test_packets_of_another_version_and_half_a_packet_are_told_and_change_nothing(self):
        args = ["--pace", "1000x", "--duration", "4000s", *self.local("tcp")]
        alone = self.digest_of("run", NBODY, "--duration", "4000s")
        nodes = {name: self.start(name, *args) for name in NODES}
        address = ("127.0.0.1", self.base_port() + NODES.index("red"))
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(address, 1) as stranger:
                head = b"ISOP" + struct.pack("<HH", 99, 0) + bytes(60)
                stranger.sendall(struct.pack("<I", len(head)) + head)
                stranger.sendall(struct.pack("<I", 1000) + b"half")
                time.sleep(0.2)
                break
            time.sleep(0.1)
        words = {name: process.communicate(timeout=90) for name, process in nodes.items()}
        for name, process in nodes.items():
            self.assertEqual(process.returncode, 0, name + words[name][0] + words[name][1])
        self.assertIn("a packet of version 99; this is version", words["red"][1])
        merged = isochron("journal", "merge", *[self.path(name + ".mcap") for name in NODES], "-o",
                          self.path("all.mcap"))
        self.assertEqual(merged.returncode, 0, merged.stderr)
        info = json.loads(isochron("journal", "info", self.path("all.mcap"), "--json").stdout)
        self.assertEqual(info["digest"], alone)

    @needs_ros
    def test_without_a_ros_master_it_says_what_to_start(self):
        os.environ["ROS_MASTER_URI"] = "http://127.0.0.1:1"
        result = isochron("run", NBODY, "--node", "red", "--set", "network.carrier=ros")
        self.assertEqual(result.returncode, 2)
        self.assertIn("start `roscore`", result.stderr)

    def test_the_common_journal_is_whole_and_can_be_compared(self):
        self.digest_of("launch", NBODY, "--duration", "500s", *self.local("tcp"))
        os.rename(self.path("run.mcap"), self.path("launched.mcap"))
        self.digest_of("run", NBODY, "--duration", "500s")
        compared = isochron("diff", self.path("run.mcap"), self.path("launched.mcap"))
        self.assertEqual(compared.returncode, 0, compared.stdout)
        self.assertEqual([f for f in os.listdir(self.folder.name) if f.endswith(".json")], [])

    def test_a_node_killed_in_the_middle_is_named_by_the_others_and_their_journals_are_whole(self):
        with ros_master():
            for carrier in CARRIERS:
                with self.subTest(carrier):
                    self.check_a_killed_node(carrier)

    def check_a_killed_node(self, carrier):
        args = ["--pace", "1000x", *self.local(carrier), "--set", "network.lost_after=3s"]
        nodes = {name: self.start(name, *args) for name in NODES}
        time.sleep(3)
        nodes["green"].send_signal(signal.SIGKILL)
        nodes["green"].communicate()
        for name in ["yellow", "red", "blue"]:
            out, err = nodes[name].communicate(timeout=60)
            report = json.loads(out)
            self.assertEqual(nodes[name].returncode, 3, out + err)
            self.assertIn("node green failed", report["why"])
            self.check_whole(self.path(name + ".mcap"))
            if name != "red":  # red sends to green only and may wait for room instead
                self.assertIn("nothing heard of green", err)

    def test_a_second_node_of_one_name_is_refused_and_the_run_goes_on(self):
        with ros_master():
            for carrier in [carrier for carrier in CARRIERS if carrier != "tcp"]:
                with self.subTest(carrier):
                    args = ["--pace", "1000x", "--duration", "5000s", "--set", f"network.carrier={carrier}", "--set",
                            "network.interface=lo", "--set", f"network.federation={TAG}twice"]
                    nodes = {name: self.start(name, *args) for name in NODES}
                    time.sleep(2.5)
                    impostor = self.start("blue", *args, journal="impostor.mcap")
                    out, err = impostor.communicate(timeout=60)
                    self.assertEqual(impostor.returncode, 3, out + err)
                    self.assertIn("another process has this name", json.loads(out)["why"])
                    for name, process in nodes.items():
                        out, err = process.communicate(timeout=60)
                        self.assertEqual(process.returncode, 0, name + out + err)

    @needs_ros
    def test_another_version_on_ros_topics_is_told_and_changes_nothing(self):
        alone = self.digest_of("run", NBODY, "--duration", "4000s")
        with ros_master():
            run = self.watched(ISOCHRON, "launch", NBODY, "--duration", "4000s", "--json", "--journal",
                               self.path("ros.mcap"), "--set", "network.carrier=ros", "--set",
                               f"network.federation={TAG}version", "--set", "time.pace=1000x")
            other = subprocess.run([PYTHON, "-c", OTHER_VERSION, TAG + "version", "red"], capture_output=True, text=True,
                                   timeout=60)
            self.assertEqual(other.returncode, 0, other.stderr)
            self.assertEqual(run.end()["digest"], alone)
        self.assertRegex(run.complaints(), r"\[red\].*a packet of version 99; this is version")

    @needs_dds
    def test_another_scenario_on_the_network_is_told(self):
        args = ["--set", "network.carrier=dds", "--set", "network.interface=lo", "--set",
                f"network.federation={TAG}other"]
        red = self.start("red", *args)
        blue = self.start("yellow", *args, "--set", "nodes.blue.with.period=5s")
        time.sleep(3)
        for process in (red, blue):
            process.send_signal(signal.SIGINT)
        out, err = red.communicate(timeout=60)
        self.assertEqual(red.returncode, 130, out + err)
        self.assertIn("runs another scenario", err)

    def test_listening_beyond_this_machine_needs_a_key(self):
        environment = {k: v for k, v in os.environ.items() if k != "ISOCHRON_KEY"}
        result = isochron("run", NBODY, "--node", "red", "--set", "nodes.red.at=0.0.0.0:7500", env=environment)
        self.assertEqual(result.returncode, 2)
        self.assertIn("without a key", result.stderr)

    def test_a_node_that_is_not_there_is_named(self):
        result = isochron("run", NBODY, "--node", "redd")
        self.assertEqual(result.returncode, 2)
        self.assertIn("did you mean `red`", result.stderr)


@unittest.skipUnless(can_make_hosts(), "needs root and network namespaces")
class HostsTest(Fixture):
    def spread(self, names, carrier="tcp", sections=None):
        sets = ["--set", f"network.carrier={carrier}", "--set", f"network.federation={TAG}"]
        for i, section in enumerate(sections or [f"nodes.{name}" for name in NODES]):
            host = i % len(names)
            sets += ["--set", f"{section}.at=10.77.0.{host + 1}:{7500 + 10 * i}", "--set",
                     f"{section}.host={names[host]}"]
        return sets + ["--shell", "ip netns exec", "--remote", self.remote()]

    def remote(self):
        """Isochron as it is called on a host: ROS must be told the host's address."""
        script = self.path("remote.sh")
        with open(script, "w") as file:
            file.write("#!/bin/sh\nunset ROS_HOSTNAME\nROS_IP=$(ip -4 -o addr show scope global | sed 's#.*inet ##;s#/.*##')\n"
                       f"export ROS_IP\nexec {ISOCHRON} \"$@\"\n")
        os.chmod(script, 0o755)
        return script

    def test_three_hosts_with_delay_jitter_and_loss_give_the_same_digests(self):
        short = {"nbody": "50s", "uav": "50ms", "predator_prey": "20ms"}
        with lossy_hosts(3, "--delay", "1", "--jitter", "0.3", "--loss", "0.05") as names, \
                ros_master(names[0], "10.77.0.1"):
            for name, (file, how, sections) in SCENARIOS.items():
                how = ["--duration", short[name], *how[2:]]
                alone = self.digest_of("run", file, *how)
                for carrier in CARRIERS:
                    with self.subTest(name + " over " + carrier):
                        self.assertEqual(self.digest_of("launch", file, *how, *self.spread(names, carrier, sections)),
                                         alone)

    def test_a_full_disk_under_a_launched_node_is_named_and_the_others_journals_are_whole(self):
        small = self.path("small")
        os.mkdir(small)
        os.symlink(os.path.join(small, "green.mcap"), self.path("run.green.mcap"))
        sh(f"mount -t tmpfs -o size=64k none {small}")
        try:
            result = isochron("launch", NBODY, "--duration", "1000000000s", "--json", "--keep", "--journal",
                              self.path("run.mcap"), *self.local("tcp"))
        finally:
            sh(f"umount {small}")
        self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
        why = json.loads(result.stdout)["why"]
        self.assertRegex(why, "green: .*cannot write to .*run.green.mcap: No space left")
        self.assertRegex(why, "(yellow|red|blue): node green failed: it was stopped")
        for name in ["yellow", "red", "blue"]:
            self.check_whole(self.path(f"run.{name}.mcap"))

    def test_a_partition_is_explained_within_a_second_and_healed_changes_nothing_but_the_wall_time(self):
        alone = self.digest_of("run", NBODY, "--duration", "4000s")
        for carrier in CARRIERS:
            with self.subTest(carrier), hosts(3) as names, ros_master(names[0], "10.77.0.1"):
                run = self.watched(ISOCHRON, "launch", NBODY, "--duration", "4000s", "--json", "--journal",
                                   self.path("cut.mcap"), "--set", "time.pace=1000x", *self.spread(names, carrier))
                time.sleep(3 if carrier == "ros" else 2)
                cut = time.monotonic()
                sh(f"ip -n {names[1]} link set {names[1]}v down")
                time.sleep(3)
                sh(f"ip -n {names[1]} link set {names[1]}v up && "
                   f"(ip -n {names[1]} route add 224.0.0.0/4 dev {names[1]}v || true)")
                report = run.end()
                self.assertEqual(run.process.returncode, 0, report["why"] + run.complaints())
                self.assertEqual(report["digest"], alone)
                self.check_explained(run, cut, "nothing heard of (red|yellow|green|blue)")

    def test_a_host_that_is_cut_off_for_good_loses_its_nodes_to_the_next_one(self):
        alone = self.digest_of("run", NBODY, "--duration", "8000s")
        with hosts(4) as names:
            others = ",".join(f"{name}=10.77.0.{i + 1}" for i, name in enumerate(names))
            run = self.watched(ISOCHRON, "launch", NBODY, "--duration", "8000s", "--json", "--journal",
                               self.path("cut.mcap"), "--set", "time.pace=1000x", "--set", "network.lost_after=2s",
                               "--restarts", "3", "--hosts", others, *self.spread(names[:3]))
            time.sleep(3)
            sh(f"ip -n {names[1]} link set {names[1]}v down")
            report = run.end()
            self.assertEqual(run.process.returncode, 0, report["why"] + run.complaints())
            self.assertEqual(report["digest"], alone)
            self.assertEqual([(one["node"], one["host"]) for one in report["restarts"]], [("red", names[2])])
            self.assertLess(report["wall_s"], 20, "one that catches up is not held back by the pace")

    def check_explained(self, run, since, words):
        """Within a second: half of one more is for a machine that is busy."""
        took = run.said_after(since, words)
        self.assertIsNotNone(took, run.complaints())
        self.assertLess(took, 1.5, run.complaints())

    def test_a_host_that_dies_in_the_middle_of_a_message_is_named_within_a_second_and_all_journals_are_whole(self):
        with open(self.path("pages.yaml"), "w") as file:
            file.write("name: pages\nduration: 1h\nnodes:\n"
                       "  talker: {library: test_nodes, type: Talker}\n"
                       "  near: {library: test_nodes, type: Listener, inputs: {page: talker.page}}\n"
                       "  far: {library: test_nodes, type: Listener, inputs: {page: talker.page}}\n"
                       "time: {mode: repeatable}\n")
        parts = ["talker", "near", "far"]
        for carrier in CARRIERS:
            with self.subTest(carrier), lossy_hosts(3, "--delay", "1") as names, ros_master(names[1], "10.77.0.2"):
                *where, _, _, _, there = self.spread(names, carrier, [f"nodes.{part}" for part in parts])
                runs = {part: self.watched("ip", "netns", "exec", names[i], there, "run", self.path("pages.yaml"), "--node",
                                           part, "--json", "--quiet", "--journal", self.path(part + ".mcap"), *where,
                                           "--set", "network.lost_after=3s") for i, part in enumerate(parts)}
                time.sleep(5)
                died = time.monotonic()
                sh(f"ip -n {names[0]} link set lossy down")  # not even the end of a connection gets out
                runs["talker"].process.kill()
                for part in parts[1:]:
                    report = runs[part].end()
                    self.assertEqual(runs[part].process.returncode, 3, report)
                    self.assertIn("node talker failed: it fell silent", report["why"])
                    self.check_explained(runs[part], died, "nothing heard of talker")
                    self.check_whole(self.path(part + ".mcap"))


if __name__ == "__main__":
    unittest.main(warnings="ignore")
