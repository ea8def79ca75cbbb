"""What sensors see, as robot programs get it: pictures, scans, clouds of points. They need no numpy, and are arrays for it."""
from __future__ import annotations

import array
import struct
import sys
from typing import Any

_PIXELS = {"rgb8": ("|u1", 3), "bgr8": ("|u1", 3), "rgba8": ("|u1", 4), "mono8": ("|u1", 1), "mono16": ("<u2", 1), "32FC1": ("<f4", 1)}
_POINT = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 8: "f8"}


class _Cdr:
    """Reads fields one after the other, each aligned to its size."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = memoryview(data)[4:], 0

    def number(self, form: str) -> Any:
        size = struct.calcsize(form)
        self._at += -self._at % size
        value = struct.unpack_from("<" + form, self._data, self._at)[0]
        self._at += size
        return value

    def string(self) -> str:
        size = self.number("I")
        text = bytes(self._data[self._at:self._at + size - 1]).decode(errors="replace")
        self._at += size
        return text

    def numbers(self, form: str) -> memoryview:
        count, size = self.number("I"), struct.calcsize(form)
        self._at += -self._at % size if count else 0
        block = self._data[self._at:self._at + count * size]
        self._at += count * size
        return block

    def floats(self) -> array.array:
        values = array.array("f", bytes(self.numbers("f")))
        if sys.byteorder == "big":
            values.byteswap()
        return values


class _Seen:
    """When it was taken, in nanoseconds, and the frame it is in."""

    def __init__(self, cdr: _Cdr) -> None:
        seconds = cdr.number("i")
        self.stamp = seconds * 1_000_000_000 + cdr.number("I")
        self.frame = cdr.string()


class Image(_Seen):
    """A picture. numpy.asarray(image) has the shape (height, width) or (height, width, channels), without a copy."""

    def __init__(self, data: bytes) -> None:
        cdr = _Cdr(data)
        super().__init__(cdr)
        self.height, self.width = cdr.number("I"), cdr.number("I")
        self.encoding = cdr.string()
        cdr.number("B")
        self.step = cdr.number("I")  # bytes of a row
        self.data = cdr.numbers("B")

    @property
    def shape(self) -> tuple[int, ...]:
        channels = _PIXELS.get(self.encoding, ("", 1))[1]
        return (self.height, self.width) if channels == 1 else (self.height, self.width, channels)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self.encoding not in _PIXELS:
            raise AttributeError(f"pixels in `{self.encoding}` are no array; use image.data, of {self.step} bytes a row")
        form, channels = _PIXELS[self.encoding]
        pixel = int(form[2]) * channels
        strides = (self.step, pixel) if channels == 1 else (self.step, pixel, int(form[2]))
        return {"version": 3, "shape": self.shape, "typestr": form, "data": self.data, "strides": strides}


class LaserScan(_Seen):
    """Distances in metres by angle in radians. numpy.asarray(scan) is `ranges`."""

    def __init__(self, data: bytes) -> None:
        cdr = _Cdr(data)
        super().__init__(cdr)
        for name in ("angle_min", "angle_max", "angle_increment", "time_increment", "scan_time", "range_min", "range_max"):
            setattr(self, name, cdr.number("f"))
        self.ranges, self.intensities = cdr.floats(), cdr.floats()

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"version": 3, "shape": (len(self.ranges),), "typestr": ("<" if sys.byteorder == "little" else ">") + "f4",
                "data": memoryview(self.ranges)}


class PointCloud2(_Seen):
    """Points. numpy.asarray(cloud) is an array of records with the fields' names: asarray(cloud)["x"]."""

    def __init__(self, data: bytes) -> None:
        cdr = _Cdr(data)
        super().__init__(cdr)
        self.height, self.width = cdr.number("I"), cdr.number("I")
        self.fields = []  # (name, offset, type as numpy writes it)
        for _ in range(cdr.number("I")):
            name, offset, kind, count = cdr.string(), cdr.number("I"), cdr.number("B"), cdr.number("I")
            self.fields.append((name, offset, ("<" + _POINT[kind], count)))
        cdr.number("B")
        self.point_step, self.row_step = cdr.number("I"), cdr.number("I")
        self.data = cdr.numbers("B")

    def __len__(self) -> int:
        return self.height * self.width

    @property
    def __array_interface__(self) -> dict[str, Any]:
        descr, at = [], 0
        for name, offset, (form, count) in sorted(self.fields, key=lambda field: field[1]):
            if offset > at:
                descr.append(("", f"|V{offset - at}"))
            descr.append((name, form) if count == 1 else (name, form, (count,)))
            at = offset + int(form[2]) * count
        if at < self.point_step:
            descr.append(("", f"|V{self.point_step - at}"))
        return {"version": 3, "shape": (len(self),), "typestr": f"|V{self.point_step}", "descr": descr, "data": self.data}
