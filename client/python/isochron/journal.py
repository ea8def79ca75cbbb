"""A run's journal in numpy.

    journal = isochron.load("run.mcap")
    journal.topics                          # {"/world/state": Topic(type=…, count=…), …}
    state = journal["/world/state"]         # a Table: columns over time
    state.time                              # seconds, float64[n]
    state["bodies"]                         # float64[n, 26]
    journal.names                           # what its numbers are called: ["drift", "prey.position.x", …]
    apart = journal.numbers("prey.position.x", "predator.position.x")   # a Table of them
    journal.report["drift_max_ns"]          # the figures at the end of the run

Reads MCAP files with CDR messages and ros2msg schemas, as `isochron run` writes them, without any package but numpy.
Names are the command's: `names` and `numbers` ask `isochron journal`, so that there is one answer to what a name means.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import json
import mmap
import os
import struct
from dataclasses import dataclass
from typing import Any, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from ._ros2msg import Layout, parse_schema

__all__ = ["Journal", "JournalError", "Table", "Topic", "load"]

_MAGIC = b"\x89MCAP0\r\n"
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _CHUNK_INDEX, _ATTACHMENT, _ATTACHMENT_INDEX = 3, 4, 5, 6, 8, 9, 0x0A
_METADATA, _STATISTICS, _FOOTER = 0x0C, 0x0B, 2


class JournalError(RuntimeError):
    """The file cannot be read; its text says why."""


@dataclass(frozen=True)
class Topic:
    """What a channel carries."""

    name: str
    type: str
    count: int


@dataclass
class _Channel:
    id: int
    schema: int
    topic: str
    encoding: str
    metadata: dict[str, str]


class Table(Mapping[str, npt.NDArray[Any]]):
    """The messages of one topic as columns: `table["position.x"]` is an array over time, `table.time` are the seconds."""

    def __init__(self, topic: str, time_ns: npt.NDArray[np.int64], columns: dict[str, npt.NDArray[Any]]) -> None:
        self.topic = topic
        self.time_ns = time_ns
        self._columns = columns

    @property
    def time(self) -> npt.NDArray[np.float64]:
        return self.time_ns * 1e-9

    @property
    def fields(self) -> list[str]:
        return list(self._columns)

    def __getitem__(self, field: str) -> npt.NDArray[Any]:
        try:
            return self._columns[field]
        except KeyError:
            raise KeyError(f"{self.topic} has no {field!r}; it has {', '.join(self._columns)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"<Table {self.topic}: {len(self.time_ns)} rows of {', '.join(self._columns)}>"


class _Zstd:
    """libzstd, which the isochron command needs as well."""

    def __init__(self) -> None:
        name = ctypes.util.find_library("zstd") or "libzstd.so.1"
        try:
            self._library = ctypes.CDLL(name)
        except OSError as error:
            raise JournalError(f"libzstd was not found: {error}") from None
        self._library.ZSTD_decompress.restype = ctypes.c_size_t
        self._library.ZSTD_isError.argtypes = [ctypes.c_size_t]

    def unpack(self, data: bytes, size: int) -> bytes:
        out = ctypes.create_string_buffer(size)
        done = self._library.ZSTD_decompress(out, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
        if self._library.ZSTD_isError(done) or done != size:
            raise JournalError("a chunk cannot be unpacked")
        return out.raw


class _Cursor:
    """Steps through the fields of one record."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, form: str) -> Any:
        (value,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def text(self) -> str:
        return self.bytes().decode(errors="replace")

    def bytes(self) -> bytes:
        size = self.take("I")
        value = self.data[self.at:self.at + size]
        if len(value) != size:
            raise JournalError("a record ends early")
        self.at += size
        return value

    def map(self) -> dict[str, str]:
        inner = _Cursor(self.bytes())
        found = {}
        while inner.at < len(inner.data):
            key = inner.text()
            found[key] = inner.text()
        return found


class Journal(Mapping[str, Table]):
    """One run. Topics are read when they are asked for; only the chunks that have them are unpacked."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        with open(self.path, "rb") as file:
            if os.fstat(file.fileno()).st_size < 2 * len(_MAGIC):
                raise JournalError(f"{self.path} is no journal")
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._data[:8] != _MAGIC:
            raise JournalError(f"{self.path} is no journal")
        self._schemas: dict[int, tuple[str, str, str]] = {}
        self._channels: dict[int, _Channel] = {}
        self._chunks: list[int] = []  # where their contents begin
        self._chunk_channels: dict[int, set[int]] = {}  # as the index says
        self._counts: dict[int, int] = {}
        self._attachments: dict[str, bytes] = {}
        self.metadata: dict[str, dict[str, str]] = {}
        self._zstd: _Zstd | None = None
        self._cache: dict[str, Table] = {}
        self._scan()

    # ---- what there is ----

    @property
    def topics(self) -> dict[str, Topic]:
        return {c.topic: Topic(c.topic, self._schemas.get(c.schema, ("", "", ""))[0], self._counts.get(c.id, 0))
                for c in self._channels.values()}

    @property
    def report(self) -> dict[str, Any]:
        """What the run found at its end, as `isochron run --json` prints it; {} for a run that was killed."""
        return json.loads(self._attachments.get("report.json", b"{}"))

    @property
    def scenario(self) -> str:
        """The scenario file's text."""
        return self._attachments.get("scenario.yaml", b"").decode(errors="replace")

    @property
    def digest(self) -> str:
        return self.metadata.get("isochron", {}).get("digest", "")

    @property
    def names(self) -> list[str]:
        """What the numbers in it are called, as in plots, exports and expectations."""
        from .runs import call_command
        return call_command(["journal", "names", self.path])[1].split("\n")[:-1]

    def numbers(self, *names: str) -> Table:
        """Numbers by their names, over time; nan where one has no sample at a time at which another has. Raises
        CommandError, with the nearest name, for one that the journal does not have."""
        from .runs import call_command
        text = call_command(["journal", "export", self.path, ",".join(names)])[1]
        rows = [row.split(",") for row in text.splitlines()[1:]]
        columns = {name: np.array([float(row[i + 1] or "nan") for row in rows]) for i, name in enumerate(names)}
        return Table(", ".join(names), np.array([int(row[0]) for row in rows], dtype=np.int64), columns)

    def __getitem__(self, topic: str) -> Table:
        if topic not in self._cache:
            self._cache[topic] = self._read(topic)
        return self._cache[topic]

    def __iter__(self) -> Iterator[str]:
        return iter(self.topics)

    def __len__(self) -> int:
        return len(self._channels)

    def __repr__(self) -> str:
        return f"<Journal {self.path}: {len(self._channels)} topics>"

    # ---- the file ----

    def _records(self, data: Any, at: int, end: int) -> Iterator[tuple[int, int, int]]:
        """(kind, where its content begins, its size)"""
        while at + 9 <= end:
            kind, size = struct.unpack_from("<BQ", data, at)
            if at + 9 + size > end:
                return  # cut
            yield kind, at + 9, size
            at += 9 + size

    def _scan(self) -> None:
        """Walks the records of the file without unpacking chunks; a file that was cut gives what it has."""
        for kind, at, size in self._records(self._data, len(_MAGIC), len(self._data)):
            if kind == _CHUNK:
                self._chunks.append(at)
            elif kind in (_SCHEMA, _CHANNEL):
                self._define(kind, self._data[at:at + size])
            elif kind == _CHUNK_INDEX:
                self._index_chunk(_Cursor(self._data[at:at + size]))
            elif kind == _ATTACHMENT:
                self._attach(_Cursor(self._data[at:at + size]))
            elif kind == _METADATA:
                cursor = _Cursor(self._data[at:at + size])
                name = cursor.text()
                self.metadata.setdefault(name, {}).update(cursor.map())
            elif kind == _STATISTICS:
                self._count(_Cursor(self._data[at:at + size]))
            elif kind == _FOOTER:
                break
        if not self._channels:  # cut before its summary: the chunks have them
            for chunk in self._chunks:
                for _ in self._messages(chunk, set()):
                    pass

    def _define(self, kind: int, content: bytes) -> None:
        cursor = _Cursor(content)
        number = cursor.take("H")
        if kind == _SCHEMA:
            name, encoding = cursor.text(), cursor.text()
            self._schemas[number] = (name, encoding, cursor.bytes().decode(errors="replace"))
        else:
            schema = cursor.take("H")
            topic, encoding = cursor.text(), cursor.text()
            self._channels[number] = _Channel(number, schema, topic, encoding, cursor.map())

    def _index_chunk(self, cursor: _Cursor) -> None:
        cursor.take("Q"), cursor.take("Q")
        offset = cursor.take("Q") + 9
        cursor.take("Q")
        inner = _Cursor(cursor.bytes())
        channels = set()
        while inner.at < len(inner.data):
            channels.add(inner.take("H"))
            inner.take("Q")
        self._chunk_channels[offset] = channels

    def _count(self, cursor: _Cursor) -> None:
        cursor.take("Q")
        cursor.take("H")
        for _ in range(4):
            cursor.take("I")
        cursor.take("Q"), cursor.take("Q")
        inner = _Cursor(cursor.bytes())
        while inner.at < len(inner.data):
            channel = inner.take("H")
            self._counts[channel] = inner.take("Q")

    def _attach(self, cursor: _Cursor) -> None:
        cursor.take("Q"), cursor.take("Q")
        name = cursor.text()
        cursor.text()
        size = cursor.take("Q")
        self._attachments[name] = cursor.data[cursor.at:cursor.at + size]

    def _unpack(self, chunk: int) -> bytes:
        size, _crc, name_size = struct.unpack_from("<QII", self._data, chunk + 16)
        at = chunk + 32
        compression = self._data[at:at + name_size]
        at += name_size
        (packed,) = struct.unpack_from("<Q", self._data, at)
        data = self._data[at + 8:at + 8 + packed]
        if compression == b"":
            return data
        if compression == b"zstd":
            self._zstd = self._zstd or _Zstd()
            return self._zstd.unpack(data, size)
        raise JournalError(f"{self.path}: compression {compression.decode(errors='replace')} is not read here")

    def _messages(self, chunk: int, wanted: set[int]) -> Iterator[tuple[int, bytes]]:
        data = self._unpack(chunk)
        for kind, at, size in self._records(data, 0, len(data)):
            if kind in (_SCHEMA, _CHANNEL):
                self._define(kind, data[at:at + size])
            elif kind == _MESSAGE and size >= 22:
                channel, _sequence, time, _publish = struct.unpack_from("<HIQQ", data, at)
                if channel in wanted:
                    yield time, data[at + 22:at + size]

    def _read(self, topic: str) -> Table:
        channels = [c for c in self._channels.values() if c.topic == topic]
        if not channels:
            raise KeyError(f"{self.path} has no topic {topic!r}; it has {', '.join(sorted(self.topics))}")
        name, encoding, text = self._schemas.get(channels[0].schema, ("", "", ""))
        if channels[0].encoding != "cdr" or encoding != "ros2msg":
            raise JournalError(f"{topic} is not CDR with a ros2msg schema")
        wanted = {c.id for c in channels}
        times: list[int] = []
        payloads: list[bytes] = []
        for chunk in self._chunks:
            known = self._chunk_channels.get(chunk)
            if known is not None and not known & wanted:
                continue
            for time, payload in self._messages(chunk, wanted):
                times.append(time)
                payloads.append(payload)
        stamps = np.array(times, dtype=np.int64)
        order = np.argsort(stamps, kind="stable")
        layout = Layout(parse_schema(name, text))
        columns = layout.columns([payloads[i] for i in order])
        return Table(topic, stamps[order], columns)


def load(path: str | os.PathLike[str]) -> Journal:
    """Opens a journal, whole or cut."""
    return Journal(path)
