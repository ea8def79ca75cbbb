#!/usr/bin/env python3
"""Makes the API pages of the documentation from the headers' own comments and from Python's docstrings.
Usage: api_pages.py FOLDER    writes api_c.md, api_cpp.md and api_python.md there

Of a C++ header the page has its opening comment as text and its declarations as they stand, without what is private and
without the bodies of functions: a reader sees what a compiler sees, and nothing has to be written twice.
"""
import importlib
import inspect
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
CPP = {
    "A robot program": ["client/client.hpp", "msg/robot_types.hpp", "msg/sensor_types.hpp", "core/time.hpp", "core/message.hpp"],
    "A controller in a library": ["world/controller.hpp"],
    "A node": ["flow/user_node.hpp"],
    "An engine of one's own": ["world/engine.hpp"],
    "Real time": ["rt/thread.hpp", "rt/period.hpp", "rt/ring.hpp", "rt/latest_value.hpp", "rt/barrier_scheduler.hpp"],
    "Running scenarios from C++": ["scenario/scenario.hpp", "run/run.hpp", "run/run_control.hpp"],
    "Reading journals": ["journal/mcap_reader.hpp", "journal/decode.hpp"],
}


def opening(text: str) -> tuple[str, str]:
    """The comment at a header's top, and the rest."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("//") or line.startswith("/*"))
    end = at
    while end < len(lines) and lines[end].startswith("//"):
        end += 1
    return "\n".join(line[2:].removeprefix(" ") for line in lines[at:end]), "\n".join(lines[end:])


def as_text(comment: str) -> str:
    """Drawings and facts keep their lines; prose flows."""
    parts = []
    for part in re.split(r"\n\s*\n", comment):
        if part.startswith("    "):
            parts.append("```text\n" + part + "\n```")
        elif re.match(r"^[A-Z]\w+:\s", part):
            facts = re.split(r"\n(?=[A-Z]\w+:\s)", part)
            parts.append("\n".join("- " + re.sub(r"\s+", " ", fact) for fact in facts))
        else:
            parts.append(part)
    return "\n\n".join(parts)


def without_bodies(code: str) -> str:
    """Bodies of functions become a semicolon; braces of types and of values stay."""
    out, at = "", 0
    for match in re.finditer(r"\)(?: const| noexcept| override)*(?:\s*:\s[^;{]*(?:\{[^{}]*\}[^;{]*)*)? \{", code):
        if match.start() < at:
            continue
        depth, end = 1, match.end()
        while depth and end < len(code):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        head = re.match(r"\)(?: const| noexcept| override)*", match[0])[0]
        out += code[at:match.start()] + head + ";"
        at = end
    return out + code[at:]


def without_private(code: str) -> str:
    kept, skip = [], False
    for line in code.splitlines():
        if line.strip() in ("private:", "protected:"):
            skip = True
        if skip and (line.startswith("};") or line.strip() == "public:"):
            skip = False
        if not skip and not re.match(r"#|namespace |using namespace|}  // namespace", line):
            kept.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def cpp_page() -> str:
    page = "# C++ API\n\nMade from the headers of this version; includes are written from the source tree's root.\n"
    for chapter, headers in CPP.items():
        page += f"\n## {chapter}\n"
        for header in headers:
            comment, code = opening((SOURCE / header).read_text())
            page += f"\n### {header}\n\n{as_text(comment)}\n\n```c++\n{without_private(without_bodies(code))}\n```\n"
    return page


def c_page() -> str:
    text = (SOURCE / "client/isochron.h").read_text()
    comment = re.search(r"/\* (.*?)\*/", text, re.S)
    prose = re.sub(r"^ \* ?", "", comment[1], flags=re.M).strip()
    code = text[comment.end():]
    code = re.sub(r"#ifdef __cplusplus.*?#endif\n", "", code, flags=re.S)
    code = re.sub(r"^#(include|endif).*\n?", "", code, flags=re.M)
    return f"# C API\n\n`client/isochron.h`, with libisochron_client. Made from the header of this version.\n\n{prose}\n\n```c\n{code.strip()}\n```\n"


def signature(thing) -> str:
    try:
        return str(inspect.signature(thing)).replace("'", "")
    except (TypeError, ValueError):
        return ""


def doc(thing) -> str:
    return inspect.getdoc(thing) or ""


def python_class(name: str, thing: type) -> str:
    text = f"\n## class {name}\n\n{doc(thing)}\n"
    for member, value in sorted(vars(thing).items()):
        if member.startswith("_"):
            continue
        if isinstance(value, property):
            text += f"\n- `.{member}`: {doc(value) or 'see above'}"
        elif callable(value):
            text += f"\n- `.{member}{signature(value).replace('(self, ', '(').replace('(self)', '()')}`: {doc(value)}"
    return text + "\n"


def python_page() -> str:
    sys.path.insert(0, str(SOURCE / "client/python"))
    package = importlib.import_module("isochron")
    page = f"# Python API\n\nMade from the docstrings of this version.\n\n```text\n{doc(package)}\n```\n"
    for name in package.__all__:
        thing = getattr(package, name)
        if isinstance(thing, type):
            page += python_class(name, thing)
        else:
            page += f"\n## {name}\n\n```text\n{name}{signature(thing)}\n```\n\n{doc(thing)}\n"
    return page


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in (("api_c", c_page), ("api_cpp", cpp_page), ("api_python", python_page)):
        (folder / f"{name}.md").write_text(make())


if __name__ == "__main__":
    main()
