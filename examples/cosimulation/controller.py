#!/usr/bin/env python3
"""The driver's foot in four.yaml: keeps a speed and a distance, and stops at SUMO's red light."""
import math

from isochron import node

State = node.message("isochron_msgs/msg/WorldState", """builtin_interfaces/Time stamp
uint64 branch
float64[] bodies
float64[] positions
float64[] velocities
float64[] sensors
float64[] commands""")
Agents = node.message("isochron_msgs/msg/AgentStates", """builtin_interfaces/Time stamp
isochron_msgs/AgentState[] agents
================================================================================
MSG: isochron_msgs/AgentState
string name
uint8 kind
float64[3] position
float64[4] orientation
float64[3] linear
float64[3] angular
string[] heads
uint8[] lamps""")
Signals = node.message("isochron_msgs/msg/SignalStates", "builtin_interfaces/Time stamp\nstring[] heads\nuint8[] lamps")
GREEN = 3


class Foot(node.Node):
    "pedal and brake"

    def __init__(self, parameters):
        self.wanted = parameters.number("wanted", 12)
        self.head = parameters.text("head", "J/0")
        self.line = parameters.number("line", -10)  # where it waits for the light, x
        self.body = int(parameters.number("body", 1))
        self.world = self.input("world", State)
        self.cars = self.input("cars", Agents)
        self.signals = self.input("signals", Signals)
        self.pedal = self.brake = 0.0
        self.output("pedal", "float64", self.give_pedal, every="20ms")
        self.output("brake", "float64", self.give_brake, every="20ms")

    def decide(self):
        if self.world.latest is None:
            return
        x, y = self.world.latest.bodies[13 * self.body:13 * self.body + 2]
        speed = self.world.latest.sensors[0]
        free = 1e9  # metres of road
        if self.cars.latest is not None:
            for car in self.cars.latest.agents:
                ahead = car.position[0] - x
                if car.kind == 0 and ahead > 0 and abs(car.position[1] - y) < 1.8:
                    free = min(free, ahead - 4.5 + max(0.0, car.linear[0]) * 1.0)
        lamp = GREEN
        if self.signals.latest is not None and self.head in self.signals.latest.heads:
            lamp = self.signals.latest.lamps[self.signals.latest.heads.index(self.head)]
        left = self.line - x
        if lamp != GREEN and -1 < left and speed * speed < 2 * 6 * max(left, 0.5):
            free = min(free, left - 2)
        allowed = min(self.wanted, math.sqrt(max(0.0, 2 * 2.0 * (free - 2))))
        error = allowed - speed
        self.pedal = max(0.0, min(1.0, 0.25 * error))
        self.brake = max(0.0, min(1.0, -0.3 * error)) if error < -0.2 or allowed < 0.1 else 0.0
        if allowed < 0.1:
            self.brake = max(self.brake, 0.3)

    def give_pedal(self, time):
        self.decide()
        return self.pedal

    def give_brake(self, time):
        return self.brake


if __name__ == "__main__":
    node.main(Foot)
