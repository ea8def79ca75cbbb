"""An ordinary rospy node: says one message of each type on /there/TYPE, hears it on /back/TYPE, compares. Prints one JSON
object: {"differ": {TYPE: [sent, came]}, "values": {TYPE: {"pose.position.x": 0.5, …}}}. Usage: ros_all_types.py TYPE..."""
import io
import json
import random
import struct
import sys
import time

import genpy
import roslib.message
import rospy

chance = random.Random(1)
RANGES = {"int8": 7, "int16": 15, "int32": 31, "int64": 63}
RANGES_FROM_0 = {"uint8": 8, "byte": 8, "char": 8, "uint16": 16, "uint32": 32, "uint64": 64}


def primitive(kind):
    if kind == "bool":
        return chance.random() < 0.5
    if kind in RANGES:
        return chance.randrange(-2 ** RANGES[kind], 2 ** RANGES[kind])
    if kind in RANGES_FROM_0:
        return chance.randrange(2 ** RANGES_FROM_0[kind])
    if kind == "float32":
        return struct.unpack("<f", struct.pack("<f", chance.uniform(-1e3, 1e3)))[0]
    if kind == "float64":
        return chance.uniform(-1e3, 1e3)
    if kind == "string":
        return "".join(chance.choice("abcäöü/_ ") for _ in range(chance.randrange(12)))
    if kind == "time":
        return genpy.Time(chance.randrange(2 ** 31), chance.randrange(10 ** 9))
    return None


def value(kind):
    """Anything of that type."""
    if kind.endswith("]"):
        element, size = kind[:-1].split("[")
        count = int(size) if size else chance.randrange(1, 6)
        if element in ("uint8", "char"):
            return bytes(chance.randrange(256) for _ in range(count))
        return [value(element) for _ in range(count)]
    plain = primitive(kind)
    if plain is not None:
        return plain
    message = roslib.message.get_message_class(kind)()
    for slot, slot_kind in zip(message.__slots__, message._slot_types):
        setattr(message, slot, 0 if slot == "seq" else value(slot_kind))  # rospy counts for itself
    return message


def wire(message):
    out = io.BytesIO()
    if hasattr(message, "header"):
        message.header.seq = 0
    message.serialize(out)
    return out.getvalue()


def values(thing, path, found):
    """Every number and text by its name."""
    if isinstance(thing, genpy.Message):
        for slot in thing.__slots__:
            if slot != "seq":
                values(getattr(thing, slot), f"{path}.{slot}" if path else slot, found)
    elif isinstance(thing, genpy.Time):
        found.update({path + ".sec": thing.secs, path + ".nanosec": thing.nsecs})
    elif isinstance(thing, (list, tuple, bytes)):
        for i, element in enumerate(thing):
            values(element, f"{path}[{i}]", found)
    else:
        found[path] = thing
    return found


rospy.init_node("all_types")
sent, came, publishers = {}, {}, []
for kind in sys.argv[1:]:
    name, cls = kind.replace("/", "_"), roslib.message.get_message_class(kind)
    rospy.Subscriber("/back/" + name, cls, lambda m, kind=kind: came.setdefault(kind, m))
    publishers.append((kind, rospy.Publisher("/there/" + name, cls, queue_size=1, latch=True)))
for kind, publisher in publishers:
    sent[kind] = value(kind)
    publisher.publish(sent[kind])
until = time.monotonic() + 60
while len(came) < len(sent) and time.monotonic() < until:
    time.sleep(0.05)
differ = {kind: [str(sent[kind]), str(came.get(kind))] for kind in sent
          if kind not in came or wire(sent[kind]) != wire(came[kind])}
print(json.dumps({"differ": differ, "values": {kind: values(m, "", {}) for kind, m in sent.items()}}), flush=True)
