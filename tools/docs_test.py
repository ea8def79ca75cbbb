#!/usr/bin/env python3
"""Runs every command that README.md and docs/ show in ```sh blocks and every ```python block, and compiles every ```cpp
block that says what it includes (```cpp part is a part of a program). Usage: docs_test.py [BUILD_DIR]

They run in a scratch folder that looks like the source tree, with the built programs on the PATH. Lines that call ./dev are
left out: they would call this test again. So are robot programs in Python, which attach() to a run that started them.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else SOURCE / "build" / "release").resolve()
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.S | re.M)
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```", re.S | re.M)
CPP_BLOCK = re.compile(r"^```cpp\n(.*?)^```", re.S | re.M)
PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's numpy


def commands(text: str) -> str:
    blocks = "".join(match[1] for match in BLOCK.finditer(text))
    return "\n".join(line for line in blocks.splitlines() if not line.strip().startswith("./dev"))


def python_scripts(text: str) -> list[str]:
    return [match[1] for match in PYTHON_BLOCK.finditer(text) if "attach()" not in match[1]]


def cpp_sources(text: str) -> list[str]:
    """Whole programs as they are; statements after the includes as the body of a function."""
    sources = []
    for match in CPP_BLOCK.finditer(text):
        block = match[1]
        if "#include" not in block:
            continue
        if not re.search(r"^(int main|struct|class|ISOCHRON_)", block, re.M):
            head = "".join(line + "\n" for line in block.splitlines() if line.startswith(("#include", "using ")))
            body = "".join(line + "\n" for line in block.splitlines() if not line.startswith(("#include", "using ")))
            block = f"{head}void shown() {{\n{body}}}\n"
        sources.append(block)
    return sources


def cpp_errors(text: str) -> str:
    errors = ""
    for source in cpp_sources(text):
        done = subprocess.run(["g++", "-std=c++20", "-fsyntax-only", f"-I{SOURCE}", "-x", "c++", "-"], input=source,
                              capture_output=True, text=True)
        if done.returncode != 0:
            errors += f"this does not compile:\n{source}\n{done.stderr}\n"
    return errors


def scratch_tree(folder: pathlib.Path) -> None:
    for entry in SOURCE.iterdir():
        if entry.name not in ("build", ".git"):
            (folder / entry.name).symlink_to(entry)
    (folder / "build").mkdir()
    (folder / "build" / "release").symlink_to(BUILD)


def run(script: str, environment: dict[str, str]) -> tuple[int, str]:
    """Exit code and what was printed. What it leaves running, because it failed half way, is ended with it: otherwise
    whoever waits for the end of its output waits for ever."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as said:
        scratch_tree(pathlib.Path(folder))
        process = subprocess.Popen(["bash", "-euxo", "pipefail", "-c", script], cwd=folder, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)
        try:
            code = process.wait(timeout=300)
        except subprocess.TimeoutExpired:
            said.write("\nstill running after 300 s")
            code = 124
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # all of it has ended
        process.wait()
        said.seek(0)
        return code, said.read()


def main() -> int:
    environment = dict(os.environ, PATH=f"{BUILD / 'bin'}:{os.environ['PATH']}", ISOCHRON=str(BUILD / "bin" / "isochron"),
                       PYTHONPATH=str(SOURCE / "client" / "python"))
    passed = failed = 0
    page_filter = os.environ.get("PAGES", "").split()
    for page in [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]:
        if page_filter and page.stem not in page_filter:
            continue
        script = commands(page.read_text())
        errors = cpp_errors(page.read_text())
        if errors:
            failed += 1
            print(f"{page.relative_to(SOURCE)}: {errors}")
        for python in python_scripts(page.read_text()):
            script += f"\n{PYTHON} - <<'END_OF_BLOCK'\n{python}\nEND_OF_BLOCK\n"
        if not script.strip():
            continue
        code, said = run(script, environment)
        name = page.relative_to(SOURCE)
        if code == 0:
            passed += 1
            print(f"{name}: its commands work")
        else:
            failed += 1
            print(f"{name}: exit code {code}\n{said}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
