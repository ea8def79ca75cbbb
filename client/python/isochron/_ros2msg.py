"""ros2msg schemas and CDR bytes, for journal.py: messages become columns of numbers."""
from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_NUMBERS = {"bool": "?", "byte": "B", "char": "B", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i",
            "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f", "float64": "d"}
_KNOWN = {"builtin_interfaces/Time": "int32 sec\nuint32 nanosec", "builtin_interfaces/Duration": "int32 sec\nuint32 nanosec"}
_FIELD = re.compile(r"^([\w/]+)(?:<=\d+)?(\[(?:<=)?(\d*)\])?\s+(\w+)\s*(=)?")


@dataclass(frozen=True)
class Field:
    name: str
    type: str  # a number's name, "string", or the name of a message
    count: int | None  # 1: one; n: a fixed array; None: a sequence
    array: bool


Schema = dict[str, list[Field]]  # "" is the message itself


def parse_schema(name: str, text: str) -> Schema:
    """All messages of a schema text, by their names; that of the message itself under ""."""
    parts = re.split(r"^=+\s*$", text, flags=re.M)
    schema: Schema = {"": _fields(parts[0])}
    for part in parts[1:]:
        head, _, body = part.strip().partition("\n")
        if head.startswith("MSG:"):
            schema[head[4:].strip().replace("/msg/", "/")] = _fields(body)
    for known, body in _KNOWN.items():
        schema.setdefault(known, _fields(body))
    return schema


def _fields(text: str) -> list[Field]:
    found = []
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        match = _FIELD.match(line)
        if not match or match[5]:  # empty, or a constant
            continue
        array, size = match[2] is not None, match[3]
        bounded = array and "<=" in match[2]
        count = 1 if not array else int(size) if size and not bounded else None
        found.append(Field(match[4], match[1], count, array))
    return found


class Layout:
    """How a schema's messages lie in CDR bytes."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def columns(self, payloads: list[bytes]) -> dict[str, npt.NDArray[Any]]:
        """A column for each number, array or text; `position.x`, `path[2].y`."""
        if not payloads:
            return {}
        fixed = self._fixed_dtype()
        if fixed is not None and all(len(p) == len(payloads[0]) for p in payloads) and len(payloads[0]) >= fixed.itemsize + 4:
            size = len(payloads[0])
            table = np.frombuffer(b"".join(payloads), dtype=np.uint8).reshape(len(payloads), size)[:, 4:4 + fixed.itemsize]
            records = np.ascontiguousarray(table).view(fixed).reshape(len(payloads))
            return {name: np.array(records[name]) for name in fixed.names or ()}
        rows = [self.row(p) for p in payloads]
        return {name: _column([row.get(name) for row in rows]) for name in dict.fromkeys(n for row in rows for n in row)}

    def _resolve(self, name: str) -> list[Field]:
        if name in self._schema:
            return self._schema[name]
        for known, fields in self._schema.items():  # a message may be named without its package
            if known.split("/")[-1] == name.split("/")[-1] and known:
                return fields
        raise ValueError(f"the schema does not define {name}")

    def _fixed_dtype(self) -> np.dtype[Any] | None:
        """A numpy record for messages whose fields always lie at the same places; None for others."""
        names: list[str] = []
        formats: list[Any] = []
        offsets: list[int] = []

        def walk(fields: list[Field], prefix: str, at: int) -> int | None:
            for field in fields:
                if field.count is None or field.type in ("string", "wstring"):
                    return None
                if field.type in _NUMBERS:
                    size = struct.calcsize(_NUMBERS[field.type])
                    at = (at + size - 1) & -size
                    names.append(prefix + field.name)
                    formats.append(("<" + _NUMBERS[field.type], (field.count,)) if field.array else "<" + _NUMBERS[field.type])
                    offsets.append(at)
                    at += size * field.count
                    continue
                for i in range(field.count):
                    inner = f"{prefix}{field.name}[{i}]." if field.array else f"{prefix}{field.name}."
                    reached = walk(self._resolve(field.type), inner, at)
                    if reached is None:
                        return None
                    at = reached
            return at

        end = walk(self._schema[""], "", 0)
        if end is None:
            return None
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": end})

    def row(self, data: bytes) -> dict[str, Any]:
        """One message by the names of its fields."""
        row: dict[str, Any] = {}
        self._walk(self._schema[""], "", data, 4, row)
        return row

    def _walk(self, fields: list[Field], prefix: str, data: bytes, at: int, row: dict[str, Any]) -> int:
        for field in fields:
            name = prefix + field.name
            count = field.count
            if count is None:
                count, at = _take("I", data, at)
            if field.type in _NUMBERS:
                form = _NUMBERS[field.type]
                if not field.array:
                    row[name], at = _take(form, data, at)
                else:
                    size = struct.calcsize(form)
                    at = _align(at, size) if count else at
                    row[name] = np.frombuffer(data, dtype="<" + form, count=count, offset=at)
                    at += size * count
            elif field.type in ("string", "wstring"):
                texts = []
                for _ in range(count):
                    size, at = _take("I", data, at)
                    texts.append(data[at:at + size - 1].decode(errors="replace"))
                    at += size
                row[name] = texts if field.array else texts[0]
            else:
                for i in range(count):
                    inner = f"{name}[{i}]." if field.array else f"{name}."
                    at = self._walk(self._resolve(field.type), inner, data, at, row)
        return at


def _align(at: int, size: int) -> int:
    return 4 + ((at - 4 + size - 1) & -size)  # counted from behind the header


def _take(form: str, data: bytes, at: int) -> tuple[Any, int]:
    size = struct.calcsize("<" + form)
    at = _align(at, size)
    (value,) = struct.unpack_from("<" + form, data, at)
    return value, at + size


def _column(values: list[Any]) -> npt.NDArray[Any]:
    """An array of the values; of arrays of one length, a matrix; otherwise objects."""
    shapes = {v.shape if isinstance(v, np.ndarray) else None for v in values}
    if len(shapes) == 1 and None not in shapes:
        return np.stack(values)
    if all(isinstance(v, (bool, int, float)) for v in values):
        return np.array(values)
    column = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        column[i] = value
    return column
