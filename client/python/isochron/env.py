"""A scenario as an environment for learning: reset() and step(action), many worlds at once.

    env = isochron.Env("scenario.yaml", observe=["prey.position.x", "prey.velocity.x"], act=["prey/fx"], steps=10,
                       reward=lambda seen, action, before: -abs(seen[..., 0]))
    seen, info = env.reset(seed=1)
    for _ in range(1000):
        seen, reward, terminated, truncated, info = env.step(policy(seen))
        if terminated or truncated:
            seen, info = env.reset()

The interface is Gymnasium's, without needing it. With `worlds=64` everything has a first dimension of 64, worlds that
ended begin again by themselves, and their last observation is in info["final_observation"]. Programs in libraries take
part as in mode callback; for executables there is isochron.start().
"""
from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from ._library import load as _load_library
from .runs import CommandError, Path, Setting, _text

__all__ = ["Env"]

Array = Any
Reward = Callable[[Array, Array, Array], Any]
_DOUBLES = ctypes.POINTER(ctypes.c_double)


def _library() -> ctypes.CDLL:
    library = _load_library("env", "ISOCHRON_ENV_LIBRARY")
    pointer, text, whole = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32
    library.isochron_env_make.restype = pointer
    library.isochron_env_make.argtypes = [text, ctypes.POINTER(text), whole, whole, text, text, ctypes.c_char_p, whole]
    library.isochron_env_free.argtypes = [pointer]
    for name in ("observed", "acted", "why"):
        function = getattr(library, "isochron_env_" + name)
        function.restype, function.argtypes = text, [pointer]
    for name in ("observations", "actions"):
        function = getattr(library, "isochron_env_" + name)
        function.restype, function.argtypes = whole, [pointer]
    library.isochron_env_step_seconds.restype = ctypes.c_double
    library.isochron_env_step_seconds.argtypes = [pointer]
    library.isochron_env_reset.argtypes = [pointer, whole, ctypes.c_uint64, pointer]
    library.isochron_env_step.restype = None
    library.isochron_env_step.argtypes = [pointer, pointer, whole, pointer, pointer, pointer]
    library.isochron_env_snapshot_size.restype, library.isochron_env_snapshot_size.argtypes = whole, [pointer, whole]
    library.isochron_env_snapshot.restype, library.isochron_env_snapshot.argtypes = None, [pointer, whole, pointer]
    library.isochron_env_restore.argtypes = [pointer, whole, pointer, pointer]
    library.isochron_env_bare.restype = ctypes.c_double
    library.isochron_env_bare.argtypes = [pointer, whole, whole, whole]
    return library


class Env:
    """Worlds to act in. `steps` of the world for each step(); names as in journals. Use close(), or a `with`."""

    def __init__(self, scenario: Path, *, observe: Sequence[str] | None = None, act: Sequence[str] | None = None,
                 steps: int = 1, worlds: int | None = None, set: Mapping[str, Setting] | None = None,
                 reward: Reward | None = None, terminated: Callable[[Array], Any] | None = None) -> None:
        if steps < 1:
            raise ValueError("steps must be 1 or more")
        self._library = _library()
        sets = [f"{path}={_text(value)}".encode() for path, value in dict(set or {}).items()]
        array = (ctypes.c_char_p * max(1, len(sets)))(*sets)
        why = ctypes.create_string_buffer(8192)
        self._env = self._library.isochron_env_make(str(scenario).encode(), array, len(sets), worlds or 1,
                                                    ",".join(observe or []).encode(), ",".join(act or []).encode(),
                                                    why, len(why))
        if not self._env:
            raise CommandError(why.value.decode(errors="replace"))
        self.vector = worlds is not None
        self.worlds = worlds or 1
        self.steps = steps
        self.observed = self._library.isochron_env_observed(self._env).decode().split("\n")[:-1]
        self.acted = self._library.isochron_env_acted(self._env).decode().split("\n")[:-1]
        self.dt = self._library.isochron_env_step_seconds(self._env) * steps
        self._reward, self._terminated = reward, terminated
        shape = (self.worlds, len(self.observed))
        self._seen, self._before = numpy.zeros(shape), numpy.zeros(shape)
        self._actions = numpy.zeros((self.worlds, len(self.acted)))
        self._times, self._ended = numpy.zeros(self.worlds), numpy.zeros(self.worlds, dtype=numpy.uint8)
        self._seeds = [1 + i for i in range(self.worlds)]
        self._nothing = numpy.zeros(self.worlds)
        self._never = numpy.zeros(self.worlds, dtype=bool)
        self._step = self._library.isochron_env_step
        self._where = [self._seen.ctypes.data, self._actions.ctypes.data, self._times.ctypes.data, self._ended.ctypes.data]

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """All worlds to their beginning. `seed`: of the first; the others have the next ones."""
        if seed is not None:
            self._seeds = [int(seed) + i for i in range(self.worlds)]
        for world in range(self.worlds):
            self._reset(world)
        self._times[:] = 0
        return self._shown(self._seen.copy()), {"time": self._shown(self._times.copy())}

    def step(self, action: Any) -> tuple[Array, Any, Any, Any, dict[str, Any]]:
        """Observation, reward, terminated, truncated (the scenario's duration is over), info."""
        self._actions[...] = action
        if self._reward is not None:
            self._before[...] = self._seen
        seen, actions, times, ended = self._where
        self._step(self._env, actions, self.steps, seen, times, ended)
        truncated = self._ended == 1
        if (self._ended == 2).any():
            raise CommandError(self._library.isochron_env_why(self._env).decode(errors="replace"))
        reward, terminated = self._nothing, self._never
        if self._reward is not None:
            reward = numpy.asarray(self._reward(self._seen, self._actions, self._before), dtype=float)
        if self._terminated is not None:
            terminated = numpy.asarray(self._terminated(self._seen), dtype=bool)
        info: dict[str, Any] = {"time": self._shown(self._times.copy())}
        result = self._seen.copy()
        if self.vector:
            over = truncated | terminated
            if over.any():
                info["final_observation"] = result.copy()
                for world in numpy.flatnonzero(over):
                    self._reset(int(world))
                    result[world] = self._seen[world]
            return result, reward.copy(), terminated.copy(), truncated, info
        return result[0], float(reward.reshape(-1)[0]), bool(terminated.reshape(-1)[0]), bool(truncated[0]), info

    def snapshot(self, world: int = 0) -> Array:
        """The whole state of a world, to come back to with restore(); programs begin anew then."""
        state = numpy.zeros(self._library.isochron_env_snapshot_size(self._env, world))
        self._library.isochron_env_snapshot(self._env, world, state.ctypes.data)
        return state

    def restore(self, state: Array, world: int = 0) -> Array:
        """The observation there."""
        state = numpy.ascontiguousarray(state, dtype=float)
        if state.size != self._library.isochron_env_snapshot_size(self._env, world):
            raise ValueError("this is a snapshot of another world")
        if not self._library.isochron_env_restore(self._env, world, state.ctypes.data, self._seen[world].ctypes.data):
            raise CommandError(self._library.isochron_env_why(self._env).decode(errors="replace"))
        return self._shown(self._seen.copy())

    def bare_seconds(self, rounds: int, rounds_between: int = 0) -> float:
        """What so many step()s of one world cost without Python and without an environment around it; for benchmarks."""
        return float(self._library.isochron_env_bare(self._env, rounds, self.steps, rounds_between))

    def close(self) -> None:
        if self._env:
            self._library.isochron_env_free(self._env)
            self._env = None

    def __enter__(self) -> "Env":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_env", None):
            self.close()

    def _reset(self, world: int) -> None:
        where = self._seen[world].ctypes.data
        if not self._library.isochron_env_reset(self._env, world, self._seeds[world], where):
            raise CommandError(self._library.isochron_env_why(self._env).decode(errors="replace"))

    def _shown(self, values: Array) -> Array:
        return values if self.vector else values[0]
