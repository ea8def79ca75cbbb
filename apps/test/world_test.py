#!/usr/bin/env python3
"""Worlds through the command: sensors that programs read, vehicles, and everything a user can get wrong.
Usage: world_test.py ISOCHRON SOURCE_DIR SENSOR_PROGRAM"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ISOCHRON, SOURCE, SENSOR_PROGRAM = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
UAV = os.path.join(SOURCE, "models/uav.xml")
SHIPS = os.path.join(SOURCE, "models/ships.xml")


def run(*args):
    return subprocess.run([ISOCHRON, *args], capture_output=True, text=True, timeout=100)


class WorldTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def result_of(self, file, journal="run.mcap", *args):
        result = run("run", file, "--json", "--journal", self.path(journal), *args)
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        return json.loads(result.stdout)


class Sensors(WorldTest):
    SCENARIO = """
name: senses
duration: 200ms
world: {{model: {model}}}
robots:
  uav:
    sensors:
      pose: {{type: pose, every: 10ms, latency: 25ms}}
      imu: {{type: imu, site: imu, every: 5ms}}
      gps: {{type: gps, every: 50ms, gps: {{latitude: 48.1}}}}
      bumper: {{type: contact, every: 10ms}}
      camera: {{type: camera, camera: camera, every: 40ms, latency: 30ms, picture: {{width: 32, height: 24, depth: true}}}}
      lidar: {{type: lidar, every: 100ms, latency: 60ms, lidar: {{channels: 2, columns: 8}}}}
      sonar: {{type: range, site: rangefinder, acquire: 7ms}}
    programs:
      reader: {{run: [{program}], every: 50ms}}
time: {{mode: {mode}}}
"""

    def scenario(self, mode):
        program = SENSOR_PROGRAM + ", " + self.path("lines")
        return self.write("s.yaml", self.SCENARIO.format(model=UAV, program=program, mode=mode))

    def test_a_program_reads_every_kind_at_its_own_time(self):
        self.result_of(self.scenario("callback"))
        with open(self.path("lines")) as file:
            lines = file.read().splitlines()
        self.assertIn("pose of 0 at 0", lines)  # none yet: zero
        self.assertIn("pose of 20 at 50", lines)  # the newest that is 25 ms old
        self.assertIn("pose of 70 at 100", lines)
        self.assertTrue(any(line.startswith("imu 1 accelerates") for line in lines), lines)
        self.assertTrue(any(line.startswith("gps at 48.1") for line in lines), lines)
        self.assertIn("no cloud yet", lines)
        self.assertIn("cloud of 16 points", lines)
        self.assertIn("image of 2304 bytes, taken at 0", lines)
        self.assertIn("image of 2304 bytes, taken at 40", lines)
        self.assertTrue(any(line.startswith("sonar 3.") and line.endswith("after 7 ms") for line in lines), lines)

    def test_reading_changes_nothing_and_repeats(self):
        file = self.scenario("repeatable, compute: {modelled: {fixed: 1ms}}")
        self.assertEqual(self.result_of(file, "a.mcap")["digest"], self.result_of(file, "b.mcap")["digest"])

    def test_a_picture_that_does_not_fit_is_refused_by_name(self):
        result = run("run", self.scenario("callback"), "--json", "--journal", self.path("x.mcap"), "--set",
                     "robots.uav.sensors.camera.picture.width=640", "--set",
                     "robots.uav.sensors.camera.picture.height=480")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("camera/image has up to", result.stdout)


if __name__ == "__main__":
    unittest.main()
