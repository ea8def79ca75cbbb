#!/usr/bin/env python3
"""The heater as a program in Python that asks for time in its own loop."""
from isochron import node

Temperature = node.message("example_msgs/msg/Temperature", "float64 degrees")
Power = node.message("example_msgs/msg/Power", "float64 watts")

n = node.attach("Heater", about="on below `wanted`")
wanted = n.parameters.number("wanted", 20)
room = n.input("room", Temperature)
heat = n.output("heat", Power, every="1s")
while what := n.next():
    if what.due is heat:
        n.put(Power(500.0 if room.latest is not None and room.latest.degrees < wanted else 0.0))
