#!/usr/bin/env python3
"""Worlds through the command: sensors that programs read, vehicles, and everything a user can get wrong.
Usage: world_test.py ISOCHRON SOURCE_DIR BUILD_DIR"""
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

ISOCHRON, SOURCE, BUILD = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
SENSOR_PROGRAM = os.path.join(BUILD, "test/client_sensor_program")
ROBOT_PROGRAM = os.path.join(BUILD, "test/client_robot_program")
PUSHER = os.path.join(BUILD, "world/plugins/pusher.so")
UAV = os.path.join(SOURCE, "models/uav.xml")
SHIPS = os.path.join(SOURCE, "models/ships.xml")


def run(*args):
    return subprocess.run([ISOCHRON, *args], capture_output=True, text=True, timeout=300)


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

    def table(self, journal, topic, fields):
        """Rows of numbers: time in seconds, then the fields."""
        shown = run("journal", "export", self.path(journal), topic, fields)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        rows = [line.split(",") for line in shown.stdout.splitlines()[1:]]
        return [[int(row[0]) * 1e-9] + [float(x) for x in row[1:]] for row in rows]

    def refusal_of(self, text, verb="check", code=2):
        result = run(verb, self.write("s.yaml", text), "--trust", *(["--journal", self.path("x.mcap")] if verb == "run" else []))
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return (result.stderr + result.stdout).replace(self.folder.name + "/", "")


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
      sonar: {{type: range, site: rangefinder, acquire: 7ms, range: {{max: 30}}}}
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
        self.assertIn("gps at nan status -1", lines)  # the roof blocks the sky
        self.assertIn("no cloud yet", lines)
        self.assertIn("cloud of 16 points", lines)
        self.assertIn("image of 2304 bytes, taken at 0", lines)
        self.assertIn("image of 2304 bytes, taken at 40", lines)
        self.assertTrue(any(line.startswith("sonar 20.") and line.endswith("after 7 ms") for line in lines), lines)

    def test_reading_changes_nothing_and_repeats(self):
        file = self.scenario("repeatable, compute: {modelled: {fixed: 1ms}}")
        self.assertEqual(self.result_of(file, "a.mcap")["digest"], self.result_of(file, "b.mcap")["digest"])

    @staticmethod
    def pictures_of(width, height):
        return ("--set", f"robots.uav.sensors.camera.picture.width={width}",
                "--set", f"robots.uav.sensors.camera.picture.height={height}")

    def test_large_pictures_reach_programs(self):
        for width, height in ((640, 480), (1920, 1080)):
            self.result_of(self.scenario("callback"), "a.mcap", "--duration", "200ms", *self.pictures_of(width, height))
            with open(self.path("lines")) as file:
                self.assertIn(f"image of {width * height * 3} bytes, taken at 40\n", file.readlines())

    def test_programs_in_python_see_arrays(self):
        with open(self.path("sees.py"), "w") as file:
            file.write("""import isochron, numpy, sys
robot, seen = isochron.attach(), set()
while robot.wait() is not None:
    image, depth, cloud = robot.read("camera/image"), robot.read("camera/depth"), robot.read("lidar")
    if image is not None and cloud is not None:
        pixels, metres, points = numpy.asarray(image), numpy.asarray(depth), numpy.asarray(cloud)
        seen.add(f"{image.width} x {image.height} {image.encoding} {pixels.shape} {pixels.dtype} at {image.stamp}")
        seen.add(f"{depth.encoding} {metres.shape} {metres.dtype} {0 < numpy.nanmin(metres) < 100}")
        seen.add(f"{len(cloud)} points, highest {points['z'].max():.1f}, {sorted(points.dtype.names)[-3:]}")
        assert bytes(image.data) == pixels.tobytes()
with open(sys.argv[1], "w") as file:
    file.write("\\n".join(sorted(seen)))
""")
        text = self.SCENARIO.format(model=UAV, program="/usr/bin/python3, sees.py, " + self.path("seen"), mode="callback")
        self.result_of(self.write("s.yaml", text), "a.mcap", "--duration", "400ms")
        with open(self.path("seen")) as file:
            seen = file.read()
        self.assertIn("32 x 24 rgb8 (24, 32, 3) uint8 at 160000000", seen)
        self.assertIn("32FC1 (24, 32) float32 True", seen)
        self.assertRegex(seen, r"16 points, highest -?[0-9.]+, \['x', 'y', 'z'\]")

    def test_a_picture_that_does_not_fit_is_refused_by_name_and_said_before(self):
        result = run("run", self.scenario("callback"), "--json", "--journal", self.path("x.mcap"), *self.pictures_of(2560, 1440))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("camera/image has up to", result.stdout)
        result = run("check", self.scenario("callback"), *self.pictures_of(2560, 1440))
        self.assertIn("the pictures of `camera` have 14745600 bytes and reach no program", result.stdout + result.stderr)


class Vehicles(WorldTest):
    CARS = os.path.join(SOURCE, "examples/cars/cars.yaml")

    def test_thirty_cars_with_every_kind_of_driver_repeat(self):
        first = self.result_of(self.CARS, "a.mcap", "--duration", "6s")
        second = self.result_of(self.CARS, "b.mcap", "--duration", "6s")
        self.assertEqual(first["digest"], second["digest"])
        for car, least, most in (("car01", 4, 10), ("car02", 2, 10), ("car05", 4, 25), ("car09", -0.1, 14)):
            fast = max(row[1] for row in self.table("a.mcap", "/vehicles/" + car, "speed"))
            self.assertGreater(fast, least, car)
            self.assertLess(fast, most, car)
        gaps = run("journal", "distance", self.path("a.mcap"), "car01", "car02").stdout.split()[1:]
        self.assertGreater(min(map(float, gaps)), 4.5, "the cruise control keeps its distance")
        self.assertGreater(max(row[1] for row in self.table("a.mcap", "/vehicles/car01", "rpm")), 1000)

    def test_a_car_follows_a_height_field(self):
        rows = columns = 41  # a hill of 3 m in the middle of 80 m
        heights = [max(0.0, 1 - (((i - 20) / 10) ** 2 + ((j - 20) / 10) ** 2)) for i in range(rows) for j in range(columns)]
        with open(self.path("hill.bin"), "wb") as file:
            file.write(struct.pack("<ii", rows, columns) + struct.pack(f"<{rows * columns}f", *heights))
        self.write("hill.xml", """<mujoco><option timestep="0.005"/>
          <asset><hfield name="h" file="hill.bin" size="40 40 3 1"/></asset><worldbody>
          <geom name="ground" type="hfield" hfield="h"/>
          <body name="car" pos="0 0 5"><freejoint/><inertial pos="0 0 0" mass="1500" diaginertia="560 2300 2600"/>
          <geom type="box" size="2.2 .88 .2" contype="0" conaffinity="0"/></body></worldbody></mujoco>""")
        file = self.write("s.yaml", """name: hill
duration: 12s
world: {model: hill.xml}
vehicles:
  car: {start: {position: [-35, 0], speed: 5}, driver: {path: [[-35, 0], [35, 0]], speed: 7}}
""")
        self.result_of(file)
        way = self.table("run.mcap", "/tf", "transforms[0].transform.translation.x,transforms[0].transform.translation.z")
        top = max(way, key=lambda row: row[2])
        self.assertAlmostEqual(top[2], 3.54, delta=0.4)
        self.assertAlmostEqual(top[1], 0, delta=4)

    def test_a_program_drives(self):
        file = self.write("s.yaml", f"""name: driven
duration: 3s
world: {{model: {SOURCE}/models/car.xml}}
vehicles:
  car: {{driver: program}}
robots:
  car:
    programs:
      pusher: {{library: {PUSHER}, every: 10ms, with: {{actuator: car/throttle, body: car}}}}
time: {{mode: callback}}
""")
        self.result_of(file)
        self.assertTrue(self.table("run.mcap", "/vehicles/car", "throttle"))


class BadInput(WorldTest):
    WORLD = "name: bad\nduration: 1s\nworld: {model: MODEL}\n"

    def test_a_model_that_does_not_parse_has_its_place(self):
        self.write("m.xml", "<mujoco>\n<worldbody>\n<body nam='x'/>\n</worldbody></mujoco>")
        why = self.refusal_of(self.WORLD.replace("MODEL", "m.xml"))
        self.assertIn("m.xml:3", why)
        self.assertIn("nam", why)
        self.write("m.urdf", "<robot name='x'><link></robot>")
        self.assertIn("m.urdf", self.refusal_of(self.WORLD.replace("MODEL", "m.urdf")))

    def test_unknown_names_have_their_place_and_a_hint(self):
        world = self.WORLD.replace("MODEL", SHIPS)
        why = self.refusal_of(world + "robots:\n  prey:\n    sensors:\n      imu: {type: imu, body: pray, every: 10ms}\n")
        self.assertIn("s.yaml:7:12: sensor `prey/imu`: there is no body `pray`; did you mean `prey`?", why)
        why = self.refusal_of(world + "robots:\n  prey:\n    actuators:\n      fx: {actuator: prey/fxx, delay: 10ms}\n")
        self.assertIn("s.yaml:7:11: actuator `prey/fx`: the model has no actuator `prey/fxx`; did you mean `prey/fx`?", why)
        why = self.refusal_of(world + "robots:\n  prey:\n    sensors:\n      g: {type: gpss, every: 1s}\n")
        self.assertIn("did you mean `gps`?", why)
        why = self.refusal_of(world + "robots:\n  fish: {body: preyy, programs: {p: {run: [" + ROBOT_PROGRAM +
                              "], every: 10ms}}}\n")
        self.assertIn("s.yaml:5:16: the model has no body `preyy`; did you mean `prey`?", why)
        why = self.refusal_of(self.WORLD.replace("MODEL", "none.xml"))
        self.assertIn("there is no file `none.xml`", why)

    def pusher(self, mode, actuator="prey/fx"):
        return (self.WORLD.replace("MODEL", SHIPS) + "robots:\n  prey:\n    programs:\n      p: {library: " + PUSHER +
                ", every: 10ms, offset: 100ms, with: {mode: " + mode + ", actuator: " + actuator + ", body: prey}}\n")

    def test_a_controllers_wrong_name_is_told_before_the_run(self):
        why = self.refusal_of(self.pusher("push", "prey/fz2"))
        self.assertIn("s.yaml:7:", why)
        self.assertIn("there is no actuator `prey/fz2`; did you mean `prey/f", why)

    def last_state(self):
        info = json.loads(run("journal", "info", self.path("x.mcap"), "--json").stdout)
        self.assertTrue(info["whole"])
        return self.table("x.mcap", "/world/state", "bodies[13],bodies[14],bodies[15]")[-1]

    def test_a_nan_command_stops_the_run_and_leaves_the_last_good_state(self):
        why = self.refusal_of(self.pusher("nan"), "run", 3)
        self.assertIn("controller prey/p: actuator prey/fx: the command is not a number", why)
        last = self.last_state()
        self.assertAlmostEqual(last[0], 0.1, delta=0.011)
        self.assertTrue(all(abs(x) < 100 for x in last[1:]))

    def test_a_controller_that_throws_is_named(self):
        self.assertIn("controller prey/p: the plan is empty", self.refusal_of(self.pusher("throw"), "run", 3))

    def test_a_nan_of_a_program_is_refused_by_name(self):
        self.write("m.xml", """<mujoco><worldbody><body name="cart"><joint name="x" type="slide" axis="1 0 0"/>
          <geom size=".1"/></body></worldbody><actuator><motor name="thrust" joint="x"/></actuator></mujoco>""")
        why = self.refusal_of(self.WORLD.replace("MODEL", "m.xml") + "robots:\n  cart:\n    programs:\n      p: {run: [" +
                              ROBOT_PROGRAM + ", writes_nan], every: 10ms}\n", "run", 3)
        self.assertIn("thrust: the value is not a number", why)
        self.last_state()

    def test_a_diverging_world_says_what_diverged_and_leaves_the_last_good_state(self):
        for engine in ("mujoco", "ode"):
            why = self.refusal_of(self.WORLD.replace("MODEL", SHIPS).replace(
                "}", ", engine: " + engine + ", step: 10ms, walls: {half_width: 1, reach: 1, stiffness: 1e200}}"), "run", 3)
            self.assertIn("body pr", why)
            self.assertTrue(all(x == x and abs(x) < 1e290 for x in self.last_state()))

    def test_a_urdf_runs(self):
        self.write("arm.urdf", """<robot name="arm"><link name="base"/>
          <link name="bob"><inertial><origin xyz="0 0 -1"/><mass value="1"/>
          <inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
          <joint name="swing" type="continuous"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/></joint></robot>""")
        file = self.write("s.yaml", self.WORLD.replace("MODEL", "arm.urdf") +
                          "robots:\n  bob:\n    sensors:\n      angle: {type: joints, every: 100ms}\n")
        self.result_of(file)
        self.assertEqual(len(self.table("run.mcap", "/bob/angle", "position[0]")), 10)


if __name__ == "__main__":
    unittest.main()
