"""Asks the completion of a shell, with the Tab key in a terminal where the shell has no other way.

usage: complete.py bash|zsh|fish PROGRAM

Prints `ok`, what is missing, or that the shell is not installed.
"""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

# What is typed, and what must be among the completions.
CASES = [
    ("swiftwing-sim ru", ["run"]),
    ("swiftwing-sim images ", ["make"]),
    ("swiftwing-sim run --allow-t", ["--allow-target"]),
    ("swiftwing-sim run flaky-n", ["flaky-network"]),
    ("swiftwing-sim run --profile swiftwing-h", ["swiftwing-head"]),
    ("swiftwing-sim simulate --ties sh", ["shuffled"]),
    ("swiftwing-sim help object", ["objectives"]),
    ("swiftwing-sim completion fi", ["fish"]),
]


def environment(program, home):
    return {
        "HOME": home, "PATH": os.path.dirname(program) + os.pathsep + os.environ["PATH"], "TERM": "xterm",
        "LANG": "C.UTF-8",
    }


def bash(script, program, home):
    """The function of the completion, with the words that readline gives it."""
    for line, expected in CASES:
        words = line.split(" ")
        command = "\n".join([
            f"source '{script}'", "COMP_WORDS=({})".format(" ".join(f"'{word}'" for word in words)),
            f"COMP_CWORD={len(words) - 1}", "_swiftwing_sim", 'printf "%s\\n" "${COMPREPLY[@]}"',
        ])
        found = subprocess.run(
            ["bash", "--norc", "-c", command], env=environment(program, home), text=True, capture_output=True)
        yield line, expected, found.stdout.split("\n") + [found.stderr]


def fish(script, program, home):
    for line, expected in CASES:
        found = subprocess.run(
            ["fish", "-c", f"source '{script}'; complete -C '{line}'"], env=environment(program, home), text=True,
            capture_output=True)
        yield line, expected, [row.split("\t")[0] for row in found.stdout.split("\n")] + [found.stderr]


def zsh(script, program, home):
    """Typed into an interactive shell; what the line becomes is read from the screen."""
    process, terminal = pty.fork()
    if process == 0:
        os.execvpe("zsh", ["zsh", "-f", "-i"], environment(program, home))

    def read(until, seconds):
        output, end = "", time.monotonic() + seconds
        while time.monotonic() < end and until not in output:
            if select.select([terminal], [], [], 0.1)[0]:
                output += os.read(terminal, 1 << 16).decode(errors="replace")
        return output

    def write(text):
        os.write(terminal, text.encode())

    write(f"PS1=; autoload -U compinit; compinit -u -d '{home}/dump'; source '{script}'; echo re''ady\n")
    read("ready", 20)
    for line, expected in CASES:
        # The line after the Tab is printed by a widget, without running it.
        write("show() { print -r -- \"<<$BUFFER>>\"; BUFFER= }; zle -N show; bindkey '^X' show\n")
        read("bindkey", 5)
        write(line + "\t\x18")
        output = read(">>\r", 10)
        found = re.findall(r"<<(.*?)>>", output)
        # An option with a value is completed with the sign behind it.
        yield line, expected, [word.rstrip("=") for word in found[-1].strip().split(" ")] if found else [output]
    os.close(terminal)
    os.waitpid(process, 0)


def main():
    shell, program = sys.argv[1], os.path.abspath(sys.argv[2])
    if shutil.which(shell) is None:
        print(f"skipped: {shell} is not installed ('.ci/packages shells' installs it)")
        return 0
    with tempfile.TemporaryDirectory() as home:
        script = os.path.join(home, f"completion.{shell}")
        with open(script, "w") as file:
            file.write(subprocess.run([program, "completion", shell], text=True, capture_output=True).stdout)
        ask = {"bash": bash, "fish": fish, "zsh": zsh}[shell]
        wrong = [
            f"{line!r}: {expected} not among {found}"
            for line, expected, found in ask(script, program, home) if not set(expected) <= set(found)
        ]
        del CASES[1:]
        wrong += [
            f"{line!r}: {found} without the program"
            for line, _, found in ask(script, os.path.join(home, "none"), home)
            if not set(found) <= {"", *line.split(" ")}
        ]
    print("\n".join(wrong) or "ok")
    return 1 if wrong else 0


sys.exit(main())
