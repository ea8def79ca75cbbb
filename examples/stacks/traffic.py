"""SUMO with a client in Python over TraCI, as they are: 30 seconds of traffic at a crossing."""
import os
import sys
import zlib

sys.path.append(os.path.join(os.environ.get("SUMO_HOME", "/usr/share/sumo"), "tools"))
import traci

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sumo")
traci.start(["sumo", "-n", f"{folder}/crossing.net.xml", "-r", f"{folder}/crossing.rou.xml", "--no-step-log", "--no-warnings",
             "--step-length", "0.1"])
seen, sum_of_all = set(), 0
for _ in range(300):
    traci.simulationStep()
    for vehicle in traci.vehicle.getIDList():
        seen.add(vehicle)
        sum_of_all = zlib.crc32(repr(traci.vehicle.getPosition(vehicle)).encode(), sum_of_all)
print(f"{len(seen)} vehicles at {traci.simulation.getTime():.1f} s, {sum_of_all:08x}", flush=True)
traci.close()
