#!/usr/bin/env python3
"""Runs the commands of the documents, as somebody does who pastes them into a shell.

Each document is run from its top to its end in one interactive shell, in a new copy of the package, for each of the shells. Its
ports are replaced by free ones, since another program may have taken them.
A command is a line of an indented block whose first word is a program. A comment of HTML above a block says what a reader need
not see:

    <!-- not run: REASON -->     nobody runs it
    <!-- slow: REASON -->        only --slow runs it
    <!-- exits: 0 97|99 -->      the exit codes of its commands, where they are not 0
    <!-- file: NAME -->          the block is the content of this file; the `run` steps of a workflow are run as well, and the
                                 `script` of a job of GitLab
    <!-- serves: REASON -->      its last command runs until it is stopped, before the next one at its port or at the end
    <!-- shells: bash zsh -->    other shells do not have this syntax
"""

import argparse
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What a command can begin with. Another indented block is a scenario, or the output of a program.
PROGRAMS = {
    "cat", "cd", "cp", "curl", "export", "git", "kill", "make", "set", "sh", "sleep", "swiftwing-sim", "ulimit", "while", "xcrun",
}
# What the copy of the package has: what commands of the documents read.
COPIED = ["Docs", "Images", "Reports/sample", "Scenarios", "README.md"]
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "$?", "$!"),
    "zsh": (["zsh", "-f", "-i"], "$?", "$!"),
    # Without its own configuration, fish has no `kill %1`; that of the user is not in the home of the test.
    "fish": (["fish", "-i"], "$status", "$last_pid"),
}
PORTS = re.compile(r"\b(8080|8081|8443)\b")
MARK = re.compile(r"@@ (\d+) @@")
ESCAPES = re.compile(r"\x1b(\[[0-9;?<>=]*[A-Za-z]|\][^\x07]*\x07|[=>()][A-Z0-9]?)|\r")
COMMENT = re.compile(r"<!-- (not run|slow|exits|file|serves|shells): (.*?) -->")
SECONDS_MAX = 120


class Block:
    """Consecutive commands, or a file, with what the comment above says."""

    def __init__(self, line, marks):
        self.line = line
        self.marks = marks
        self.lines = []

    @property
    def commands(self):
        joined, commands = "", []
        for line in self.lines:
            joined += line
            if line.endswith("\\"):
                joined += "\n"
                continue
            commands.append(joined)
            joined = ""
        return commands

    @property
    def is_command(self):
        word = self.lines[0].split(" ")[0]
        return word in PROGRAMS or re.match(r"[A-Z_]+=", word) is not None

    def codes(self):
        codes = [code.split("|") for code in self.marks.get("exits", "").split()]
        return codes + [["0"]] * (len(self.commands) - len(codes))


def blocks(text):
    """The indented blocks of a document that are commands or files."""
    found, marks, block, fenced = [], {}, None, False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            fenced = not fenced
        comment = COMMENT.match(line)
        is_code = line.startswith("    ") and not fenced
        if comment:
            marks[comment[1]] = comment[2]
            block = None
        elif is_code and block is not None:
            block.lines.append(line[4:] if "file" in block.marks else line.strip())
        elif is_code and line.strip():
            block = Block(number, marks)
            block.lines.append(line[4:] if "file" in marks else line.strip())
            found.append(block)
            marks = {}
        elif line.strip():
            # A paragraph between: what stood above it was not about this block.
            marks, block = {}, None
        elif block is not None and "file" in block.marks:
            block.lines.append("")
        else:
            block = None
    return [block for block in found if "file" in block.marks or block.is_command]


class Shell:
    """An interactive shell in a terminal of its own."""

    def __init__(self, name, folder, binary):
        arguments, self.status, self.last_process = SHELLS[name]
        environment = {
            "HOME": folder, "PATH": os.path.dirname(binary) + os.pathsep + os.environ["PATH"], "TERM": "xterm",
            "LANG": "C.UTF-8", "PS1": "$ ", "USER": "reader", "SHELL": arguments[0],
        }
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(arguments[0], arguments, environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 120, 0, 0))
        # A shell that starts may forget what was typed before its first prompt.
        for _ in range(20):
            if self.ask(1) is not None:
                return
        raise SystemExit(f"{name} does not start")

    def write(self, text):
        os.write(self.terminal, text.encode())

    def ask(self, seconds, value=None):
        """A value, by default the exit code of the last command, and what was printed until then; None if it does not end."""
        # With a blank behind it, zsh and bash do not take the `!` of `$!` for a line of the history.
        self.write(f"echo @@ {value or self.status} @@\n")
        output, end = "", time.monotonic() + seconds
        while time.monotonic() < end:
            if not select.select([self.terminal], [], [], 0.1)[0]:
                continue
            try:
                output += os.read(self.terminal, 1 << 16).decode(errors="replace")
            except OSError:
                break
            if found := MARK.search(output):
                return found[1], ESCAPES.sub("", output)
        return None

    def run(self, command, seconds):
        self.write(command + "\n")
        return self.ask(seconds)

    def close(self):
        # Closing the terminal hangs up what still runs in it.
        os.close(self.terminal)
        try:
            os.kill(self.process, signal.SIGHUP)
            os.waitpid(self.process, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def copy_of_package(binary):
    folder = tempfile.mkdtemp(prefix="swiftwing-sim-manual-")
    for name in COPIED:
        source, target = os.path.join(ROOT, name), os.path.join(folder, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        (shutil.copytree if os.path.isdir(source) else shutil.copy)(source, target)
    os.makedirs(os.path.join(folder, ".build/release"))
    os.symlink(binary, os.path.join(folder, ".build/release/swiftwing-sim"))
    return folder


def steps(text):
    """The `run` steps of a workflow by name, or the scripts of jobs."""
    found, name, depth = [], "", None
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if depth is not None and line.strip() and indent > depth:
            found[-1][1].append(line.strip().removeprefix("- "))
            continue
        depth = None
        if line.strip() == "script:":
            found.append(("script", []))
            depth = indent
        if match := re.match(r"\s*- (?:name|uses): (.*)", line):
            name = match[1]
        if match := re.match(r"(\s*)run: (.*)", line):
            found.append((name, [] if match[2] == "|" else [match[2]]))
            depth = len(match[1]) if match[2] == "|" else None
    return [(name, "\n".join(lines)) for name, lines in found]


def write(block, folder):
    """Writes a block that is a file; its path."""
    path = os.path.join(folder, block.marks["file"])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write("\n".join(block.lines).rstrip("\n") + "\n")
    return path


class Run:
    def __init__(self, options):
        self.options = options
        self.ran = 0
        self.failures = []
        self.times = []
        self.left_out = {}

    def leave_out(self, block, why):
        self.left_out[why] = self.left_out.get(why, 0) + len(block.commands)

    def fail(self, where, command, expected, found, output):
        tail = "\n".join("        " + line for line in output.strip().split("\n")[-12:])
        self.failures.append(f"{where}: {command}\n    expected {expected}, was {found}\n{tail}")

    def document(self, path, shell_name):
        with open(path) as file:
            found = blocks(file.read())
        name = os.path.relpath(path, ROOT)
        folder = copy_of_package(self.options.binary)
        shell = Shell(shell_name, folder, self.options.binary)
        self.servers = {}
        self.ports = {}
        try:
            for block in found:
                if not self.block(block, name, shell_name, shell, folder):
                    return
        finally:
            for server in self.servers.values():
                try:
                    os.kill(server, signal.SIGTERM)
                except ProcessLookupError:
                    pass
            shell.close()
            shutil.rmtree(folder, ignore_errors=True)

    def block(self, block, name, shell_name, shell, folder):
        """Whether the document can go on."""
        if "not run" in block.marks:
            self.leave_out(block, "not run")
            return True
        if "slow" in block.marks and not self.options.slow:
            self.leave_out(block, "slow")
            return True
        if "file" in block.marks:
            self.file(block, name, folder)
            return True
        if shell_name not in block.marks.get("shells", shell_name).split():
            self.leave_out(block, f"not in {shell_name}")
            return True
        for index, (command, codes) in enumerate(zip(block.commands, block.codes()), 1):
            command = PORTS.sub(lambda port: self.ports.setdefault(port[0], free_port()), command)
            self.ran += 1
            where = f"{name}:{block.line}: {shell_name}"
            if "serves" in block.marks and index == len(block.commands):
                self.serve(command, shell, where)
                continue
            start = time.monotonic()
            answer = shell.run(command, SECONDS_MAX)
            self.times.append((time.monotonic() - start, f"{where}: {command}"))
            if answer is None:
                self.fail(where, command, "an end", f"none in {SECONDS_MAX} s", "")
                return False
            if answer[0] not in codes:
                self.fail(where, command, " or ".join(codes), answer[0], answer[1])
            # A reader does not paste the next line while a server still ends, and its job still has a number.
            if command.startswith("kill "):
                shell.run("sleep 1", SECONDS_MAX)
        return True

    def serve(self, command, shell, where):
        """Starts a server, in the place of an earlier one at the same port."""
        port = command.split("--port ")[-1].split()[0]
        if port in self.servers:
            os.kill(self.servers[port], signal.SIGTERM)
            time.sleep(0.5)
        shell.run(command + " &", SECONDS_MAX)
        self.servers[port] = int(shell.ask(SECONDS_MAX, shell.last_process)[0])
        _, output = shell.run("sleep 1", SECONDS_MAX)
        try:
            os.kill(self.servers[port], 0)
        except ProcessLookupError:
            del self.servers[port]
            self.fail(where, command, "a server that runs", "its end", output)

    def file(self, block, name, folder):
        path = write(block, folder)
        if not path.endswith(".yml"):
            return
        environment = dict(
            os.environ, GITHUB_SHA="0123456789abcdef0123", CI_COMMIT_SHA="0123456789abcdef0123",
            GITHUB_STEP_SUMMARY=os.path.join(folder, "summary.md"),
            PATH=os.path.dirname(self.options.binary) + os.pathsep + os.environ["PATH"])
        for step, commands in steps("\n".join(block.lines)):
            if step == "Build":
                self.left_out["a build"] = self.left_out.get("a build", 0) + 1
                continue
            self.ran += 1
            done = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", commands], cwd=folder, env=environment, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS_MAX)
            if done.returncode != 0:
                self.fail(f"{name}: step {step}", commands, "0", done.returncode, done.stdout)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="", help="the program")
    parser.add_argument("--extract", metavar="FOLDER", help="only write the files of the documents to this folder")
    parser.add_argument("--shells", default=",".join(SHELLS), help="the shells, separated by commas (default: all)")
    parser.add_argument("--slow", action="store_true", help="run also what takes long")
    parser.add_argument("documents", nargs="*", help="the documents (default: the README and the manual)")
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    manual = os.path.join(ROOT, "Docs/manual")
    documents = options.documents or [os.path.join(ROOT, "README.md"), os.path.join(ROOT, "Docs/real-app.md")] + sorted(
        os.path.join(manual, name) for name in os.listdir(manual) if name.endswith(".md"))
    if options.extract:
        for document in documents:
            with open(document) as file:
                for block in blocks(file.read()):
                    if "file" in block.marks:
                        write(block, options.extract)
        return 0
    run = Run(options)
    for shell in options.shells.split(","):
        if shutil.which(SHELLS[shell][0][0]) is None:
            print(f"skipped: {shell} is not installed ('.ci/packages shells' installs it)")
            continue
        before, start = run.ran, time.monotonic()
        for document in documents:
            run.document(os.path.abspath(document), shell)
        print(f"{shell}: {run.ran - before} commands of {len(documents)} documents in {time.monotonic() - start:.0f} s")
    for why, count in run.left_out.items():
        print(f"left out in all shells together, {why}: {count} commands")
    for seconds, command in sorted(run.times, reverse=True)[:5]:
        print(f"slowest: {seconds:.1f} s {command}")
    for failure in run.failures:
        print(failure)
    print(f"{run.ran} commands run, {len(run.failures)} failed")
    return 1 if run.failures or run.ran == 0 else 0


sys.exit(main())
