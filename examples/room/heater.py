#!/usr/bin/env python3
"""The heater of room.yaml as a program in Python; room_python.yaml has it."""
from isochron import node

Temperature = node.message("example_msgs/msg/Temperature", "float64 degrees")
Power = node.message("example_msgs/msg/Power", "float64 watts")


class Heater(node.Node):
    "on below `wanted`"

    def __init__(self, parameters):
        self.wanted = parameters.number("wanted", 20)
        self.on = False
        self.input("room", Temperature, self.heard)
        self.output("heat", Power, self.step, every="1s")

    def heard(self, room, time):
        self.on = room.degrees < self.wanted

    def step(self, time):
        return Power(500.0 if self.on else 0.0)


if __name__ == "__main__":
    node.main(Heater)
