#!/usr/bin/env python3
"""Holds the speed of the motor in motor.yaml: a PI controller."""
from isochron import node

Motor = node.message("fmu_msgs/msg/motor", "float64 speed\nfloat64 current\nfloat64 torque")
Command = node.message("example_msgs/msg/Command", "float64 volts")


class Controller(node.Node):
    "holds `wanted` rad/s"

    def __init__(self, parameters):
        self.wanted = parameters.number("wanted", 100)
        self.sum = 0.0
        self.motor = self.input("motor", Motor)
        self.output("command", Command, self.step, every="5ms")

    def step(self, time):
        speed = 0.0 if self.motor.latest is None else self.motor.latest.speed
        error = self.wanted - speed
        self.sum += 0.005 * error
        return Command(max(-24.0, min(24.0, 0.2 * error + 1.0 * self.sum)))


if __name__ == "__main__":
    node.main(Controller)
