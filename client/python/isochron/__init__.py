"""What a robot program in Python imports. It is written once and runs in every mode:

    import isochron
    robot = isochron.attach()
    while (now := robot.wait(0.010)) is not None:      # seconds; idle until the next release, None when the run is over
        position = robot.read("position")              # sampled at this program's own time
        robot.write("thrust", 1.0 - position)          # held until the next write

read_all(["position", "speed"]) gives several of one time, write_all({"left": 1.0, "right": 0.5}) writes several; each is
one request.

Numbers and arrays of numbers come and go as float, int, or lists of them (numpy arrays where numpy is there and
`numpy=True`). Poses and small sensors' readings come as objects: `robot.read("imu").angular_velocity`; their `number` is
0 before the first one, their `stamp` is in nanoseconds. Pictures, scans and clouds of points come as objects too, or as
None before the first one: `image = robot.read("camera/image")` has width, height and encoding, and numpy.asarray(image) is
its pixels without a copy. Everything else comes as bytes. All times are seconds as float, or nanoseconds where a name ends with _ns.

Around runs there is more, which needs numpy: load() reads a journal, run(), replay() and sweep() start the command, and
start() gives a run to step, to read and to act on.
"""
from __future__ import annotations

import ctypes
import mmap
import re
import struct
import threading
import types
from typing import Any, Iterable, Mapping

from ._library import load as _load_library

__all__ = ["attach", "Robot", "Error", "Message", "load", "run", "check", "replay", "sweep", "start", "Journal",
           "Run", "Simulation", "Env", "fork", "bisect"]

_LATER = {"load": "journal", "Journal": "journal", "Table": "journal", "JournalError": "journal", "run": "runs",
          "check": "runs", "replay": "runs", "sweep": "runs", "Run": "runs", "CommandError": "runs",
          "fork": "runs", "bisect": "runs", "start": "simulation", "Simulation": "simulation",
          "Env": "env"}


def __getattr__(name):  # a robot program starts quicker without what it does not use
    if name in _LATER:
        import importlib
        return getattr(importlib.import_module("." + _LATER[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_OK, _ENDED, _NOTHING = 1, 0, 2
_NEVER = 2**63 - 1
_LARGEST = 8 << 20  # bytes of a value or message
_FORMATS = {"bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
            "int64": "q", "uint64": "Q", "float32": "f", "float64": "d"}

# Plain values that have names, as msg/robot_types.hpp and msg/sensor_types.hpp lay them out: q int64, d float64.
_HEAD = "stamp:q number:q "
_RECORDS = {
    "Motion": "position:3d orientation:4d linear:3d angular:3d",
    "Wrench": "force:3d torque:3d",
    "PoseReading": _HEAD + "position:3d orientation:4d",
    "ImuReading": _HEAD + "orientation:4d angular_velocity:3d linear_acceleration:3d",
    "GpsReading": _HEAD + "status:q latitude:d longitude:d altitude:d variance:3d",
    "GpsVelocityReading": _HEAD + "satellites:q velocity:3d variance:3d horizontal_dilution:d vertical_dilution:d "
                          "horizontal_accuracy:d vertical_accuracy:d",
    "BarometerReading": _HEAD + "pressure:d altitude:d temperature:d",
    "MagnetometerReading": _HEAD + "field:3d",
    "AirspeedReading": _HEAD + "airspeed:d differential_pressure:d temperature:d",
    "OpticalFlowReading": _HEAD + "flow:2d gyro:3d integration_time:d distance:d quality:d",
    "RangeReading": _HEAD + "range:d min:d max:d",
    "ContactReading": _HEAD + "touching:q contacts:q force:d position:3d normal:3d",
}


# Those of sensors that see, in _seeing.py.
_LARGE = {"sensor_msgs/msg/Image", "sensor_msgs/msg/LaserScan", "sensor_msgs/msg/PointCloud2"}


class Error(RuntimeError):
    """A request that was refused; its text says why."""


class _Item(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class Message:
    """What another program sent: `value`, and `sent`, when."""

    def __init__(self, value: Any, sent_ns: int) -> None:
        self.value = value
        self.sent_ns = sent_ns
        self.sent = sent_ns * 1e-9


def _format(type_name):
    """The struct format of a type like float64 or float64[3], and whether it is one number; None for others."""
    match = re.fullmatch(r"(\w+)(?:\[(\d+)\])?", type_name)
    if not match or match[1] not in _FORMATS:
        return None
    return "<" + (match[2] or "1") + _FORMATS[match[1]], match[2] is None


def _record(type_name, size):
    """The fields of a named plain value, or None."""
    name = type_name.removeprefix("isochron_msgs/msg/")
    if name == "JointsReading":  # as many joints as fit
        joints = (size - 16) // 16
        return f"{_HEAD}position:{joints}d velocity:{joints}d"
    if name == "ValuesReading":
        return f"{_HEAD}values:{(size - 16) // 8}d"
    return _RECORDS.get(name)


def _decode_record(fields, data):
    record, at = types.SimpleNamespace(), 0
    for field in fields.split():
        name, form = field.split(":")
        values = struct.unpack_from("<" + form, data, at)
        at += 8 * len(values)
        setattr(record, name, values[0] if len(form) == 1 else list(values))
    return record


def _decode(type_name, data):
    known = _format(type_name)
    if known is None and type_name in _LARGE:
        from . import _seeing
        return getattr(_seeing, type_name.split("/")[-1])(data)
    if known is None:
        fields = _record(type_name, len(data))
        return data if fields is None else _decode_record(fields, data)
    values = struct.unpack(known[0], data)
    return values[0] if known[1] else list(values)


def _encode(type_name, value):
    known = _format(type_name)
    if isinstance(value, (bytes, bytearray)) or known is None:
        return bytes(value)
    try:
        return struct.pack(known[0], *([value] if known[1] else value))
    except struct.error as error:
        raise Error(f"{value!r} is not {type_name}: {error}") from None


class Robot:
    """What a robot program does: waits, reads, writes, sends, receives. Made by attach()."""

    def __init__(self, library: Any, handle: Any, numpy: bool = False) -> None:
        self._c = library
        self._handle = handle
        self._described = {}
        self._rooms = threading.local()
        self._numpy = __import__("numpy") if numpy else None

    def wait(self, period: float = 0) -> float | None:
        """Idle until the next release of this period in seconds; 0: as the scenario declares. None = the run is over."""
        now = ctypes.c_int64()
        status = self._check(self._c.isochron_wait(self._handle, ctypes.c_int64(round(period * 1e9)), ctypes.byref(now)))
        return None if status == _ENDED else now.value * 1e-9

    def wait_until(self, time: float) -> float | None:
        """Idle until that simulated time in seconds. None = the run is over."""
        now = ctypes.c_int64()
        status = self._check(self._c.isochron_wait_until(self._handle, ctypes.c_int64(round(time * 1e9)), ctypes.byref(now)))
        return None if status == _ENDED else now.value * 1e-9

    def read(self, name: str) -> Any:
        """A variable of the world, sampled at this program's own time; None before a sensor's first reading."""
        type_name, size = self._describe(name)
        data, there = self._room(), ctypes.c_size_t()
        self._check(self._c.isochron_read_message(self._handle, name.encode(), type_name.encode(), data,
                                                  ctypes.c_size_t(size), ctypes.byref(there), None))
        return self._value(type_name, bytes(memoryview(data)[:there.value]))

    def read_all(self, names: Iterable[str]) -> dict[str, Any]:
        """Several variables in one request, all sampled at one time, by their names."""
        names = list(names)
        described = [self._describe(name) for name in names]
        rooms = [ctypes.create_string_buffer(size) for _, size in described]
        items = self._items(names, described, rooms)
        self._check(self._c.isochron_read_all(self._handle, items, ctypes.c_size_t(len(names)), None))
        return {name: self._value(type_name, room.raw[:item.size])
                for name, (type_name, _), room, item in zip(names, described, rooms, items)}

    def write(self, name: str, value: Any) -> None:
        """Holds from now until the next write."""
        type_name, _ = self._describe(name)
        data = _encode(type_name, value)
        self._check(self._c.isochron_write(self._handle, name.encode(), type_name.encode(), data, ctypes.c_size_t(len(data))))

    def write_all(self, values: Mapping[str, Any]) -> None:
        """Several variables in one request: all hold from one time on, or none is written."""
        described = [self._describe(name) for name in values]
        data = [ctypes.create_string_buffer(_encode(type_name, value)) for (type_name, _), value in zip(described, values.values())]
        items = self._items(values, [(type_name, len(d) - 1) for (type_name, _), d in zip(described, data)], data)
        self._check(self._c.isochron_write_all(self._handle, items, ctypes.c_size_t(len(data))))

    def send(self, to: str, value: Any, type_name: str = "float64") -> None:
        """To another program: "planner" of this robot, "prey/controller" of another, "" as the scenario says."""
        data = _encode(type_name, value)
        self._check(self._c.isochron_send(self._handle, to.encode(), type_name.encode(), data, ctypes.c_size_t(len(data))))

    def receive(self, sender: str = "", type_name: str = "float64", until: float | None = 0) -> Message | None:
        """The oldest message, or None. Waits until then at most, in seconds; None = for ever."""
        limit = _NEVER if until is None else round(until * 1e9)
        data, size, sent = self._room(), ctypes.c_size_t(), ctypes.c_int64()
        status = self._check(self._c.isochron_receive(
            self._handle, sender.encode(), type_name.encode(), data, ctypes.c_size_t(len(data)), ctypes.byref(size),
            ctypes.c_int64(limit), ctypes.byref(sent)))
        return Message(_decode(type_name, bytes(memoryview(data)[:size.value])), sent.value) if status == _OK else None

    @property
    def now(self) -> float:
        """This program's own time, seconds."""
        return self._c.isochron_now(self._handle) * 1e-9

    @property
    def now_ns(self) -> int:
        """The same in nanoseconds."""
        return self._c.isochron_now(self._handle)

    def log(self, text: object) -> None:
        """A line in the journal."""
        self._check(self._c.isochron_log(self._handle, str(text).encode()))

    def _room(self):
        """For a value of any size, one for each thread. What is never written to takes no memory."""
        if not hasattr(self._rooms, "largest"):
            self._rooms.largest = (ctypes.c_char * _LARGEST).from_buffer(mmap.mmap(-1, _LARGEST))
        return self._rooms.largest

    @staticmethod
    def _items(names, described, buffers):
        return (_Item * len(buffers))(*(_Item(name.encode(), type_name.encode(), ctypes.addressof(buffer), size)
                                        for name, (type_name, size), buffer in zip(names, described, buffers)))

    def _value(self, type_name, data):
        if not data:
            return None
        value = _decode(type_name, data)
        return self._numpy.array(value) if self._numpy and isinstance(value, list) else value

    def _describe(self, name):
        if name not in self._described:
            type_name, size = ctypes.create_string_buffer(128), ctypes.c_size_t()
            self._check(self._c.isochron_describe(self._handle, name.encode(), type_name, ctypes.c_size_t(128), ctypes.byref(size)))
            self._described[name] = (type_name.value.decode(), size.value)
        return self._described[name]

    def _check(self, status):
        if status < 0:
            raise Error(self._c.isochron_error().decode(errors="replace"))
        return status


def attach(numpy: bool = False) -> Robot:
    """Attaches to the coordinator that started this process. `numpy`: arrays come as numpy's."""
    library = _load_library("client", "ISOCHRON_CLIENT")
    library.isochron_error.restype = ctypes.c_char_p
    library.isochron_now.restype = ctypes.c_int64
    library.isochron_now.argtypes = [ctypes.c_void_p]
    for name in ("wait", "wait_until", "read_message", "read_all", "write", "write_all", "describe", "send", "receive", "log"):
        getattr(library, "isochron_" + name).argtypes = None
    handle = ctypes.c_void_p()
    if library.isochron_attach(ctypes.byref(handle)) < 0:
        raise Error(library.isochron_error().decode(errors="replace"))
    return Robot(library, handle, numpy)
