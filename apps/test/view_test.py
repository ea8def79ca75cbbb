#!/usr/bin/env python3
"""The view server and its page, on recorded and running simulations. Usage: view_test.py ISOCHRON SOURCE_DIR [TESTS]

Looks with a real browser (Debian's chromium, headless) and with Foxglove's own client, both through node.
"""
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

ISOCHRON, SOURCE = sys.argv.pop(1), sys.argv.pop(1)
SHIPS = os.path.join(SOURCE, "examples/ships/ships.yaml")
NPM = os.path.join(SOURCE, "tools/npm")
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/")
SHOTS = os.environ.get("ISOCHRON_SCREENSHOTS", "")  # a folder: keep what the browser showed


class Served:
    """A command that serves a page, until it goes out of scope."""

    def __init__(self, *arguments):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([ISOCHRON, *arguments], stdout=subprocess.PIPE, stderr=self.errors, text=True)
        line = self.process.stdout.readline()
        found = ADDRESS.search(line)
        if not found:
            self.process.kill()
            self.errors.seek(0)
            raise AssertionError(f"no address in {line!r}: {self.errors.read()}")
        self.address = found[0]

    def __enter__(self):
        return self

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            out, _ = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return out

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()
        self.errors.close()

    def get(self, path):
        with urllib.request.urlopen(self.address + path, timeout=60) as response:
            return response.read()


def status_of(address, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


def look(kind, address, **environment):
    shot = [os.path.join(SHOTS, f"{kind}.png")] if SHOTS else []
    return subprocess.run(["node", os.path.join(NPM, "view_check.mjs"), kind, address, *shot], capture_output=True, text=True,
                          timeout=400, env={**os.environ, **environment})


needs_browser = unittest.skipUnless(shutil.which("chromium") and os.path.isdir(os.path.join(NPM, "node_modules/playwright-core")),
                                    "needs chromium and ./dev setup")


class ViewTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def recorded(self, file=SHIPS, *args, duration="3s"):
        journal = self.path("run.mcap")
        done = subprocess.run([ISOCHRON, "run", file, "--json", "--duration", duration, "--journal", journal, *args],
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        return journal

    def test_questions_are_answered_and_strangers_refused(self):
        with Served("view", self.recorded()) as served:
            about = json.loads(served.get("api/about"))
            self.assertEqual(about["scenario"], "ships")
            self.assertIn("prey", about["bodies"])
            self.assertIn("/scene", [c["topic"] for c in about["channels"]])
            bodies, frames = struct.unpack_from("<II", served.get("api/frames?from=1&to=2&step=0.1"))
            self.assertEqual(bodies, len(about["bodies"]))
            self.assertIn(frames, (10, 11))
            series = json.loads(served.get("api/series?topic=/world/state&field=bodies[13]&points=10"))
            self.assertLessEqual(len(series["t"]), 20)
            self.assertEqual(status_of(served.address + "api/series?topic=/none&field=x"), 404)
            self.assertEqual(status_of(served.address + "api/none"), 404)
            origin = "/".join(served.address.split("/")[:3])
            for path in ("/", "/" + "0" * 32 + "/", "/../", served.address.split("/")[3][:-1] + "/"):
                self.assertEqual(status_of(f"{origin}/{path.lstrip('/')}"), 403, path)
            self.assertEqual(status_of(served.address, Host="evil.example"), 403)
            self.assertEqual(status_of(served.address.rstrip("/")), 200)  # redirected
            port = int(origin.rsplit(":", 1)[1])
            for address in self.other_addresses():  # of this machine, but not loopback
                with self.assertRaises(OSError):
                    socket.create_connection((address, port), timeout=5)

    @staticmethod
    def other_addresses():
        out = subprocess.run(["hostname", "-I"], capture_output=True, text=True).stdout
        return [a for a in out.split() if "." in a and not a.startswith("127.")][:1]

    def test_bad_requests_leave_the_server_standing(self):
        with Served("view", self.recorded()) as served:
            port = int(served.address.split(":")[2].split("/")[0])
            for junk in (b"\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"\x16\x03\x01" + b"\0" * 200, b"GET " + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n"):
                with socket.create_connection(("127.0.0.1", port)) as connection:
                    connection.sendall(junk)
            self.assertEqual(status_of(served.address + "api/about"), 200)

    def test_a_run_of_nodes_shows_its_positions(self):
        with Served("view", self.recorded(os.path.join(SOURCE, "examples/nbody/nbody.yaml"), duration="2000s")) as served:
            about = json.loads(served.get("api/about"))
            self.assertEqual(len(about["bodies"]), 4)
            _, frames = struct.unpack_from("<II", served.get("api/frames?from=0&to=100&step=1"))
            self.assertGreater(frames, 90)

    def test_who_had_the_core_and_who_took_it_away_is_answered_and_reported(self):
        prey = os.path.join(SOURCE, "experiments/predator_prey/predator_prey.yaml")
        journal = self.recorded(prey, "--set", "robots.predator.programs.planner.with.think=0.05", duration="500ms")
        with Served("view", journal) as served:
            events = json.loads(served.get("api/events?from=0&to=1"))
        turns = [event[1:2] + event[3:] for event in events if event[0] == "predator/planner" and event[2] == "turn"]
        self.assertTrue(any(by == "predator/controller" for *_, by in turns), turns)
        for begin, ready, until, _ in turns:
            self.assertLessEqual(ready, begin)
            self.assertLess(begin, until)
        report = self.path("report.html")
        subprocess.run([ISOCHRON, "report", journal, "-o", report], check=True, capture_output=True)
        with open(report) as file:
            lanes = json.loads(re.search(r'id="schedule-data">(.*?)</script>', file.read(), re.S)[1])
        planner = next(lane for lane in lanes if lane["name"] == "predator/planner")
        self.assertIn("predator/controller", [bar[4] for bar in planner["a"]])
        controller = next(lane for lane in lanes if lane["name"] == "predator/controller")
        self.assertIn(["receive", "predator/planner"], [[e[1], e[3]] for e in controller["e"]])

    @needs_browser
    def test_a_browser_sees_missed_deadlines_live(self):
        with Served("run", SHIPS, "--duration", "600s", "--quiet", "--view", "--journal", self.path("rt.mcap"), "--set",
                    "time.mode=realtime") as served:
            done = look("deadlines", served.address)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @needs_browser
    def test_a_browser_plays_and_scrubs_a_recorded_run(self):
        with Served("view", self.recorded(duration="10s")) as served:
            done = look("recorded", served.address)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @needs_browser
    def test_a_browser_steers_a_running_simulation(self):
        journal = self.path("live.mcap")
        with Served("run", SHIPS, "--duration", "600s", "--pace", "1x", "--quiet", "--view", "--journal", journal) as served:
            done = look("live", served.address)
            out = served.stop()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("stopped", out)
        info = subprocess.run([ISOCHRON, "journal", "info", journal, "--json"], capture_output=True, text=True)
        counts = {c["topic"]: c["records"] for c in json.loads(info.stdout)["channels"]}
        self.assertEqual(counts["/isochron/marks"], 3)  # the marker, the push and the fault
        replayed = subprocess.run([ISOCHRON, "replay", journal, "--json", "--journal", self.path("again.mcap")],
                                  capture_output=True, text=True, timeout=100)
        self.assertTrue(json.loads(replayed.stdout)["same"], replayed.stdout)  # the push happened again

    @needs_browser
    def test_a_browser_sees_what_programs_do_while_they_do_it(self):
        prey = os.path.join(SOURCE, "experiments/predator_prey/predator_prey.yaml")
        with Served("run", prey, "--duration", "600s", "--pace", "1x", "--quiet", "--view", "--journal", self.path("p.mcap"),
                    "--set", "robots.predator.programs.planner.with.think=0.02", "--set", "time.mode=callback",
                    "--set", "robots.predator.programs.planner.clock=native") as served:  # a virtual one would stand still
            done = look("programs", served.address)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @needs_browser
    def test_a_browser_sees_messages_on_the_air(self):
        crossing = os.path.join(SOURCE, "experiments/intersection/intersection.yaml")
        with Served("view", self.recorded(crossing, duration="3s")) as served:
            done = look("radio", served.address)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @needs_browser
    def test_a_browser_sees_the_culprit_of_a_stall(self):
        with Served("run", os.path.join(SOURCE, "examples/stall/stall.yaml"), "--quiet", "--view", "--journal",
                    self.path("stall.mcap"), "--paused", "--set", "nodes.lazy.with.sleeps_for=120s", "--set",
                    "nodes.lazy.with.sleeps_at=4s") as served:
            done = look("stalled", served.address, CULPRIT="lazy")
            served.process.kill()  # its node is asleep
            served.process.communicate()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @needs_browser
    def test_a_browser_opens_a_report_and_zooms_its_schedule(self):
        prey = os.path.join(SOURCE, "experiments/predator_prey/predator_prey.yaml")
        journal = self.recorded(prey, "--set", "robots.predator.programs.planner.with.think=0.05", duration="1s")
        page = self.path("report.html")
        subprocess.run([ISOCHRON, "report", journal, "-o", page, "--plot", "/world/state:bodies[13]"], check=True, capture_output=True)
        shot = [os.path.join(SHOTS, "report.png")] if SHOTS else []
        done = subprocess.run(["node", os.path.join(NPM, "report_check.mjs"), page, *shot], capture_output=True, text=True,
                              timeout=120, env={**os.environ, "NEEDS_SCHEDULE": "1"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_foxglove_gets_the_scene_and_every_record_live(self):
        for protocol in ("foxglove.websocket.v1", "foxglove.sdk.v1"):
            with Served("run", SHIPS, "--duration", "600s", "--pace", "1x", "--quiet", "--view", "--journal",
                        self.path("fox.mcap")) as served:
                done = subprocess.run(["node", os.path.join(NPM, "foxglove_check.mjs"), served.address.replace("http", "ws"),
                                       "/tf", "/scene", "/world/state"], capture_output=True, text=True, timeout=60,
                                      env={**os.environ, "FOXGLOVE_PROTOCOL": protocol})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            found = json.loads(done.stdout)
            self.assertEqual(found["server"]["name"], "isochron")
            self.assertIn("foxglove_msgs/msg/SceneUpdate", [t["schemaName"] for t in found["topics"]])
            self.assertGreater(len(found["first"]["/scene"]["entities"]), 0)
            self.assertGreater(found["messages"]["/world/state"], 3)

    def test_pages_that_read_nothing_do_not_stop_the_run(self):
        with Served("run", SHIPS, "--duration", "30s", "--quiet", "--view", "--paused", "--journal", self.path("s.mcap")) as served:
            stuck = [self.stuck_socket(served.address) for _ in range(8)]
            steer = self.stuck_socket(served.address)
            steer.sendall(frame_of('{"do": "resume"}'))
            end = time.monotonic() + 60
            while not json.loads(served.get("api/about"))["report"]:  # null until the run has ended
                self.assertLess(time.monotonic(), end, "the run is held up")
                time.sleep(0.1)
            for one in [*stuck, steer]:
                one.close()

    @staticmethod
    def stuck_socket(address):
        """A WebSocket that asks for everything and never reads."""
        port, token = re.match(r"http://127\.0\.0\.1:(\d+)/(\w+)/", address).groups()
        connection = socket.create_connection(("127.0.0.1", int(port)))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall((f"GET /{token}/live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n").encode())
        connection.recv(4096)
        connection.sendall(frame_of('{"do": "plot", "topic": "/world/state", "field": "bodies[13]"}'))
        return connection


def frame_of(text):
    """One WebSocket frame from a client, with a mask of zeros."""
    data = text.encode()
    return bytes([0x81, 0x80 | len(data)]) + b"\0\0\0\0" + data


if __name__ == "__main__":
    unittest.main()
