"""Hardware in the loop as a user meets it: serve, targets over TCP, keys, lost targets, slow targets, broken links."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

ISOCHRON, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
BUILD = os.path.dirname(os.path.dirname(ISOCHRON))
SCENARIO = os.path.join(ROOT, "examples/hil/hil.yaml")
PILOT = os.path.join(BUILD, "bin/hil_pilot")
# Boards of other kinds: the compiler's prefix, and who runs their programs here.
BOARDS = {"aarch64-linux-gnu": "qemu-aarch64", "arm-linux-gnueabihf": "qemu-arm", "riscv64-linux-gnu": "qemu-riscv64"}
KEY = "00112233445566778899aabbccddeeff" * 2
PATIENCE = 90


def last_json(text):
    return json.loads(text.strip().splitlines()[-1])


class Hil(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_scenario(self, *args):
        return subprocess.run([ISOCHRON, "run", SCENARIO, "--json", "--quiet", "--journal", self.path("run.mcap"), *args],
                              capture_output=True, text=True, timeout=PATIENCE)

    def serve(self, *args, scenario=SCENARIO, env=None):
        """A host that waits for targets, and the address that it says it listens on."""
        host = subprocess.Popen([ISOCHRON, "serve", scenario, "--listen", "127.0.0.1:0", "--journal",
                                 self.path("serve.mcap"), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env={**os.environ, **(env or {})}, cwd=self.folder)
        self.addCleanup(host.kill)
        line = host.stderr.readline()
        return host, re.search(r"listening on (\S+);", line)[1]

    def target(self, address, name="prey/pilot", program=(PILOT,), **env):
        return subprocess.Popen(list(program), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                env={**os.environ, "ISOCHRON": f"tcp://{address}/{name}", **env})

    def finish(self, host):
        out, err = host.communicate(timeout=PATIENCE)
        return host.returncode, out + err

    def test_run_starts_the_target_and_reports_who_waited(self):
        done = self.run_scenario("--duration", "2s")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = last_json(done.stdout)
        self.assertEqual(report["end"], "finished")
        self.assertAlmostEqual(report["simulated_s"], 2.0)
        hil = report["hil"]
        self.assertIn("the world waited", hil["verdict"])
        target = hil["targets"][0]
        self.assertGreater(target["holds"], 100)
        self.assertLess(target["executed_s"], 2.0)
        self.assertLess(report["drift_max_ns"], 1_000_000_000)
        listing = subprocess.run([ISOCHRON, "journal", "info", self.path("run.mcap")], capture_output=True, text=True)
        self.assertIn("/hil/holds", listing.stdout + listing.stderr)

    def test_serve_takes_a_target_that_connects(self):
        host, address = self.serve("--duration", "1s")
        target = self.target(address)
        code, text = self.finish(host)
        self.assertEqual(code, 0, text)
        self.assertEqual(target.wait(PATIENCE), 0, target.stderr.read())
        self.assertIn("finished", text)

    def test_a_target_in_python_runs_a_task(self):
        host, address = self.serve("--duration", "40s")
        target = self.target(address, program=(sys.executable, os.path.join(ROOT, "examples/hil/pilot.py")),
                             PYTHONPATH=os.path.join(ROOT, "client/python"),
                             ISOCHRON_CLIENT=os.path.join(BUILD, "lib/libisochron_client.so"))
        code, text = self.finish(host)
        self.assertEqual(code, 0, text)
        out, err = target.communicate(timeout=PATIENCE)
        self.assertIn("at the origin after", out, err)

    def test_with_a_key_only_those_who_hold_it_come_in(self):
        with open(self.path("key"), "w") as file:
            file.write(KEY)
        os.chmod(self.path("key"), 0o600)
        host, address = self.serve("--duration", "1s", "--key", self.path("key"))
        stranger = self.target(address)
        self.assertIn("the host asks for a key", stranger.communicate(timeout=PATIENCE)[1])
        liar = self.target(address, ISOCHRON_KEY="ff" + KEY[2:])
        self.assertIn("does not hold the key", liar.communicate(timeout=PATIENCE)[1])
        good = self.target(address, ISOCHRON_KEY_FILE=self.path("key"))
        code, text = self.finish(host)
        self.assertEqual(code, 0, text)
        self.assertEqual(good.wait(PATIENCE), 0, good.stderr.read())
        self.assertIn("refused", text)

    def test_beyond_this_machine_a_key_is_needed(self):
        host = subprocess.run([ISOCHRON, "serve", SCENARIO, "--listen", "0.0.0.0:0"], capture_output=True, text=True,
                              timeout=PATIENCE, cwd=self.folder)
        self.assertEqual(host.returncode, 2)
        self.assertIn("others than this machine can connect", host.stderr)

    def test_a_name_that_is_not_in_the_scenario_is_refused_with_a_hint(self):
        host, address = self.serve("--duration", "1s")
        wrong = self.target(address, name="prey/pylot")
        self.assertIn("prey/pilot", wrong.communicate(timeout=PATIENCE)[1])
        good = self.target(address)
        self.assertEqual(self.finish(host)[0], 0)
        good.wait(PATIENCE)

    def test_two_targets_with_one_name_are_one_too_many(self):
        host, address = self.serve("--duration", "3s", "--pace", "1x")
        first = self.target(address)
        time.sleep(1)
        second = self.target(address)
        self.assertIn("is here already", second.communicate(timeout=PATIENCE)[1])
        self.assertEqual(self.finish(host)[0], 0)
        first.wait(PATIENCE)

    def test_a_killed_target_is_waited_for_and_goes_on(self):
        host, address = self.serve("--duration", "3s", "--pace", "1x")
        first = self.target(address)
        time.sleep(1)
        first.kill()
        first.wait()
        time.sleep(0.5)
        second = self.target(address)
        code, text = self.finish(host)
        self.assertEqual(code, 0, text)
        second.wait(PATIENCE)
        self.assertIn("its connection is gone", text)

    def test_a_killed_target_ends_the_run_where_the_scenario_says_so(self):
        host, address = self.serve("--duration", "60s", "--pace", "1x", "--set",
                                   "robots.prey.programs.pilot.target.on_loss=end")
        target = self.target(address)
        time.sleep(1.5)
        target.kill()
        target.wait()
        code, text = self.finish(host)
        self.assertEqual(code, 3, text)
        self.assertIn("was lost", text)
        check = subprocess.run([ISOCHRON, "journal", "info", self.path("serve.mcap")], capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, "the journal is whole: " + check.stderr)

    def test_a_program_that_dies_before_it_attaches_is_named(self):
        done = self.run_scenario("--set", "robots.prey.programs.pilot.run=[false]")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("prey/pilot exited with 1 before it attached", last_json(done.stdout)["why"])

    def test_without_sync_answers_are_not_held(self):
        done = self.run_scenario("--duration", "1s", "--set", "hil.sync=false")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not synchronised", last_json(done.stdout)["hil"]["verdict"])

    def run_on_board(self, kind):
        qemu, pilot = shutil.which(BOARDS[kind]), os.path.join(BUILD, f"test/hil_pilot_{kind}")
        if not qemu or not os.path.exists(pilot):
            self.skipTest(f"needs qemu-user and Debian's g++-{kind}")
        needed = subprocess.run([f"{kind}-readelf", "-d", pilot], capture_output=True, text=True).stdout
        self.assertLessEqual({name.split(".")[0] for name in re.findall(r"NEEDED.*\[(.*)\]", needed)},
                             {"libc", "ld-linux-armhf", "ld-linux-riscv64-lp64d"}, "libc and nothing else")
        host, address = self.serve("--duration", "1s", env={"ISOCHRON_KEY": KEY})
        target = self.target(address, program=(qemu, "-L", f"/usr/{kind}", pilot), ISOCHRON_KEY=KEY)
        code, text = self.finish(host)
        self.assertEqual(code, 0, text)
        self.assertEqual(target.wait(PATIENCE), 0, target.stderr.read())

    def test_a_board_with_aarch64_runs_it_under_qemu(self):
        self.run_on_board("aarch64-linux-gnu")

    def test_a_board_with_32_bits_runs_it_under_qemu(self):
        self.run_on_board("arm-linux-gnueabihf")

    def test_a_board_with_riscv64_runs_it_under_qemu(self):
        self.run_on_board("riscv64-linux-gnu")

    def test_a_cpu_quota_makes_a_slow_target(self):
        if os.geteuid() != 0:
            self.skipTest("a cgroup needs root")
        burn = self.path("burn.py")
        with open(burn, "w") as file:
            file.write(textwrap.dedent("""\
                import isochron, time
                robot = isochron.attach()
                end = time.process_time() + 0.2
                while time.process_time() < end: pass
                robot.log("done")
                print(robot.now)
                """))
        times = {}
        for quota in ("1", "0.1"):
            done = subprocess.run(
                [ISOCHRON, "run", SCENARIO, "--json", "--quiet", "--journal", self.path("q.mcap"), "--duration", "60s",
                 "--set", f"robots.prey.programs.pilot.run=[{sys.executable}, {burn}]",
                 "--set", f"robots.prey.programs.pilot.target.cpu_quota={quota}"],
                capture_output=True, text=True, timeout=PATIENCE,
                env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "client/python"),
                     "ISOCHRON_CLIENT": os.path.join(BUILD, "lib/libisochron_client.so")})
            if "cgroup" in done.stdout:
                self.skipTest("no cgroup can be made here")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            times[quota] = last_json(done.stdout)["hil"]["targets"][0]["executed_s"]
        self.assertGreater(times["0.1"], 1.5, "a tenth of a core takes 2 s for 0.2 s of computing")

    def test_a_target_that_still_computes_when_the_run_ends_is_told_so(self):
        program = self.path("slow.py")
        with open(program, "w") as file:
            file.write(textwrap.dedent("""\
                import isochron, time
                robot = isochron.attach()
                robot.wait(0.02)
                time.sleep(4)  # which is computing, to a target
                robot.write("wrench", bytes(48))
                assert robot.wait(0.02) is None
                """))
        host, address = self.serve("--duration", "1s")
        target = self.target(address, program=(sys.executable, program), PYTHONPATH=os.path.join(ROOT, "client/python"),
                             ISOCHRON_CLIENT=os.path.join(BUILD, "lib/libisochron_client.so"))
        code, text = self.finish(host)
        self.assertEqual(code, 0, text)
        self.assertIn("prey/pilot still computed when the run ended", text)
        self.assertIsNone(target.poll(), "the host did not wait for it")
        self.assertEqual(target.wait(PATIENCE), 0, target.stderr.read())

    def test_the_verdict_names_the_pace_where_it_held_a_target(self):
        done = self.run_scenario("--duration", "1s", "--pace", "0.5x")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("for the pace", last_json(done.stdout)["hil"]["verdict"])

    def test_a_target_that_runs_free_is_measured(self):
        done = self.run_scenario("--duration", "1s", "--set", "robots.prey.programs.pilot.target.runs=free")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = last_json(done.stdout)
        target, = report["hil"]["targets"]
        self.assertFalse(target["held"])
        self.assertGreater(target["apart_most_s"], 0)
        self.assertLess(target["apart_most_s"], 0.5, "it went with the wall clock, as the world did")
        self.assertTrue(any("runs free" in note for note in report["notes"]), report["notes"])

    def test_a_link_with_delay_and_jitter_does_not_make_the_target_slow(self):
        done = self.run_scenario("--duration", "1s", "--delay", "12ms±4", "--loss", "1%")
        self.assertEqual(done.returncode, 0, done.stderr)
        hil = last_json(done.stdout)["hil"]["targets"][0]
        self.assertGreater(hil["latency_s"], 0.018, "the link is slow, there and back")
        self.assertGreater(hil["jitter_s"], 0.0005)
        self.assertLess(hil["executed_s"], 0.5 * hil["free_s"], "and yet that is not the target's time")

    def test_delay_loss_and_jitter_on_the_link_do_not_change_executed_time(self):
        """Host and target in network namespaces, and between them a switch that delays and loses frames."""
        names = [f"iso{os.getpid() % 10000}{end}" for end in "ht"]
        if os.geteuid() != 0 or subprocess.run(["ip", "netns", "add", names[0]], capture_output=True).returncode != 0:
            self.skipTest("network namespaces need root and ip")
        subprocess.run(["ip", "netns", "add", names[1]], check=True)
        for name in names:
            self.addCleanup(subprocess.run, ["ip", "netns", "del", name], capture_output=True)
        switch = subprocess.Popen([sys.executable, os.path.join(ROOT, "tools/test/lossy_switch.py"), "--delay", "10",
                                   "--jitter", "5", "--loss", "0.02", *names], stdout=subprocess.PIPE, text=True)
        self.addCleanup(switch.wait)
        self.addCleanup(switch.kill)
        self.assertEqual(switch.stdout.readline(), "ready\n")
        inside = lambda name: ["ip", "netns", "exec", name]
        host = subprocess.Popen([*inside(names[0]), ISOCHRON, "serve", SCENARIO, "--listen", "10.77.0.1:7499", "--json",
                                 "--journal", self.path("n.mcap"), "--duration", "1s"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env={**os.environ, "ISOCHRON_KEY": KEY}, cwd=self.folder)
        self.addCleanup(host.kill)
        self.assertIn("listening on", host.stderr.readline())
        target = self.target("10.77.0.1:7499", program=[*inside(names[1]), PILOT], ISOCHRON_KEY=KEY)
        self.addCleanup(target.kill)
        code, text = self.finish(host)
        self.assertEqual(code, 0, text + target.communicate(timeout=PATIENCE)[1])
        hil = json.loads(next(line for line in text.splitlines() if line.startswith("{")))["hil"]["targets"][0]
        self.assertGreater(hil["latency_s"], 0.015, "the link is slow, there and back")
        self.assertLess(hil["executed_s"], 0.5 * hil["free_s"], "and yet that is not the target's time")

    def test_a_target_with_two_threads_holds_a_link_for_each(self):
        program = self.path("two.py")
        with open(program, "w") as file:
            file.write(textwrap.dedent("""\
                import isochron, threading
                robot = isochron.attach()
                def loop(period, name):
                    stamps = []
                    while robot.wait(period):
                        robot.read("pose")
                        stamps.append(robot.now)
                    assert stamps == sorted(stamps), stamps
                    print(name, len(stamps), flush=True)
                other = threading.Thread(target=loop, args=(0.05, "slow"))
                other.start()
                loop(0.02, "fast")
                other.join()
                """))
        host, address = self.serve("--duration", "1s", "--json")
        target = self.target(address, program=(sys.executable, program), PYTHONPATH=os.path.join(ROOT, "client/python"),
                             ISOCHRON_CLIENT=os.path.join(BUILD, "lib/libisochron_client.so"))
        code, text = self.finish(host)
        out, err = target.communicate(timeout=PATIENCE)
        self.assertEqual(code, 0, text + err)
        turns = dict(line.split() for line in out.splitlines())
        self.assertGreater(int(turns["fast"]), 1.5 * int(turns["slow"]), out)
        self.assertGreater(int(turns["slow"]), 3, out)
        report = json.loads(next(line for line in text.splitlines() if line.startswith("{")))
        self.assertEqual(report["hil"]["targets"][0]["links"], 2, report["hil"])
        self.assertLess(report["drift_max_ns"], 1_000_000_000)


if __name__ == "__main__":
    import warnings
    warnings.simplefilter("ignore", ResourceWarning)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2, warnings="ignore")
