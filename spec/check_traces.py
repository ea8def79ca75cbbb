#!/usr/bin/env python3
"""Whether traces of nodes keep the rules of flows (docs/node_protocol.md): check_traces.py SYSTEM.json TRACE.jsonl…

Prints the first broken rule of each node and ends with code 1, or what was checked and code 0. It knows nothing of how
the nodes were run, nor in which language."""
from __future__ import annotations

import json
import sys


class Broken(Exception):
    pass


class Port:
    def __init__(self, node, index, description):
        self.node, self.index = node, index
        self.name = description["name"]
        self.kind = description["kind"]
        self.period = description.get("period", 0)
        self.lookahead = description.get("lookahead", 0)
        self.varies = description.get("varies", False)
        self.keeps = False  # its period, because it is in a ring of zero flows
        self.next = description.get("first", 0)
        self.sent = []  # (time, payload)

    @property
    def zero(self):
        return self.kind == "observation" or (self.kind == "event" and self.lookahead == 0)


class Node:
    def __init__(self, description):
        self.name = description["name"]
        self.inputs = {name: i for i, name in enumerate(description["inputs"])}
        self.outputs = {o["name"]: Port(self, i, o) for i, o in enumerate(description["outputs"])}
        self.consumed = {name: [] for name in self.inputs}
        self.key = None
        self.now = None
        self.held = []  # (output, time) of events that were decided on


def rings(system, nodes):
    """The observation flows that are part of a ring of zero flows: by who can be reached from where."""
    arcs = {}
    for source, sink in system["connections"]:
        node, output = source.rsplit(".", 1)
        port = nodes[node].outputs[output]
        if port.zero:
            arcs.setdefault(node, []).append((sink.rsplit(".", 1)[0], port))

    def reaches(start, goal):
        seen, stack = {start}, [start]
        while stack:
            for to, _ in arcs.get(stack.pop(), []):
                if to == goal:
                    return True
                if to not in seen:
                    seen.add(to)
                    stack.append(to)
        return False

    for node, leaving in arcs.items():
        for to, port in leaving:
            if port.kind == "observation" and not port.varies and (to == node or reaches(to, node)):
                port.keeps = True


def step(system, node, what):
    time, port = what["time"], what["port"]
    until = system.get("until")
    if until is not None and what["step"] != "send" and time >= until:
        raise Broken(f"rule 5: {what['step']} {port} at {time}, but the run ends at {until}")
    if what["step"] == "consume":
        if port not in node.inputs:
            raise Broken(f"there is no input {port}")
        key = (time, 1, node.inputs[port])
        node.consumed[port].append((time, what.get("payload")))
    else:
        if port not in node.outputs:
            raise Broken(f"there is no output {port}")
        out = node.outputs[port]
        if what["step"] == "send":
            earliest = (system.get("start", 0) if node.now is None else node.now) + out.lookahead
            if time < earliest:
                raise Broken(f"rule 3: event of {port} at {time}, sent at {node.now} with lookahead {out.lookahead}")
            node.held.append((port, time))
            return
        key = emission(node, out, what, time)
    # An event may be decided on by a step of its own time: then its turn comes after that step, whatever its index.
    if node.key is not None and (key < node.key if key[1] < 2 else key[:2] < node.key[:2]):
        raise Broken(f"rule 2: {what['step']} {port} at {time} has the key {key}, after a step with the key {node.key}")
    node.key = key
    node.now = key[0]


def emission(node, out, what, time):
    out.sent.append((time, what.get("payload")))
    if what["step"] == "event":
        if out.kind != "event":
            raise Broken(f"{out.name} has no events")
        if (out.name, time) in node.held:
            node.held.remove((out.name, time))
        if time < out.next:
            raise Broken(f"rule 1: event of {out.name} at {time}, after one at {out.next}")
        out.next = time
        return (time - out.lookahead, 2, out.index)
    if out.kind == "event":
        raise Broken(f"{out.name} has events only")
    if time != out.next:
        raise Broken(f"rule 1: {out.name} at {time}, but {out.next} was promised")
    following = what.get("next", time + out.period)
    if following <= time:
        raise Broken(f"rule 1: the message of {out.name} at {time} promises the next one for {following}")
    if out.keeps and following != time + out.period:
        raise Broken(f"rule 1: {out.name} is in a ring of observations and must keep its period of {out.period}; the "
                     f"message at {time} promises the next one for {following}")
    out.next = following
    return (time, 0 if out.kind == "predictive" else 2, out.index)


def compare(system, nodes):
    """Every sink consumed what its source sent, in order, from the beginning."""
    for source, sink in system["connections"]:
        sent = nodes[source.rsplit(".", 1)[0]].outputs[source.rsplit(".", 1)[1]].sent
        node, name = sink.rsplit(".", 1)
        for i, (time, payload) in enumerate(nodes[node].consumed[name]):
            if i >= len(sent) or sent[i][0] != time:
                expected = sent[i][0] if i < len(sent) else "nothing"
                yield f"{sink}: message {i} has the time {time}, but {source} sent {expected}"
                break
            if payload is not None and sent[i][1] is not None and payload != sent[i][1]:
                yield f"{sink}: message {i} at {time} is not what {source} sent"
                break


def check(system, traces):
    nodes = {d["name"]: Node(d) for d in system["nodes"]}
    rings(system, nodes)
    broken, steps = {}, 0
    for line in traces:
        if not line.strip():
            continue
        what = json.loads(line)
        steps += 1
        name = what["node"]
        if name not in nodes:
            broken.setdefault(name, "there is no such node")
            continue
        if name in broken:
            continue
        try:
            step(system, nodes[name], what)
        except Broken as why:
            broken[name] = str(why)
    found = [f"{name}: {why}" for name, why in broken.items()]
    if not found:
        found = list(compare(system, nodes))
    return found, steps


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    with open(arguments[0]) as file:
        system = json.load(file)
    lines = []
    for name in arguments[1:]:
        with open(name) as file:
            lines += file.readlines()
    found, steps = check(system, lines)
    print("\n".join(found) or f"{steps} steps of {len(system['nodes'])} nodes keep all rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
