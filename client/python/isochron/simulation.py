"""A run that Python steps: the world stands still until it is told to go on, and everything in it can be read and set.

    with isochron.start("scenario.yaml") as simulation:
        while simulation.step():                                   # one step of the world
            x = simulation.read("/world/state")["bodies"][13]
            simulation.set("arm/elbow", -0.5 * x)                  # from the next step on
    print(simulation.run.digest)

What is set, pushed or broken is in the journal with its time, so that `isochron replay` proves the same digest.
"""
from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import tempfile
import urllib.parse
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Union

from ._ros2msg import Layout, parse_schema
from .runs import CommandError, Path, Run, Setting, _seconds, _text, command

__all__ = ["Simulation", "start"]

_ADDRESS = re.compile(r"http://(127\.0\.0\.1:\d+)(/[0-9a-f]+/)")


class Simulation:
    """A run under way, paused. Use it in a `with`, or call close()."""

    def __init__(self, process: "subprocess.Popen[str]", host: str, path: str, keep: Any) -> None:
        self._process = process
        self._server = http.client.HTTPConnection(host, timeout=600)
        self._path = path
        self._keep = keep
        self._layouts: dict[str, Layout] = {}
        self._time = 0.0
        self._run: Run | None = None
        self._want({"do": "pause"})  # from now on the newest of every topic is kept

    @property
    def time(self) -> float:
        """Simulated seconds."""
        return self._time

    @property
    def ended(self) -> bool:
        return self._run is not None

    @property
    def run(self) -> Run:
        """How it went. Ends the run if it has not ended."""
        if self._run is None:
            self.close()
        assert self._run is not None
        return self._run

    def topics(self) -> list[str]:
        """What can be read so far; more come with the first steps."""
        return [str(channel["topic"]) for channel in json.loads(self._get("api/about", {}))["channels"]]

    def step(self, count: int = 1) -> bool:
        """So many steps of the world. False: the run has come to its end."""
        if self._run is not None:
            return False
        answer = self._want({"do": "step", "count": count})
        if answer is None or answer["ended"]:
            self._finish()
            return False
        self._time = float(answer["t"])
        return True

    def read(self, topic: str) -> dict[str, Any] | None:
        """The newest message of a topic: numbers, arrays and texts by their names; None before the first."""
        data = self._get("api/latest", {"topic": topic})
        if len(data) <= 8:
            return None
        if topic not in self._layouts:
            schema = json.loads(self._get("api/schema", {"topic": topic}))
            self._layouts[topic] = Layout(parse_schema(schema["name"], schema["text"]))
        return self._layouts[topic].row(data[8:])

    def set(self, actuator: str, value: float) -> None:
        """What an actuator is told, from the next step on, until somebody tells it otherwise."""
        self._want({"do": "set", "actuator": actuator, "value": float(value)})

    def push(self, body: str, force: Sequence[float], seconds: float = 0.1) -> None:
        """A force on a body, in newtons and the world's axes."""
        self._want({"do": "push", "body": body, "force": [float(f) for f in force], "seconds": float(seconds)})

    def fault(self, what: str, about: str, seconds: float) -> None:
        """Breaks something for a while: "blind" a sensor, "cut" a robot off its actuators, "delay" a program."""
        if what not in ("blind", "cut", "delay"):
            raise ValueError(f"there is no fault {what!r}: blind, cut or delay")
        self._want({"do": "fault", "what": what, "about": about, "seconds": float(seconds)})

    def marker(self, text: str) -> None:
        """A note in the journal."""
        self._want({"do": "marker", "text": text})

    def go_on(self) -> Run:
        """Lets it run to its end."""
        if self._run is None:
            self._want({"do": "resume"})
            self._finish()
        return self.run

    def close(self) -> None:
        """Ends the run where it is."""
        if self._run is None:
            self._want({"do": "stop"})
            self._finish()

    def __enter__(self) -> "Simulation":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _get(self, question: str, arguments: Mapping[str, str]) -> bytes:
        self._server.request("GET", self._path + question + "?" + urllib.parse.urlencode(arguments))
        response = self._server.getresponse()
        data = response.read()
        if response.status != 200:
            raise CommandError(data.decode(errors="replace").strip())
        return data

    def _want(self, wish: Mapping[str, Any]) -> dict[str, Any] | None:
        """None: the run has ended."""
        if self._run is not None:
            raise CommandError("the run has ended")
        try:
            return dict(json.loads(self._get("api/do", {"wish": json.dumps(wish)})))
        except CommandError as error:
            if "has ended" in str(error):
                return None
            raise

    def _finish(self) -> None:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()  # the report; the page server stays until it is told to go
        self._server.close()
        while True:  # told again: a signal between the report and its waiting for one would be lost
            self._process.send_signal(signal.SIGINT)
            try:
                _, errors = self._process.communicate(timeout=0.5)
                break
            except subprocess.TimeoutExpired:
                continue
        if not line.strip():
            raise CommandError(errors.strip() or "the run ended without a report")
        self._run = Run(json.loads(line), {}, self._keep)
        self._time = float(self._run.report.get("simulated_s", self._time))


def start(scenario: Path, *, duration: Union[str, float, None] = None, seed: int | None = None,
          set: Mapping[str, Setting] | None = None, journal: Path | None = None) -> Simulation:  # noqa: A002
    """Starts a scenario and holds it before its first step. Arguments as of run(); raises CommandError for bad input."""
    keep = tempfile.TemporaryDirectory(prefix="isochron-")
    journal = os.path.join(keep.name, "run.mcap") if journal is None else journal
    arguments = [command(), "run", os.fspath(scenario), "--view", "--paused", "--json", "--quiet", "--journal", os.fspath(journal)]
    if duration is not None:
        arguments += ["--duration", _seconds(duration)]
    if seed is not None:
        arguments += ["--seed", str(seed)]
    for path, value in dict(set or {}).items():
        arguments += ["--set", f"{path}={_text(value)}"]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        found = _ADDRESS.search(line)
        if found:
            return Simulation(process, found[1], found[2], keep)
    process.wait()
    raise CommandError(said.strip())
