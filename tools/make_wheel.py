#!/usr/bin/env python3
"""Makes a wheel of the Python package with the client library inside, which pip installs without a network:

    make_wheel.py SOURCE_DIR BUILD_DIR VERSION OUT_DIR

A wheel is a zip with three more files in it, so that nothing needs to be installed to make one."""
import base64
import hashlib
import os
import platform
import sys
import zipfile

METADATA = """Metadata-Version: 2.1
Name: isochron
Version: {version}
Summary: Robot programs, simulated worlds and real hardware on one clock
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: numpy
Requires-Dist: numpy ; extra == 'numpy'
"""
WHEEL = """Wheel-Version: 1.0
Generator: isochron
Root-Is-Purelib: false
Tag: {tag}
"""


def main(source, build, version, out):
    tag = f"py3-none-linux_{platform.machine()}"
    path = os.path.join(out, f"isochron-{version}-{tag}.whl")
    package = os.path.join(source, "client/python/isochron")
    files = {f"isochron/{name}": os.path.join(package, name) for name in sorted(os.listdir(package))
             if name.endswith((".py", ".typed"))}
    files["isochron/libisochron_client.so"] = os.path.join(build, "lib/libisochron_client.so")
    records, info = [], f"isochron-{version}.dist-info"
    os.makedirs(out, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(name, content):
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # the same bytes whenever it is made
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, content, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            records.append(f"{name},sha256={digest},{len(content)}")

        for name, place in files.items():
            with open(place, "rb") as file:
                add(name, file.read())
        add(f"{info}/METADATA", METADATA.format(version=version).encode())
        add(f"{info}/WHEEL", WHEEL.format(tag=tag).encode())
        wheel.writestr(f"{info}/RECORD", "\n".join([*records, f"{info}/RECORD,,"]) + "\n")
    print(path)


main(*sys.argv[1:])
