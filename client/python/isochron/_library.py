"""Finds the shared libraries that come with this package: installed, in a build, or where a variable says."""
import ctypes
import os


def load(name: str, variable: str) -> ctypes.CDLL:
    """`name` is "client" for libisochron_client.so; the environment's `variable` has its path where it lies elsewhere."""
    file = f"libisochron_{name}.so"
    here = os.path.dirname(os.path.realpath(__file__))
    folders = ["", here, *(os.path.join(here, path) for path in ("../../../lib", "../../../../lib", "../../../build/release/lib"))]
    for place in filter(None, [os.environ.get(variable, ""), *(os.path.join(folder, file) for folder in folders)]):
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    raise ImportError(f"{file} was not found; set {variable} to its path")
