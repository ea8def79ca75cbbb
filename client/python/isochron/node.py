"""Nodes of flows in Python: programs that a scenario names with `run: [python3, heater.py]`.

    from isochron import node

    Temperature = node.message("example_msgs/msg/Temperature", "float64 degrees")
    Power = node.message("example_msgs/msg/Power", "float64 watts")

    class Heater(node.Node):
        "on below `wanted`"
        def __init__(self, parameters):
            self.wanted = parameters.number("wanted", 20)
            self.room = self.input("room", Temperature)                     # the latest message, or None
            self.output("heat", Power, self.step, every="1s")
        def step(self, time):                                               # nanoseconds
            on = self.room.latest is not None and self.room.latest.degrees < self.wanted
            return Power(500.0 if on else 0.0)

    if __name__ == "__main__":
        node.main(Heater)

An input with a function calls it for each message: `self.input("room", Temperature, self.heard)`, `def heard(self,
message, time)`. Outputs are predictive (`every=`), observations (`observes=`), or events: `alarm = self.event("alarm",
"float64", lookahead="10ms")`, then `alarm.send(time, value)`. `self.next_at(output, time)` while a message is made
says when the next one comes. start(time) and finish(time) are called where they are defined.

Or a program asks for time in its own loop:

    n = node.attach("Heater", about="on below 20")
    room = n.input("room", Temperature)
    heat = n.output("heat", Power, every="1s")
    while what := n.next():                                                  # None: the run is over
        if what.due is heat:
            n.put(Power(500.0 if room.latest and room.latest.degrees < 20 else 0.0))

Times are nanoseconds as int; spans are nanoseconds or text such as "10ms". What is printed goes to standard error.
"""
from __future__ import annotations

import os
import re
import socket
import struct
import sys
import traceback
from typing import Any, Callable

from ._messages import message, type_of

__all__ = ["Node", "main", "attach", "message"]

_HELLO, _START, _MESSAGE, _FILL, _FINISH = 1, 2, 3, 4, 5
_PORTS, _FILLED, _EVENT, _READY, _FAILED, _TYPES = 16, 17, 18, 19, 20, 21
_AS_THE_PERIOD_SAYS = -2**63
_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}


def nanoseconds(span: Any) -> int:
    """10ms, 1.5s, or nanoseconds as a number."""
    if not isinstance(span, str):
        return int(span)
    match = re.fullmatch(r"\s*([-+\d.]+)\s*(ns|us|ms|s|min|h)\s*", span)
    if not match:
        raise ValueError(f"`{span}` is no span of time; write 10ms or 1.5s")
    return round(float(match[1]) * _UNITS[match[2]])


class Failure(Exception):
    """The node cannot go on; its text is told with the node's name."""


class Parameters:
    """What stands under `with` in the scenario."""

    def __init__(self, given: dict[str, str]) -> None:
        self._given = given
        self.asked: dict[str, str] = {}

    def text(self, key: str, otherwise: str = "") -> str:
        self.asked.setdefault(key, str(otherwise))
        return self._given.get(key, otherwise)

    def number(self, key: str, otherwise: float) -> float:
        value = self.text(key, repr(otherwise))
        try:
            return float(value)
        except ValueError:
            raise Failure(f"`{key}: {value}` is not a number") from None

    def integer(self, key: str, otherwise: int) -> int:
        value = self.text(key, repr(otherwise))
        try:
            return int(value)
        except ValueError:
            raise Failure(f"`{key}: {value}` is not a whole number") from None

    def span(self, key: str, otherwise: Any) -> int:
        value = self.text(key, str(otherwise))
        try:
            return nanoseconds(int(value) if value.lstrip("-").isdigit() else value)
        except ValueError as error:
            raise Failure(f"`{key}`: {error}") from None


class Input:
    def __init__(self, name: str, kind: Any, heard: Callable[[Any, int], None] | None) -> None:
        self.name, self.type, self.heard = name, type_of(kind), heard
        self.latest: Any = None
        self.time: int | None = None


class Output:
    def __init__(self, link: _Link, index: int, name: str, kind: Any, fill: Any, flow: int, period: int, first: int,
                 lookahead: int, capacity: int, varies: bool) -> None:
        self.index, self.name, self.type, self.fill = index, name, type_of(kind), fill
        self.flow, self.period, self.first, self.lookahead = flow, period, first, lookahead
        self.capacity, self.varies = capacity, varies
        self._link = link

    def send(self, time: int, value: Any) -> None:
        """Events: at now + lookahead or later."""
        if self.flow != 2:
            raise Failure(f"output {self.name} has no events")
        self._link.say(_EVENT, struct.pack("<Iq", self.index, int(time)) + self.type.encode(value))


class _Ports:
    """The ports of a node; their declaration."""
    _link: _Link

    def _declare(self) -> None:
        self._inputs: list[Input] = []
        self._outputs: list[Output] = []
        self._next = _AS_THE_PERIOD_SAYS
        self._period = 0

    def input(self, name: str, kind: Any, heard: Callable[[Any, int], None] | None = None) -> Input:
        self._inputs.append(Input(name, kind, heard))
        return self._inputs[-1]

    def output(self, name: str, kind: Any, fill: Callable[[int], Any] | None = None, *, every: Any = None,
               observes: Any = None, first: Any = 0, capacity: int = 0, varying: bool = False) -> Output:
        if (every is None) == (observes is None):
            raise Failure(f"output {name} needs either every= or observes=")
        period = nanoseconds(observes if every is None else every)
        return self._add(name, kind, fill, 1 if every is None else 0, period, nanoseconds(first), 0, capacity, varying)

    def event(self, name: str, kind: Any, lookahead: Any, capacity: int = 0) -> Output:
        return self._add(name, kind, None, 2, 0, 0, nanoseconds(lookahead), capacity, False)

    def _add(self, name: str, kind: Any, fill: Any, *rest: Any) -> Output:
        self._outputs.append(Output(self._link, len(self._outputs), name, kind, fill, *rest))
        return self._outputs[-1]

    def next_at(self, output: Output, time: int) -> None:
        """While a message is made: when the next one comes, this once."""
        self._next = int(time)

    def set_period(self, output: Output, period: Any) -> None:
        """While a message is made: the period from now on."""
        self._period = nanoseconds(period)


class Node(_Ports):
    """What nodes derive from; see the module."""

    def __new__(cls, *_: Any, **__: Any) -> Any:
        made = super().__new__(cls)
        made._link = _Link.current  # type: ignore[assignment]
        made._declare()
        return made

    def start(self, time: int) -> None:
        """Before the first message; events may be sent."""

    def finish(self, time: int) -> None:
        """After the last message."""


class _Link:
    """The socket to the node's other half, and its frames."""
    current: _Link | None = None

    def __init__(self) -> None:
        descriptor = os.environ.get("ISOCHRON_NODE_FD")
        if descriptor is None:
            sys.exit("This program is a node: name it in a scenario (`run: [python3, node.py]`) and start that with "
                     "`isochron run`.")
        self._socket = socket.socket(fileno=int(descriptor))
        self._in = bytearray()
        self._at = 0
        self._out = bytearray()
        _Link.current = self
        kind, body = self.read() or (0, b"")
        if kind != _HELLO:
            sys.exit("node: its other half does not speak the protocol of nodes")
        self.type, at = _text(body, 4)
        (count,) = struct.unpack_from("<I", body, at)
        at += 4
        given: dict[str, str] = {}
        for _ in range(count):
            key, at = _text(body, at)
            given[key], at = _text(body, at)
        self.parameters = Parameters(given)

    def read(self) -> tuple[int, memoryview | bytes] | None:
        """Kind and body of the next frame; None when the other half is gone."""
        while True:
            there = len(self._in) - self._at
            if there >= 4:
                (size,) = struct.unpack_from("<I", self._in, self._at)
                if there >= 4 + size:
                    begin = self._at + 4
                    self._at = begin + size
                    return self._in[begin], bytes(self._in[begin + 1:self._at])
            if self._out:
                self.flush()
            del self._in[:self._at]
            self._at = 0
            try:
                came = self._socket.recv(1 << 16)
            except OSError:
                return None
            if not came:
                return None
            self._in += came

    def say(self, kind: int, body: bytes = b"") -> None:
        self._out += struct.pack("<IB", len(body) + 1, kind) + body

    def flush(self) -> None:
        self._socket.sendall(self._out)
        self._out.clear()

    def fail(self, why: str) -> None:
        self.say(_FAILED, _pack(why))
        try:
            self.flush()
        except OSError:
            pass

    def say_ports(self, node: _Ports, type_name: str, about: str) -> None:
        body = _pack(type_name) + _pack(about) + struct.pack("<I", len(node._inputs))
        for port in node._inputs:
            body += _pack(port.name) + _pack(port.type.text)
        body += struct.pack("<I", len(node._outputs))
        for out in node._outputs:
            body += _pack(out.name) + _pack(out.type.text)
            body += struct.pack("<BBqqqI", out.flow, out.varies, out.period, out.first, out.lookahead, out.capacity)
        body += struct.pack("<I", len(self.parameters.asked))
        for key, otherwise in self.parameters.asked.items():
            body += _pack(key) + _pack(otherwise)
        self.say(_PORTS, body)

    def say_types(self, types: list[tuple[str, str]]) -> None:
        body = struct.pack("<I", len(types))
        for name, about in types:
            body += _pack(name) + _pack(about)
        self.say(_TYPES, body)
        self.flush()


def _pack(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<I", len(data)) + data


def _text(body: Any, at: int) -> tuple[str, int]:
    (size,) = struct.unpack_from("<I", body, at)
    return bytes(body[at + 4:at + 4 + size]).decode(), at + 4 + size


class Happening:
    """What next() brings: `message` with `input` and `time`, or `due`, an output whose message is to be put."""
    __slots__ = ("time", "input", "message", "due", "started", "finished")

    def __init__(self, time: int, input: Input | None = None, message: Any = None, due: Output | None = None,
                 started: bool = False, finished: bool = False) -> None:
        self.time, self.input, self.message, self.due = time, input, message, due
        self.started, self.finished = started, finished


class Attached(_Ports):
    """A node that asks for time in its own loop."""

    def __init__(self, link: _Link, type_name: str, about: str) -> None:
        self._link, self._type, self._about = link, type_name, about
        self._declare()
        self._told = False
        self._due: Output | None = None
        self._answer = False
        self._value: Any = None
        self.parameters = link.parameters

    def next(self) -> Happening | None:
        """What happens next; waits for it. None when the run is over."""
        link = self._link
        if not self._told:
            link.say_ports(self, self._type, self._about)
            self._sends_events = any(out.flow == 2 for out in self._outputs)
            self._told = True
        if self._due is not None:
            if self._value is None:
                link.fail(f"output {self._due.name}: its message was due and was not put")
                return None
            link.say(_FILLED, struct.pack("<Iqq", self._due.index, self._next, self._period) +
                     self._due.type.encode(self._value))
            self._due, self._value = None, None
        if self._answer:
            link.say(_READY)
            self._answer = False
        frame = link.read()
        if frame is None:
            return None
        kind, body = frame
        if kind == _MESSAGE:
            number, time = struct.unpack_from("<Iq", body)
            port = self._inputs[number]
            port.latest, port.time = port.type.decode(body[12:]), time
            self._answer = self._sends_events
            return Happening(time, port, port.latest)
        if kind == _FILL:
            number, time = struct.unpack_from("<Iq", body)
            self._due = self._outputs[number]
            self._next, self._period = _AS_THE_PERIOD_SAYS, 0
            return Happening(time, due=self._due)
        (time,) = struct.unpack_from("<q", body)
        self._answer = True
        return Happening(time, started=kind == _START, finished=kind == _FINISH)

    def put(self, value: Any) -> None:
        """The message that is due."""
        self._value = value

    def fail(self, why: str) -> None:
        self._link.fail(why)


def attach(type_name: str = "Node", about: str = "") -> Attached:
    """This program is one node, which asks for time in its own loop."""
    link = _Link()
    if link.type == "?":
        link.say_types([(type_name, about)])
        sys.exit(0)
    return Attached(link, type_name, about)


def main(*types: type[Node]) -> None:
    """Serves a node of one of these types until the run ends."""
    link = _Link()
    abouts = {kind.__name__: (kind.__doc__ or "").strip().split("\n")[0] for kind in types}
    if link.type == "?":
        link.say_types(list(abouts.items()))
        return
    try:
        chosen = [kind for kind in types if kind.__name__ == link.type or (not link.type and len(types) == 1)]
        if not chosen:
            raise Failure(f"the program has no node type `{link.type}`; it has {', '.join(abouts)}")
        _serve(link, chosen[0](link.parameters), chosen[0].__name__, abouts[chosen[0].__name__])
    except Failure as failure:
        link.fail(str(failure))
        sys.exit(1)
    except Exception as error:  # whatever it is, the run is to hear of it
        traceback.print_exc()
        link.fail(f"{type(error).__name__}: {error}")
        sys.exit(1)


def _serve(link: _Link, node: Any, type_name: str, about: str) -> None:
    link.say_ports(node, type_name, about)
    inputs, outputs = node._inputs, node._outputs
    sends_events = any(out.flow == 2 for out in outputs)
    head = struct.Struct("<Iq").unpack_from
    filled = struct.Struct("<Iqq").pack
    while (frame := link.read()) is not None:
        kind, body = frame
        if kind == _MESSAGE:
            number, time = head(body)
            port = inputs[number]
            port.latest, port.time = port.type.decode(body[12:]), time
            if port.heard is not None:
                port.heard(port.latest, time)
            if sends_events:
                link.say(_READY)
        elif kind == _FILL:
            number, time = head(body)
            out = outputs[number]
            node._next, node._period = _AS_THE_PERIOD_SAYS, 0
            value = out.type.encode(out.fill(time))
            link.say(_FILLED, filled(number, node._next, node._period) + value)
        else:
            (time,) = struct.unpack_from("<q", body)
            (node.start if kind == _START else node.finish)(time)
            link.say(_READY)
