#!/usr/bin/env python3
"""Prints isochron(1), made from what the command says of itself. Usage: man_page.py ISOCHRON"""
import re
import subprocess
import sys

isochron = sys.argv[1]


def help_of(*verb):
    return subprocess.run([isochron, *verb, "--help"], capture_output=True, text=True, check=True).stdout


def escaped(text):
    """As roff takes it: backslashes, hyphens that are typed, and lines that would be requests."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def verbs(text):
    """Name and description of each subcommand, as the help lists them; none for a verb that has none."""
    listed = text.split("\nSubcommands:", 1)
    return re.findall(r"^  (\w[\w-]*) {2,}(.*)$", listed[1], re.M) if len(listed) == 2 else []


def main():
    version = subprocess.run([isochron, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    top = help_of()
    out = [f'.TH ISOCHRON 1 "" "isochron {version}" "User Commands"', ".SH NAME",
           "isochron \\- robot programs, simulated worlds and real hardware on one clock", ".SH SYNOPSIS",
           ".B isochron", "VERB [OPTIONS]", ".SH VERBS"]
    for verb, does in verbs(top):
        own = help_of(verb)
        out += [".SS " + escaped(verb), escaped(does[:1].upper() + does[1:]) + ".", ".PP", ".nf", escaped(own.strip()), ".fi"]
        for inner, _ in verbs(own):
            out += [".PP", ".nf", escaped(help_of(verb, inner).strip()), ".fi"]
    out += [".SH EXIT STATUS", "0 fine; 1 the answer is no (runs differ, an expectation is violated); 2 bad input; 3 the run",
            "failed; 130 stopped by Ctrl\\-C with everything written.", ".SH SEE ALSO",
            "Examples are in share/isochron/examples; the documentation is in docs/ of the source."]
    print("\n".join(out))


main()
