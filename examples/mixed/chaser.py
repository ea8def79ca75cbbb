"""Pushes the predator towards the prey. What it computes costs simulated time."""
import isochron

robot = isochron.attach()
while robot.wait() is not None:
    own, prey = robot.read("pose"), robot.read("prey/pose")
    for axis, name in enumerate(("fx", "fy", "fz")):
        wanted = (prey.position[axis] - own.position[axis]) - 1.5 * own.linear[axis]
        robot.write(name, max(-8.0, min(8.0, wanted)))
