"""Messages between Python objects and CDR bytes, for node.py: from the text of their type, without numpy."""
from __future__ import annotations

import re
import struct
from typing import Any

_NUMBERS = {"bool": "?", "byte": "B", "char": "B", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i",
            "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f", "float64": "d"}
_TIME = "builtin_interfaces/Time"
_FIELD = re.compile(r"^([\w/]+)(?:<=\d+)?(\[(?:<=)?(\d*)\])?\s+(\w+)\s*(=)?")
_HEADER = b"\0\1\0\0"


class Field:
    def __init__(self, name: str, type: str, array: bool, count: int | None) -> None:
        self.name, self.type, self.array, self.count = name, type, array, count  # count None: a list of any length


class Number:
    """A number alone, as a flow of `float64` carries it."""

    def __init__(self, name: str) -> None:
        self.text = name
        self._struct = struct.Struct("<" + _NUMBERS[name])

    def encode(self, value: Any) -> bytes:
        return self._struct.pack(value)

    def decode(self, data: Any) -> Any:
        return self._struct.unpack(data)[0]


def type_of(kind: Any) -> Any:
    """What encodes and decodes messages of this kind: a class made by message(), or the name of a number."""
    if isinstance(kind, str):
        if kind not in _NUMBERS:
            raise ValueError(f"`{kind}` is no number; write one of {', '.join(_NUMBERS)}, or make a message()")
        return Number(kind)
    return kind


def message(name: str, fields: str) -> Any:
    """A class of messages: `Power = message("example_msgs/msg/Power", "float64 watts")`, then `Power(watts=500.0)`.

    Fields are in ROS's notation, one on each line; messages inside it follow behind `MSG: package/Name`. Times are
    nanoseconds, as int."""
    sections: dict[str, list[Field]] = {"": []}
    at = sections[""]
    for line in fields.replace(";", "\n").splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("MSG:"):
            at = sections.setdefault(line[4:].strip(), [])
            continue
        match = _FIELD.match(line)
        if not line or line.startswith("=") or match and match[5]:
            continue
        if not match:
            raise ValueError(f"{name}: `{line}` is not `type name`")
        array = match[2] is not None
        bounded = array and "<=" in match[2]
        count = 1 if not array else int(match[3]) if match[3] and not bounded else None
        at.append(Field(match[4], match[1], array, count))
    return _class_of(name, "", sections, name + "\n" + _text_of(sections))


def _text_of(sections: dict[str, list[Field]]) -> str:
    text = ""
    for name, fields in sections.items():
        if name:
            text += "=" * 80 + "\nMSG: " + name + "\n"
        for field in fields:
            size = "" if not field.array else "[]" if field.count is None else f"[{field.count}]"
            text += f"{field.type}{size} {field.name}\n"
    return text


def _class_of(name: str, section: str, sections: dict[str, list[Field]], text: str) -> Any:
    if section not in sections:
        raise ValueError(f"{name} has a field of type `{section}`, which is not defined")
    fields = sections[section]
    parts = {f.type: _class_of(f.type, f.type, sections, "") for f in fields
             if f.type not in _NUMBERS and f.type not in ("string", _TIME)}
    names = [f.name for f in fields]

    class Message:
        __slots__ = tuple(names)

        def __init__(self, *values: Any, **named: Any) -> None:
            for field, value in zip(fields, values):
                setattr(self, field.name, value)
            for field in fields[len(values):]:
                setattr(self, field.name, named.pop(field.name) if field.name in named else _default(field, parts))
            if named:
                raise TypeError(f"{name} has no field {', '.join(named)}")

        def __repr__(self) -> str:
            return f"{name.split('/')[-1]}({', '.join(f'{n}={getattr(self, n)!r}' for n in names)})"

        def __eq__(self, other: Any) -> bool:
            return isinstance(other, Message) and all(getattr(self, n) == getattr(other, n) for n in names)

    Message.__name__ = Message.__qualname__ = name.split("/")[-1]
    Message.text = text  # type: ignore[attr-defined]
    Message.fields = fields  # type: ignore[attr-defined]
    Message.parts = parts  # type: ignore[attr-defined]
    _add_codec(Message, fields)
    return Message


def _default(field: Field, parts: dict[str, Any]) -> Any:
    if field.type in parts:
        one: Any = parts[field.type]
    elif field.type == "string":
        one = str
    elif field.type == "bool":
        one = bool
    else:
        one = float if field.type.startswith("float") else int
    if not field.array:
        return one()
    return [one() for _ in range(field.count or 0)]


def _add_codec(cls: Any, fields: list[Field]) -> None:
    """Numbers alone are packed at once; everything else field by field."""
    if fields and all(f.type in _NUMBERS and not f.array for f in fields):
        form, at = "<", 0
        for field in fields:
            size = struct.calcsize(_NUMBERS[field.type])
            gap = -at % size
            form += f"{gap}x" * bool(gap) + _NUMBERS[field.type]
            at += gap + size
        packed = struct.Struct(form)
        names = [f.name for f in fields]

        def encode(value: Any) -> bytes:
            return _HEADER + packed.pack(*[getattr(value, n) for n in names])

        def decode(data: Any) -> Any:
            return cls(*packed.unpack_from(data, 4))
    else:
        def encode(value: Any) -> bytes:
            out = bytearray(_HEADER)
            _write(cls, value, out)
            return bytes(out)

        def decode(data: Any) -> Any:
            return _read(cls, data, 4)[0]
    cls.encode, cls.decode = staticmethod(encode), staticmethod(decode)


def _put(out: bytearray, form: str, *values: Any) -> None:
    size = struct.calcsize(form[-1])
    out.extend(bytes(-(len(out) - 4) % size))
    out.extend(struct.pack("<" + form, *values))


def _write(cls: Any, value: Any, out: bytearray) -> None:
    for field in cls.fields:
        content = getattr(value, field.name)
        elements = content if field.array else [content]
        if field.array and field.count is None:
            _put(out, "I", len(elements))
        elif field.array and len(elements) != field.count:
            raise ValueError(f"{field.name} has {len(elements)} elements, not {field.count}")
        for element in elements:
            if field.type in _NUMBERS:
                _put(out, _NUMBERS[field.type], element)
            elif field.type == "string":
                encoded = element.encode()
                _put(out, "I", len(encoded) + 1)
                out.extend(encoded + b"\0")
            elif field.type == _TIME:
                _put(out, "i", element // 1_000_000_000)
                _put(out, "I", element % 1_000_000_000)
            else:
                _write(cls.parts[field.type], element, out)


def _get(form: str, data: Any, at: int) -> tuple[Any, int]:
    size = struct.calcsize("<" + form)
    at += -(at - 4) % size
    return struct.unpack_from("<" + form, data, at)[0], at + size


def _read(cls: Any, data: Any, at: int) -> tuple[Any, int]:
    values = []
    for field in cls.fields:
        count = field.count
        if count is None:
            count, at = _get("I", data, at)
        elements = []
        for _ in range(count):
            if field.type in _NUMBERS:
                element, at = _get(_NUMBERS[field.type], data, at)
            elif field.type == "string":
                size, at = _get("I", data, at)
                element, at = bytes(data[at:at + size - 1]).decode(errors="replace"), at + size
            elif field.type == _TIME:
                seconds, at = _get("i", data, at)
                rest, at = _get("I", data, at)
                element = seconds * 1_000_000_000 + rest
            else:
                element, at = _read(cls.parts[field.type], data, at)
            elements.append(element)
        values.append(elements if field.array else elements[0])
    return cls(*values), at
