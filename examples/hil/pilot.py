"""The same in Python: `ISOCHRON=tcp://host:7410/prey/pilot python3 pilot.py`."""
import struct

import isochron
from isochron.tasks import Task


class HoldStill(Task):
    """Brings the ship to the origin; done when it is there."""
    name = "hold still"

    def initialise(self):
        self.far = True

    def done(self):
        return not self.far

    def step(self):
        if self.robot.wait(0.020) is None:
            return
        pose = self.robot.read("pose")
        position, velocity = list(pose.position), list(pose.linear)
        self.far = max(map(abs, position + velocity)) > 0.02
        force = [-2 * p - 2.5 * v for p, v in zip(position, velocity)]
        self.robot.write("wrench", struct.pack("<6d", *force, 0, 0, 0))


robot = isochron.attach()
outcome = HoldStill(robot).run(limit=30.0)
print(f"at the origin after {outcome.took:.2f} s" if outcome.ok else "did not get there")
