#!/usr/bin/env python3
"""Nodes through the command: in several languages, misbehaving in every executor, launched by the hundred. Usage:
flows_test.py ISOCHRON SOURCE_DIR"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ISOCHRON, SOURCE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
ROOM = os.path.join(SOURCE, "examples/room/room.yaml")
PYTHON_ROOM = os.path.join(SOURCE, "examples/room/room_python.yaml")
BAD = """
name: bad
duration: {duration}
nodes:
  good: {{library: bad_nodes, type: Bad}}
  bad: {{library: bad_nodes, type: Bad, with: {{does: {does}}}}}
  ear: {{library: bad_nodes, type: Ear, inputs: {{in: bad.out}}}}
  other: {{library: bad_nodes, type: Ear, inputs: {{in: good.out}}}}
flows: {{executor: {executor}}}
time: {{mode: repeatable, stall: 500ms, on_stall: end}}
"""
# A program that misbehaves at 50 ms, behind a node.
BAD_PROGRAM = """
import os, signal, sys, time
from isochron import node
class Bad(node.Node):
    def __init__(self, parameters):
        self.does = parameters.text("does", "nothing")
        self.output("out", "float64", self.step, every="10ms")
        self.alarm = self.event("alarm", "float64", lookahead="5ms")
    def step(self, now):
        print("at", now, flush=True)
        if now == 50_000_000:
            if self.does == "raise": raise ValueError("it does not want to")
            if self.does == "crash": os.abort()
            if self.does == "exit": sys.exit(0)
            if self.does == "hang": time.sleep(1000)
            if self.does == "past": self.alarm.send(now + 4_000_000, 1.0)
            if self.does in ("kill", "stop"): os.kill(os.getpid(), signal.SIGKILL if self.does == "kill" else signal.SIGSTOP)
        return 1.0
node.main(Bad)
"""
BAD_BEHIND_A_NODE = """
name: bad
duration: 1s
nodes:
  bad: {{run: [python3, bad.py], with: {{does: {does}}}}}
  ear: {{run: [python3, ear.py], inputs: {{in: bad.out}}}}
flows: {{executor: {executor}}}
time: {{mode: repeatable, stall: 500ms, on_stall: end}}
"""
EAR_PROGRAM = """
from isochron import node
class Ear(node.Node):
    def __init__(self, parameters):
        self.input("in", "float64")
node.main(Ear)
"""
# Lists of 100,000 numbers, 800 KB, and what became of them.
LARGE_PROGRAM = """
from isochron import node
List = node.message("example_msgs/msg/List", "float64[] values")
class Source(node.Node):
    def __init__(self, parameters):
        self.output("out", List, self.step, every="10ms")
    def step(self, now):
        return List([now * 1e-9 + i for i in range(100_000)])
class Sum(node.Node):
    def __init__(self, parameters):
        self.heard = self.input("in", List)
        self.output("sum", "float64", self.step, every="10ms")
    def step(self, now):
        return float(sum(self.heard.latest.values)) if self.heard.latest else 0.0
node.main(Source, Sum)
"""
LARGE = """
name: large
duration: 50ms
nodes:
  source: {run: [python3, large.py], type: Source}
  sum: {run: [python3, large.py], type: Sum, inputs: {in: source.out}}
time: {mode: repeatable}
"""
EXECUTORS = ["thread", "pool", "threads", "processes", "tcp"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.path.join(SOURCE, "client/python")}


def isochron(*args, timeout=100, **kwargs):
    return subprocess.run([ISOCHRON, *args], capture_output=True, text=True, timeout=timeout, env=ENVIRONMENT, **kwargs)


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def ring(self, nodes, duration="1s"):
        lines = [f"  n{i}: {{library: stall_nodes, type: Relay, inputs: {{in: n{(i - 1) % nodes}.out}}}}"
                 for i in range(nodes)]
        return self.write(f"ring{nodes}.yaml", f"name: ring{nodes}\nduration: {duration}\nnodes:\n" +
                          "\n".join(lines) + "\nflows: {executor: thread}\ntime: {mode: repeatable}\n")

    def run_json(self, file, *args, verb="run"):
        done = isochron(verb, file, "--json", *(["--quiet"] if verb == "run" else []), *args, cwd=self.folder)
        self.assertTrue(done.stdout.strip().startswith("{"), done.stdout + done.stderr)
        return json.loads(done.stdout), done


class Languages(InAFolder):
    def test_one_digest_in_cxx_c_and_python(self):
        expected = self.run_json(ROOM)[0]["digest"]
        self.assertEqual(self.run_json(ROOM, "--set", "nodes.heater.library=heater_c")[0]["digest"], expected)
        for executor in ["thread", "threads", "processes", "tcp"]:
            self.assertEqual(self.run_json(PYTHON_ROOM, "--set", f"flows.executor={executor}")[0]["digest"], expected)

    def test_a_library_and_a_program_are_listed(self):
        for words in [["room_nodes"], ["heater_c"], ["/usr/bin/python3", os.path.join(SOURCE, "examples/room/heater.py")]]:
            done = isochron("nodes", "--json", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            heater = next(t for t in json.loads(done.stdout) if t["type"] == "Heater")
            self.assertEqual(heater["about"], "on below `wanted`")
            self.assertEqual([p["name"] for p in heater["inputs"]], ["room"])
            self.assertEqual(heater["outputs"][0]["period"], "1s")
            self.assertEqual(heater["outputs"][0]["definition"], "float64 watts\n")
            self.assertIn("wanted", heater["parameters"])

    def test_a_scenario_changes_what_a_node_declares_of_its_flows(self):
        done = self.run_json(ROOM, "--set", "nodes.heater.flows={heat: {period: 2s, first: 1s, capacity: 1}}")[0]
        self.assertEqual(done["end"], "finished")
        info = isochron("journal", "info", os.path.join(self.folder, "room.mcap"), "--json").stdout
        self.assertIn("300", info)
        wrong = isochron("check", ROOM, "--set", "nodes.heater.flows={heat: {lookahead: 1s}}")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("flow heater.heat has no events, so no lookahead", wrong.stderr)

    def test_a_node_without_library_or_program_is_refused_with_its_place(self):
        file = self.write("none.yaml", "name: none\nnodes:\n  a: {type: X}\ntime: {mode: repeatable}\n")
        done = isochron("check", file)
        self.assertEqual(done.returncode, 2)
        self.assertIn("none.yaml:3", done.stderr)
        self.assertIn("needs either `library`, `run`, `fmu`, `sumo` or `play`", done.stderr)


class Large(InAFolder):
    def test_messages_of_any_size_are_the_same_in_every_executor(self):
        self.write("large.py", LARGE_PROGRAM)
        digests = {}
        for executor in EXECUTORS:
            file = self.write("large.yaml", LARGE + f"flows: {{executor: {executor}}}\n")
            report = self.run_json(file)[0]
            self.assertEqual(report["end"], "finished", report["why"])
            digests[executor] = report["digest"]
        digests["launch"] = self.run_json(file, verb="launch")[0]["digest"]
        self.assertEqual(len(set(digests.values())), 1, digests)


class Misbehaving(InAFolder):
    def bad(self, does, executor, duration="1s"):
        file = self.write("bad.yaml", BAD.format(does=does, executor=executor, duration=duration))
        begin = time.monotonic()
        report, done = self.run_json(file)
        self.assertLess(time.monotonic() - begin, 8)
        info = isochron("journal", "info", os.path.join(self.folder, "bad.mcap"))
        self.assertNotIn("cut", info.stdout)
        return report, done

    def test_nodes_that_crash_hang_fail_and_rush_are_named_and_the_journal_is_whole(self):
        expected = {"crash": "Segmentation fault (a", "fail": "it does not want to (at 50ms)",
                    "rush": "flow bad.out: the message at 50ms says that the next one comes at 49.999999ms",
                    "hang": ""}
        for executor in ["thread", "pool", "threads", "processes", "tcp"]:
            for does, what in expected.items():
                with self.subTest(executor=executor, does=does):
                    report, done = self.bad(does, executor)
                    self.assertEqual(done.returncode, 3)
                    self.assertEqual(report["end"], "failed")
                    self.assertIn("node bad failed", report["why"])
                    self.assertIn(what, report["why"])
                    if does == "crash" and "thread" in executor:
                        self.assertIn("it crashed: Segmentation fault (at 50ms)", report["why"])
                    if does == "hang":
                        self.assertIn("bad is in its own code", done.stderr)

    def test_an_event_in_the_past_is_refused_with_node_flow_and_both_times(self):
        for executor in EXECUTORS:
            with self.subTest(executor=executor):
                report, done = self.bad("past", executor)
                self.assertEqual(report["end"], "failed")
                for said in ("node bad failed", "event flow alarm", "54ms", "55ms"):
                    self.assertIn(said, report["why"])

    def test_processes_that_are_killed_or_stopped_are_named_with_their_time(self):
        for executor in ["processes", "tcp"]:
            for does, what in {"kill": "killed", "stop": "stopped by a signal"}.items():
                with self.subTest(executor=executor, does=does):
                    report, done = self.bad(does, executor)
                    self.assertEqual(report["end"], "failed")
                    self.assertIn("node bad failed", report["why"])
                    self.assertIn(what, report["why"])

    def test_programs_behind_nodes_that_misbehave_are_named_in_every_executor(self):
        expected = {"raise": "it does not want to", "crash": "Abort", "exit": "ended", "hang": "", "stop": "",
                    "kill": "Killed", "past": "event flow alarm"}
        self.write("bad.py", BAD_PROGRAM)
        self.write("ear.py", EAR_PROGRAM)
        for executor in EXECUTORS:
            for does, what in expected.items():
                with self.subTest(executor=executor, does=does):
                    file = self.write("bad.yaml", BAD_BEHIND_A_NODE.format(does=does, executor=executor))
                    begin = time.monotonic()
                    report, done = self.run_json(file)
                    self.assertLess(time.monotonic() - begin, 10)
                    self.assertEqual(report["end"], "failed")
                    self.assertIn("node bad failed", report["why"])
                    self.assertIn(what, report["why"])
                    self.assertIn("at 50", report["why"] + done.stderr)
                    info = isochron("journal", "info", os.path.join(self.folder, "bad.mcap"), "--json")
                    self.assertTrue(json.loads(info.stdout)["whole"], info.stdout)

    def test_a_node_that_prints_does_not_spoil_the_report(self):
        for executor in ["thread", "processes"]:
            report, done = self.bad("print", executor, "100ms")
            self.assertEqual(report["end"], "finished")
            self.assertIn("{at 50000000}", done.stderr)

    def test_a_node_that_forgets_a_field_is_found_by_strict(self):
        for does, code in [("forget", 1), ("nothing", 0)]:
            file = self.write("bad.yaml", BAD.format(does=does, executor="thread", duration="200ms"))
            done = isochron("run", file, "--strict", "--quiet", cwd=self.folder)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        file = self.write("bad.yaml", BAD.format(does="forget", executor="thread", duration="200ms"))
        self.assertIn("/bad.out", isochron("run", file, "--strict", "--quiet", cwd=self.folder).stdout)


class Journals(InAFolder):
    def test_only_what_is_asked_for_is_recorded(self):
        topics = {"[/room.*]": ["/room.temperature"], "[none]": []}
        for pattern, expected in topics.items():
            self.run_json(ROOM, "--set", f"journal.record={pattern}")
            info = isochron("journal", "info", os.path.join(self.folder, "room.mcap")).stdout
            self.assertEqual([t for t in ["/room.temperature", "/heater.heat"] if t in info], expected)

    def test_many_nodes_share_processes_and_have_one_digest(self):
        file = self.ring(100)
        expected = self.run_json(file)[0]["digest"]
        for processes in ["1", "3", "32"]:
            report = self.run_json(file, "--set", "flows.executor=processes", "--set", f"flows.processes={processes}")[0]
            self.assertEqual(report["digest"], expected)


class Launching(InAFolder):
    def test_nodes_that_print_and_two_launches_at_once(self):
        file = self.write("bad.yaml", BAD.format(does="print", executor="thread", duration="200ms"))
        expected = self.run_json(file)[0]["digest"]
        both = [subprocess.Popen([ISOCHRON, "launch", file, "--json", "--journal", f"l{i}.mcap"], cwd=self.folder,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for i in range(2)]
        for one in both:
            out, err = one.communicate(timeout=60)
            report = json.loads(out)
            self.assertEqual(report["end"], "finished", report["why"])
            self.assertEqual(report["digest"], expected)
            self.assertIn("{at 50000000}", err)

    def test_nodes_that_misbehave_are_named_over_each_carrier_and_all_journals_are_whole(self):
        expected = {"crash": "bad: its process was killed: Segmentation fault", "fail": "it does not want to (at 50ms)",
                    "rush": "flow bad.out: the message at 50ms says that the next one comes at 49.999999ms",
                    "hang": "ear waits for a message of bad.out at 50ms (from bad)", "past": "event flow alarm",
                    "kill": "bad: its process was killed: Killed", "stop": "ear waits for a message of bad.out at 50ms"}
        has_dds = not re.search(r"^without .*\bDDS\b", subprocess.run([ISOCHRON, "--version"], capture_output=True, text=True).stdout, re.M)
        if not has_dds:
            print("skipped over dds: this build has no DDS", file=sys.stderr)
        for carrier in ["tcp", "dds"] if has_dds else ["tcp"]:
            for does, what in expected.items():
                with self.subTest(carrier=carrier, does=does):
                    file = self.write("bad.yaml", BAD.format(does=does, executor="thread", duration="1s") +
                                      f"network: {{carrier: {carrier}, lost_after: 1s, domain: {os.getpid() % 200}}}\n")
                    report, done = self.run_json(file, "--keep", verb="launch")
                    self.assertEqual(report["end"], "failed")
                    self.assertIn(what, report["why"] + done.stderr)
                    for node in ["good", "ear", "other"] + (["bad"] if does in ["fail", "rush"] else []):
                        info = isochron("journal", "info", os.path.join(self.folder, f"bad.{node}.mcap"), "--json")
                        self.assertTrue(json.loads(info.stdout)["whole"], node + info.stderr)

    def test_nodes_with_other_parameters_or_another_duration_do_not_meet(self):
        for change in [["--duration", "400ms"], ["--set", "nodes.bad.with.does=other"]]:
            file = self.write("bad.yaml", BAD.format(does="nothing", executor="thread", duration="200ms") +
                              "network: {lost_after: 1s}\n")
            one = subprocess.Popen([ISOCHRON, "run", file, "--node", "bad", "--json", "--quiet", "--journal", "a.mcap"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            other = subprocess.Popen([ISOCHRON, "run", file, "--node", "ear", "--json", "--quiet", "--journal", "b.mcap",
                                      *change], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(2.5)
            self.assertIsNone(one.poll(), "it still waits for the one that belongs to it")
            words = ""
            for process in [one, other]:
                process.terminate()
                words += "".join(process.communicate(timeout=30))
            self.assertIn("runs another scenario", words)

    @unittest.skipUnless(os.geteuid() == 0, "hides a file in a mount namespace, which needs root")
    def test_a_host_needs_the_libraries_of_its_own_nodes_only(self):
        library = os.path.join(self.folder, "only_here.so")
        shutil.copy(os.path.join(os.path.dirname(ISOCHRON), "../lib/bad_nodes.so"), library)
        ports = []
        for _ in range(2):
            with socket.socket() as one:
                one.bind(("127.0.0.1", 0))
                ports.append(one.getsockname()[1])
        file = self.write("two.yaml", f"""name: two
duration: 200ms
nodes:
  bad: {{library: ./only_here.so, type: Bad, at: "127.0.0.1:{ports[0]}"}}
  ear: {{library: bad_nodes, type: Ear, inputs: {{in: bad.out}}, at: "127.0.0.1:{ports[1]}", host: there}}
time: {{mode: repeatable}}
""")
        shell = self.write("shell", f"#!/bin/sh\nexec unshare -m sh -c 'mount --bind /dev/null {library} && exec sh'\n")
        os.chmod(shell, 0o755)
        hidden = subprocess.run([shell, "there", "sh"], input=f"{ISOCHRON} nodes {library}", capture_output=True, text=True)
        self.assertNotEqual(hidden.returncode, 0, "the library is there after all")
        report = self.run_json(file, "--shell", shell, "--remote", ISOCHRON, "--journal", "two.mcap", verb="launch")[0]
        self.assertEqual(report["end"], "finished", report["why"])
        self.assertTrue(report["digest_complete"])

    @unittest.skipUnless(os.geteuid() == 0, "hides a folder in a mount namespace, which needs root")
    def test_hosts_are_brought_the_files_that_they_do_not_have(self):
        shutil.copy(os.path.join(os.path.dirname(ISOCHRON), "../lib/room_nodes.so"), os.path.join(self.folder, "own.so"))
        script = os.path.join(self.folder, "heater.py")
        shutil.copy(os.path.join(SOURCE, "examples/room/heater.py"), script)
        ports = [one.getsockname()[1] for one in self.sockets(2)]
        file = self.write("hosts.yaml", f"""name: hosts
duration: 5s
nodes:
  room: {{library: ./own.so, type: Room, inputs: {{heat: heater.heat}}, at: "127.0.0.1:{ports[0]}", host: there}}
  heater: {{run: [python3, heater.py], inputs: {{room: room.temperature}}, at: "127.0.0.1:{ports[1]}", host: elsewhere}}
time: {{mode: repeatable}}
""")
        expected = self.run_json(file)[0]["digest"]
        there = tempfile.TemporaryDirectory(prefix="that host's ")
        self.addCleanup(there.cleanup)
        for name in ["empty", "cache", "files"]:
            os.mkdir(os.path.join(there.name, name))
        shell = os.path.join(there.name, "shell")
        with open(shell, "w") as text:
            text.write(f"""#!/bin/sh
export XDG_CACHE_HOME="{there.name}/cache"
exec unshare -m sh -c 'mount --bind "$0/empty" "$1" && exec sh' "{there.name}" {self.folder}
""")
        os.chmod(shell, 0o755)
        link = os.path.join(self.folder, "shell")
        os.symlink(shell, link)  # a shell is given as words
        flags = ["--shell", link, "--remote", ISOCHRON, "--remote-folder", os.path.join(there.name, "files")]

        report, done = self.run_json(file, *flags, "--in-place", verb="launch")
        self.assertNotEqual(report["end"], "finished", "the files are there after all")
        names = ["own.so", "heater.py", "hosts.yaml", "hosts.yaml"]  # both are asked before either is brought anything
        sizes = [os.path.getsize(os.path.join(self.folder, name)) for name in names]
        first, done = self.run_json(file, *flags, verb="launch")
        self.assertEqual(first["end"], "finished", first["why"] + done.stderr)
        self.assertEqual(first["digest"], expected)
        self.assertEqual(first["staged_bytes"], sum(sizes), "each host its own")
        second = self.run_json(file, *flags, verb="launch")[0]
        self.assertEqual((second["digest"], second["staged_bytes"]), (expected, 0))
        with open(script, "a") as text:
            text.write("# another version\n")
        third = self.run_json(file, *flags, verb="launch")[0]
        self.assertEqual((third["digest"], third["staged_bytes"]), (expected, os.path.getsize(script)))
        self.assertEqual(os.listdir(os.path.join(there.name, "files")), [], "the launch's own folder is gone")

        with open(os.path.join(self.folder, "data.bin"), "wb") as data:
            data.write(bytes(range(256)) * 5)
        fourth = self.run_json(file, *flags, "--stage", "data.bin", verb="launch")[0]
        self.assertEqual((fourth["end"], fourth["staged_bytes"]), ("finished", 2 * 1280), fourth["why"])
        self.assertEqual(isochron("launch", file, *flags, "--stage", "missing.bin", cwd=self.folder).returncode, 2)

    def sockets(self, count):
        """So many ports, free when they were looked for."""
        for _ in range(count):
            with socket.socket() as one:
                one.bind(("127.0.0.1", 0))
                yield one

    def test_three_hundred_nodes_start_in_seconds(self):
        file = self.ring(300, "200ms")
        expected = self.run_json(file)[0]["digest"]
        begin = time.monotonic()
        report = self.run_json(file, verb="launch")[0]
        took = time.monotonic() - begin
        self.assertEqual(report["end"], "finished", report["why"])
        self.assertEqual(report["digest"], expected)
        print(f"300 nodes launched over TCP, run and merged in {took:.1f} s", file=sys.stderr)
        self.assertLess(took, 60)


class Checking(InAFolder):
    def test_ten_thousand_nodes_in_a_second(self):
        file = self.ring(10_000)
        begin = time.monotonic()
        done = isochron("check", file)
        took = time.monotonic() - begin
        self.assertEqual(done.returncode, 0, done.stderr)
        print(f"check of 10,000 nodes took {took:.2f} s", file=sys.stderr)
        self.assertLess(took, 5)  # a second on a quiet machine


if __name__ == "__main__":
    unittest.main()
