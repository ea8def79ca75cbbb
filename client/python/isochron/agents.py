"""Join a world of agents from Python: publish yours, see the others', keep everybody's time.

    from isochron import agents

    with agents.join("127.0.0.1:7420", key, "east") as world:
        car = world.add("my_car")
        t = world.start
        while t < 10.0:
            world.publish(car, t, position=(t, 0, 0), linear=(1, 0, 0))
            t = world.pass_(t)                     # waits for the slowest; the next time to simulate from
            for other in world.others(t):
                print(other.name, other.position, other.age)
            t += world.heartbeat

Times are simulated seconds. Needs libisochron_agents.so; ISOCHRON_AGENTS names it where it is not found.
"""
import ctypes
from dataclasses import dataclass

from ._library import load as _load_library


class Over(Exception):
    """The server declined for good, or ended the connection."""


class _Other(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type_url", ctypes.c_char_p), ("state", ctypes.c_void_p),
                ("size", ctypes.c_size_t), ("has_body", ctypes.c_int), ("body", ctypes.c_double * 13),
                ("stamp", ctypes.c_int64), ("age", ctypes.c_int64), ("extrapolated", ctypes.c_int)]


def _load():
    library = _load_library("agents", "ISOCHRON_AGENTS")
    handle, text, i64 = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64
    library.isochron_agents_join.restype = handle
    library.isochron_agents_join.argtypes = [text, text, text, ctypes.c_double]
    library.isochron_agents_leave.argtypes = [handle]
    library.isochron_agents_error.restype = text
    library.isochron_agents_error.argtypes = [handle]
    for name in ("start", "heartbeat"):
        function = getattr(library, "isochron_agents_" + name)
        function.restype, function.argtypes = i64, [handle]
    library.isochron_agents_add.restype = i64
    library.isochron_agents_add.argtypes = [handle, text, text, ctypes.c_double]
    library.isochron_agents_publish_body.argtypes = [handle, i64, i64, ctypes.POINTER(ctypes.c_double)]
    library.isochron_agents_publish.argtypes = [handle, i64, i64, ctypes.POINTER(ctypes.c_double), text,
                                                ctypes.c_void_p, ctypes.c_size_t]
    library.isochron_agents_withdraw.argtypes = [handle, i64]
    library.isochron_agents_pass.argtypes = [handle, i64, ctypes.POINTER(i64)]
    library.isochron_agents_others.restype = i64
    library.isochron_agents_others.argtypes = [handle, i64, ctypes.POINTER(_Other), i64]
    return library


_library = _load()


@dataclass
class Other:
    """Another's agent, at the time asked for. `age` is that time minus the newest stamp used, s."""
    name: str
    position: tuple | None
    orientation: tuple | None
    linear: tuple | None
    angular: tuple | None
    age: float
    extrapolated: bool
    type_url: str
    state: bytes


def _ns(seconds):
    return round(seconds * 1e9)


class World:
    def __init__(self, handle):
        self._handle = handle
        self.start = _library.isochron_agents_start(handle) * 1e-9
        self.heartbeat = _library.isochron_agents_heartbeat(handle) * 1e-9

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.leave()

    def leave(self):
        if self._handle:
            _library.isochron_agents_leave(self._handle)
        self._handle = None

    def _check(self, result):
        if result < 0:
            raise ValueError(_library.isochron_agents_error(self._handle).decode())
        return result

    def add(self, name, type_url=None, reach=0.0):
        """A new agent; its number. type_url: of states that are not bodies."""
        url = type_url.encode() if type_url else None
        return self._check(_library.isochron_agents_add(self._handle, name.encode(), url, reach))

    def publish(self, agent, t, position, orientation=(1, 0, 0, 0), linear=(0, 0, 0), angular=(0, 0, 0)):
        body = (ctypes.c_double * 13)(*position, *orientation, *linear, *angular)
        self._check(_library.isochron_agents_publish_body(self._handle, agent, _ns(t), body))

    def publish_state(self, agent, t, position, type_url, state):
        """Any bytes, as your own type; the server does not look inside."""
        self._check(_library.isochron_agents_publish(self._handle, agent, _ns(t), (ctypes.c_double * 3)(*position),
                                                     type_url.encode(), state, len(state)))

    def withdraw(self, agent):
        self._check(_library.isochron_agents_withdraw(self._handle, agent))

    def pass_(self, t):
        """Everything up to t is published: waits until the simulation may go on, and says from when. That is t, unless
        the world has gone on without us; then states of the later time must be published and passed."""
        time = ctypes.c_int64(0)
        kind = _library.isochron_agents_pass(self._handle, _ns(t), ctypes.byref(time))
        if kind == 2:
            raise Over(_library.isochron_agents_error(self._handle).decode())
        return t if kind == 0 else time.value * 1e-9

    def others(self, t):
        """All that others have in sight of us, at time t."""
        room = 64
        while True:
            found = (_Other * room)()
            count = self._check(_library.isochron_agents_others(self._handle, _ns(t), found, room))
            if count <= room:
                return [self._other(one) for one in found[:count]]
            room = count

    @staticmethod
    def _other(one):
        b = tuple(one.body) if one.has_body else None
        parts = (b[0:3], b[3:7], b[7:10], b[10:13]) if b else (None,) * 4
        return Other(one.name.decode(), *parts, one.age * 1e-9, bool(one.extrapolated), one.type_url.decode(),
                     ctypes.string_at(one.state, one.size))


def join(server, key, name, limit=10.0):
    """Joins as `name`; raises ConnectionError with the reason when that cannot be done within `limit` seconds."""
    handle = _library.isochron_agents_join(server.encode(), key.encode(), name.encode(), limit)
    if not handle:
        raise ConnectionError(_library.isochron_agents_error(None).decode())
    return World(handle)
