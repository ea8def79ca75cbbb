"""Running scenarios from Python, through the `isochron` command.

    run = isochron.run("scenario.yaml", duration=5, set={"time.quantum": "250us"})
    run.digest, run.drift, run.end                 # how it went
    run.journal["/world/state"]["bodies"]          # everything that happened, in numpy
    runs = isochron.sweep("scenario.yaml", {"time.cpu_speed": [1, 0.5, 0.25], "seed": [1, 2, 3]})
"""
from __future__ import annotations

import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from .journal import Journal, load

__all__ = ["CommandError", "Run", "bisect", "check", "command", "fork", "replay", "run", "sweep"]

Setting = Union[str, int, float, bool]
Path = Union[str, "os.PathLike[str]"]


class CommandError(RuntimeError):
    """The command refused, before anything started: bad input. Its text says where and why."""


def command() -> str:
    """The `isochron` command: $ISOCHRON, or that of the build tree this file is in, or the one on the PATH."""
    here = pathlib.Path(__file__).resolve().parent
    places = [os.environ.get("ISOCHRON", ""), *(str(p / "build/release/bin/isochron") for p in here.parents),
              *(str(p / "bin/isochron") for p in here.parents)]
    for place in filter(None, places):
        if os.access(place, os.X_OK):
            return place
    found = shutil.which("isochron")
    if found is None:
        raise CommandError("there is no isochron command; build it with ./dev build, or set ISOCHRON to its path")
    return found


@dataclass
class Run:
    """How a run went. `report` is everything that `isochron run --json` says."""

    report: dict[str, Any]
    settings: dict[str, Setting] = field(default_factory=dict)
    _keep: Any = None  # the folder of a journal that nobody asked for

    @property
    def end(self) -> str:
        """finished, interrupted, failed, or violated: ended at the first violation"""
        return str(self.report["end"])

    @property
    def digest(self) -> str:
        return str(self.report["digest"])

    @property
    def expectations(self) -> list[dict[str, Any]]:
        """What became of each: its name, verdict (held, violated, unseen), why, and first violations."""
        return list(self.report.get("expectations", []))

    @property
    def held(self) -> bool:
        """Whether all expectations held; true where there are none."""
        return all(one["verdict"] == "held" for one in self.expectations)

    @property
    def drift(self) -> float:
        """The greatest Δ, in seconds."""
        return float(self.report["drift_max_ns"]) * 1e-9

    @property
    def file(self) -> str:
        """Where the journal is."""
        return str(self.report["journal"]["file"])

    @property
    def journal(self) -> Journal:
        return load(self.file)


def call_command(arguments: Sequence[str]) -> tuple[int, str]:
    """Its code and what it printed. Raises CommandError for bad input."""
    done = subprocess.run([command(), *arguments], capture_output=True, text=True)
    if done.returncode == 2:
        raise CommandError(done.stderr.strip())
    if not done.stdout.strip():
        raise CommandError(f"isochron ended with code {done.returncode}: {done.stderr.strip()}")
    return done.returncode, done.stdout


def _text(value: Setting) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _seconds(value: Union[str, float]) -> str:
    return value if isinstance(value, str) else f"{round(value * 1e9)}ns"


def run(scenario: Path, *, duration: Union[str, float, None] = None, seed: int | None = None,
        set: Mapping[str, Setting] | None = None, journal: Path | None = None) -> Run:  # noqa: A002
    """Runs a scenario to its end. `duration` in seconds or as "500ms"; `set` as of --set. Without `journal` the record is
    kept until the Run is let go of. Raises CommandError for bad input; a run that fails has end == "failed"."""
    keep = None
    if journal is None:
        keep = tempfile.TemporaryDirectory(prefix="isochron-")
        journal = os.path.join(keep.name, "run.mcap")
    arguments = ["run", os.fspath(scenario), "--json", "--journal", os.fspath(journal)]
    if duration is not None:
        arguments += ["--duration", _seconds(duration)]
    if seed is not None:
        arguments += ["--seed", str(seed)]
    settings = dict(set or {})
    for path, value in settings.items():
        arguments += ["--set", f"{path}={_text(value)}"]
    _, out = call_command(arguments)
    return Run(json.loads(out), settings, keep)


def check(scenario: Path) -> None:
    """Raises CommandError with every mistake in the scenario."""
    call_command(["check", os.fspath(scenario)])


def replay(journal: Path) -> dict[str, Any]:
    """Runs a journal again; ["same"] says whether the digest was proved."""
    with tempfile.TemporaryDirectory(prefix="isochron-") as folder:
        _, out = call_command(["replay", os.fspath(journal), "--json", "--journal", os.path.join(folder, "replay.mcap")])
    return dict(json.loads(out))


def fork(journal: Path, at: Union[str, float], branches: Mapping[str, Sequence[str]], *,
         until: Union[str, float, None] = None, folder: Path | None = None) -> dict[str, Run]:
    """What if: replays a journal to `at` and goes on in other ways, each with its own changes: "KEY=VALUE", or an entry of
    a fault timeline without its time, "{push: prey, force: [0, 0, 9], for: 1s}". Gives a Run for each branch by name;
    with `folder` their journals are kept there. `first_difference_s` in a report says when it parted from the record."""
    keep = None
    if folder is None:
        keep = tempfile.TemporaryDirectory(prefix="isochron-")
        folder = keep.name
    arguments = ["fork", os.fspath(journal), "--json", "--at", _seconds(at), "-o", os.fspath(folder)]
    if until is not None:
        arguments += ["--until", _seconds(until)]
    for name, changes in branches.items():
        arguments += ["--branch", name + ": " + "; ".join([changes] if isinstance(changes, str) else changes)]
    _, out = call_command(arguments)
    runs = {}
    for one in json.loads(out)["branches"]:
        report = dict(one.get("report", {"end": "failed", "why": one.get("why", "")}))
        report["first_difference_s"] = one.get("first_difference_s")
        report["journal"] = {**dict(report.get("journal", {})), "file": one["journal"]}
        runs[one["branch"]] = Run(report, {}, keep)
    return runs


def bisect(file: Path, *, over: Mapping[str, tuple[Setting, Setting]] | None = None,
           set: Mapping[str, Setting] | Sequence[str] | None = None,  # noqa: A002
           at: tuple[Union[str, float], Union[str, float]] | None = None, by: str | None = None,
           tolerance: Setting | None = None, trials: int = 1) -> dict[str, Any]:
    """Finds a border. Of a scenario: `over={"time.cpu_speed": (0.1, 1)}` gives {"holds", "fails"}, the two values next to
    each other between which expectations begin to fail. Of a journal: with `set` alone the first time at which the
    change makes a difference, {"time_s"}; with `at=(1.0, 9.0)` the border between times of making it."""
    with tempfile.TemporaryDirectory(prefix="isochron-") as folder:
        arguments = ["bisect", os.fspath(file), "--json", "-o", folder, "--trials", str(trials)]
        for key, (low, high) in dict(over or {}).items():
            arguments += ["--over", f"{key}={_text(low)}..{_text(high)}"]
        changes = [f"{path}={_text(value)}" for path, value in set.items()] if isinstance(set, Mapping) else list(set or [])
        for change in changes:
            arguments += ["--set", change]
        if at is not None:
            low_s, high_s = (value if isinstance(value, str) else f"{value}s" for value in at)
            arguments += ["--at", f"{low_s}..{high_s}"]
        if by is not None:
            arguments += ["--by", by]
        if tolerance is not None:
            arguments += ["--tolerance", _text(tolerance)]
        _, out = call_command(arguments)
    return dict(json.loads(out))


def sweep(scenario: Path, settings: Mapping[str, Iterable[Setting]], *, folder: Path | None = None,
          duration: Union[str, float, None] = None) -> list[Run]:
    """One run for each combination of settings. With `folder` the journals are kept there, named by their settings."""
    names = list(settings)
    runs = []
    for values in itertools.product(*(list(settings[name]) for name in names)):
        chosen = dict(zip(names, values))
        journal = None
        if folder is not None:
            os.makedirs(folder, exist_ok=True)
            label = "_".join(re.sub(r"[^\w.]+", "-", f"{name}={_text(value)}") for name, value in chosen.items())
            journal = os.path.join(os.fspath(folder), label + ".mcap")
        runs.append(run(scenario, set=chosen, duration=duration, journal=journal))
    return runs
