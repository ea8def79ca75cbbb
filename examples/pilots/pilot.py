"""Keeps a car in its lane and at a speed. Usage: pilot.py METRES_PER_SECOND"""
import sys

import isochron

robot, wanted = isochron.attach(), float(sys.argv[1])
while robot.wait() is not None:
    speed = robot.read("speed")
    robot.write("steer", 0.0)
    robot.write("throttle", max(0.0, min(1.0, 0.25 * (wanted - speed) + 0.05)))
    robot.write("brake", max(0.0, min(1.0, 0.2 * (speed - wanted - 1))))
