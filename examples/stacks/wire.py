#!/usr/bin/env python3
"""Steers towards the prey. Its robot is at the other end of a socket: readings come as JSON, and so do orders go."""
import json
import socket

base = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
base.connect(("127.0.0.1", 5005))
base.send(json.dumps({"force": [0, 0, 0]}).encode())  # readings go to whoever wrote last
while True:
    seen = json.loads(base.recv(65536))
    force = [2 * (p - o) - 3 * v for p, o, v in zip(seen["prey"], seen["own"], seen["velocity"])]
    base.send(json.dumps({"force": [max(-8, min(8, f)) for f in force]}).encode())
