#!/usr/bin/env python3
"""Fails where a class has more than 30 private functions: it has more than one idea, and parts into several.

Counted are those declared or defined in the class itself below `private:`; what it overrides there counts, too.
"""
import pathlib
import re
import subprocess
import sys

MOST = 30
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
CLASS = re.compile(r"\b(class|struct)\s+(\w+)(?:\s+final)?\s*(?::[^;{()]*)?\{")
SECTION = re.compile(r"\b(public|protected|private)\s*$")
NO_FUNCTION = re.compile(r"\s*(using|typedef|friend|enum|class|struct|union|static_assert)\b")


def is_function(statement: str) -> bool:
    """A declaration, or what stands before a body."""
    before = re.sub(r"<[^<>]*>", "", statement.strip())  # so that std::function<void()> is no function
    head = before.split("(")[0]
    return "(" in before and "=" not in head and bool(re.search(r"\w\s*$", head)) and not NO_FUNCTION.match(before)


def private_functions(text: str, begin: int, section: str) -> int:
    """`begin`: after the brace that opens the class."""
    depth, statement, count = 1, "", 0
    for c in text[begin:]:
        if depth == 1 and c in ";{":
            count += section == "private" and is_function(statement)
        if c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
            if depth == 0:
                break
        if depth == 1:
            statement = "" if c in ";{}" else statement + c
            if c == ":" and (found := SECTION.search(statement[:-1])):
                section, statement = found[1], ""
    return count


def too_large(text: str) -> list[tuple[int, str, int]]:
    """(line, class, private functions) of those with too many."""
    plain = NOISE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    found = []
    for match in CLASS.finditer(plain):
        count = private_functions(plain, match.end(), "private" if match[1] == "class" else "public")
        if count > MOST:
            found.append((plain.count("\n", 0, match.start()) + 1, match[2], count))
    return found


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    files = subprocess.run(["git", "-C", root, "ls-files", "*.hpp", "*.cpp"], capture_output=True, text=True, check=False)
    names = files.stdout.split() or [str(f.relative_to(root)) for f in root.rglob("*.[hc]pp") if "build" not in f.parts]
    lines = [f"{name}:{line}: {which} has {count} private functions; at most {MOST}"
             for name in sorted(names) if (root / name).exists()
             for line, which, count in too_large((root / name).read_text(errors="replace"))]
    print("\n".join(lines) or "classes: none has too many private functions")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
