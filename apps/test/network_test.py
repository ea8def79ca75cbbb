#!/usr/bin/env python3
"""Nodes in processes and on hosts of their own: the same digest over every carrier, through delay, loss, partition and
death. Hosts are network namespaces, so that part needs root. Usage: network_test.py ISOCHRON SOURCE_DIR"""
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ISOCHRON, SOURCE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
NBODY = os.path.join(SOURCE, "examples/nbody/nbody.yaml")
UAV = os.path.join(SOURCE, "examples/uav/uav.yaml")
NODES = ["yellow", "red", "green", "blue"]
TAG = f"i{os.getpid() % 100000}"


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
def ros_master():
    port = 20000 + (os.getpid() + 7) % 20000
    os.environ["ROS_MASTER_URI"] = f"http://127.0.0.1:{port}"
    os.environ["ROS_HOSTNAME"] = "127.0.0.1"
    master = subprocess.Popen(["rosmaster", "--core", "-p", str(port)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield master
    finally:
        master.kill()
        master.wait()


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

    def base_port(self):
        return 20000 + os.getpid() % 20000

    def local(self, carrier):
        if carrier == "dds":
            return ["--set", "network.carrier=dds", "--set", "network.interface=lo", "--set",
                    f"network.federation={TAG}"]
        sets = []
        for i, node in enumerate(NODES):
            sets += ["--set", f"nodes.{node}.at=127.0.0.1:{self.base_port() + i}"]
        return sets

    def start(self, node, *args, host=None, journal=None):
        words = ["ip", "netns", "exec", host] if host else []
        return subprocess.Popen([*words, ISOCHRON, "run", NBODY, "--node", node, "--json", "--quiet", "--journal",
                                 self.path(journal or node + ".mcap"), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)


class NetworkTest(Fixture):
    def test_every_carrier_gives_the_digest_of_one_process(self):
        alone = self.digest_of("run", NBODY, "--duration", "2000s")
        for carrier in ["tcp", "dds"]:
            with self.subTest(carrier):
                self.assertEqual(self.digest_of("launch", NBODY, "--duration", "2000s", *self.local(carrier)), alone)
        alone = self.digest_of("run", UAV, "--duration", "2s")
        self.assertEqual(self.digest_of("launch", UAV, "--duration", "2s", *self.local("dds")), alone)

    def test_a_bad_link_on_purpose_changes_nothing_but_the_wall_time(self):
        alone = self.digest_of("run", NBODY, "--duration", "200s")
        bad = ["--loss", "2%", "--delay", "1ms±0.5", "--reorder"]
        self.assertEqual(self.digest_of("launch", NBODY, "--duration", "200s", *self.local("tcp"), *bad), alone)
        refused = isochron("launch", NBODY, "--duration", "200s", *self.local("dds"), *bad)
        self.assertIn("only links over TCP can be made bad", refused.stdout + refused.stderr)

    def test_a_real_ros_master_brings_nodes_together_and_may_die_then(self):
        alone = self.digest_of("run", NBODY, "--duration", "3000s")
        with ros_master() as master:
            run = subprocess.Popen([ISOCHRON, "launch", NBODY, "--duration", "3000s", "--json", "--journal",
                                    self.path("ros.mcap"), "--set", "network.carrier=ros", "--set", "time.pace=1000x"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(2)
            master.kill()
            out, err = run.communicate(timeout=90)
        self.assertEqual(run.returncode, 0, out + err)
        self.assertEqual(json.loads(out)["digest"], alone)

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
        args = ["--pace", "1000x", *self.local("tcp"), "--set", "network.lost_after=3s"]
        nodes = {name: self.start(name, *args) for name in NODES}
        time.sleep(3)
        nodes["green"].send_signal(signal.SIGKILL)
        nodes["green"].communicate()
        for name in ["yellow", "red", "blue"]:
            out, err = nodes[name].communicate(timeout=60)
            report = json.loads(out)
            self.assertEqual(nodes[name].returncode, 3, out + err)
            self.assertIn("node green failed", report["why"])
            info = isochron("journal", "info", self.path(name + ".mcap"), "--json")
            self.assertTrue(json.loads(info.stdout)["whole"])
            self.assertGreater(json.loads(info.stdout)["records"], 10)
            if name != "red":  # red sends to green only and may wait for room instead
                self.assertIn("nothing heard of green", err)

    def test_a_second_node_of_one_name_is_refused_and_the_run_goes_on(self):
        args = ["--pace", "1000x", "--duration", "5000s", "--set", "network.carrier=dds", "--set",
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
    def spread(self, names, carrier="tcp"):
        sets = ["--set", f"network.carrier={carrier}", "--set", f"network.federation={TAG}"]
        for i, node in enumerate(NODES):
            host = i % len(names)
            sets += ["--set", f"nodes.{node}.at=10.77.0.{host + 1}:{7500 + i}", "--set", f"nodes.{node}.host={names[host]}"]
        return sets + ["--shell", "ip netns exec", "--remote", ISOCHRON]

    def test_three_hosts_with_delay_jitter_and_loss_give_the_same_digest(self):
        alone = self.digest_of("run", NBODY, "--duration", "200s")
        with lossy_hosts(3, "--delay", "1", "--jitter", "0.3", "--loss", "0.02") as names:
            for carrier in ["tcp", "dds"]:
                with self.subTest(carrier):
                    self.assertEqual(
                        self.digest_of("launch", NBODY, "--duration", "200s", *self.spread(names, carrier)), alone)

    def test_a_partition_that_heals_changes_nothing_but_the_wall_time(self):
        alone = self.digest_of("run", NBODY, "--duration", "4000s")
        for carrier in ["tcp", "dds"]:
            with self.subTest(carrier), hosts(3) as names:
                command = [ISOCHRON, "launch", NBODY, "--duration", "4000s", "--json", "--journal",
                           self.path("cut.mcap"), "--set", "time.pace=1000x", *self.spread(names, carrier)]
                run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                time.sleep(2)
                sh(f"ip -n {names[1]} link set {names[1]}v down")
                time.sleep(3)
                sh(f"ip -n {names[1]} link set {names[1]}v up && (ip -n {names[1]} route add 224.0.0.0/4 dev {names[1]}v || true)")
                out, err = run.communicate(timeout=90)
                self.assertEqual(run.returncode, 0, out + err)
                self.assertEqual(json.loads(out)["digest"], alone)
                self.assertRegex(err, re.compile("nothing heard of (red|yellow|green|blue)"))


if __name__ == "__main__":
    unittest.main(warnings="ignore")
