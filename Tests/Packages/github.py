#!/usr/bin/env python3
"""Runs the step of Distributed/github/action.yml as GitHub does, in bash, with its variables and files: github.py PROGRAM

The workflows of the page about CI that use the action are run as well.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from ruamel.yaml import YAML

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ACTION = os.path.join(ROOT, "Distributed/github")
PROGRAM = os.path.abspath(sys.argv[1])
FILES = {
    # What a workflow command must escape.
    "5%3A, a::b.scenario": "scenario: 1\nfleet:\n  a: {devices: 2, scans: 1, arrivals: 8/s}\nslo:\n  scan.time: p(95) < 1ms\n",
    "bad.scenario": "scenario: 1\nfleet:\n  a: {devices: 2, scan: 1, think: 1s}\n",
    # In the place of an engine: runs the program here, with what follows the name of the image.
    "docker": f'#!/bin/sh\nuntil [ "${{1#*swiftwing-sim:}}" != "$1" ]; do shift; done\nshift\nexec {PROGRAM} "$@"\n',
    # In the place of those that would change this machine.
    "apt-get": f'#!/bin/sh\ncase "$*" in *install*) ln -s {PROGRAM} "${{0%/*}}/swiftwing-sim"; esac\n',
    "sudo": '#!/bin/sh\nexec "$@"\n',
}
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
OWN, FLAKY = {"program": PROGRAM}, {"scenario": "flaky-network"}
OPEN = {**OWN, **FLAKY, "arguments": "--set 'sometimes=[slots-full]'"}
PASSED = (0, 0, "passed", "notice", ["flaky-network: passed (exit code 0)"], "## ✅ flaky-network: PASSED")
UNREACHED = [
    "flaky-network: run completed, load generator kept up", "flaky-network: situation-not-reached (exit code 98)"]
# The inputs, and what must come of them: the exit codes of the program and of the step, the verdict, the level of the annotations,
# their titles, and a text of the summary.
CASES = [
    ({**OWN, **FLAKY}, *PASSED),
    ({**OWN, **FLAKY, "arguments": "--set fleet.commuters.resume=off"}, 97, 97, "invariant-broken", "error",
     ["flaky-network: stream.id-monotone", "flaky-network: stream.no-gap",
      "flaky-network: invariant-broken (exit code 97)"], "## ❌ flaky-network: FAILED"),
    (OPEN, 98, 98, "situation-not-reached", "error", UNREACHED, "NOT TRUSTWORTHY"),
    ({**OPEN, "on-98": "warn"}, 98, 0, "situation-not-reached", "warning", UNREACHED, "NOT TRUSTWORTHY"),
    ({**OWN, "scenario": "5%3A, a::b", "on-98": "warn"}, 99, 99, "latency-objective-failed", "error",
     ["5-3A--a--b: scan.time: p(95) < 1ms", "5%3A, a::b: latency-objective-failed (exit code 99)"], "b: FAILED"),
    ({**OWN, "scenario": "nothing"}, 66, 66, "failed", "error", ["nothing: failed (exit code 66)"], "no scenario `nothing`"),
    ({**OWN, "scenario": "bad"}, 65, 65, "failed", "error", ["bad: failed (exit code 65)", "swiftwing-sim"], "unknown key"),
    ({**OWN, **FLAKY, "arguments": "--seeds 1..50 --faults swarm"}, 0, 0, "passed", "notice", None, "no failures"),
    ({**OWN, **FLAKY, "command": "list"}, None, 64, None, "error", ["swiftwing-sim"], ""),
    ({**OWN, **FLAKY, "image": "swiftwing-sim:1"}, None, 64, None, "error", ["swiftwing-sim"], ""),
    ({**FLAKY, "program": "none"}, None, 66, None, "error", ["swiftwing-sim"], ""),
    ({**FLAKY, "deb": "file:///dev/null", "deb-sha256": "0"}, None, 69, None, "error", ["swiftwing-sim"], ""),
    ({**FLAKY, "deb": "file:///dev/null", "deb-sha256": EMPTY}, *PASSED),
]


def read(path):
    with open(path) as file:
        return YAML(typ="safe").load(file)


def start(given, folder):
    action = read(os.path.join(ACTION, "action.yml"))
    assert set(given) <= set(action["inputs"]), f"no inputs: {given}"
    inputs = {name: given.get(name, about.get("default", "")) for name, about in action["inputs"].items()}
    [step] = action["runs"]["steps"]
    environment = dict(
        os.environ, PATH=folder + os.pathsep + os.environ["PATH"], CI="true", PYTHONDONTWRITEBYTECODE="1",
        GITHUB_ACTION_PATH=ACTION, GITHUB_WORKSPACE=folder, GITHUB_OUTPUT=os.path.join(folder, "outputs"),
        GITHUB_STEP_SUMMARY=os.path.join(folder, "summary"))
    for name, value in step["env"].items():
        environment[name] = re.sub(r"\$\{\{ inputs\.(\S+) \}\}", lambda match: inputs[match[1]], value)
    for name, text in {**FILES, "outputs": "", "summary": ""}.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
        os.chmod(file.name, 0o755)
    # As with GitHub, whatever the test runner ignores or blocks.
    def receive_signals():
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])

    return subprocess.Popen(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]], cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=receive_signals)


def annotations(log):
    """The annotations as GitHub reads them: the level, the properties, the message."""
    log = re.sub(r"^::stop-commands::(\w+)\n.*?\n::\1::\n", "", log, flags=re.DOTALL | re.MULTILINE)
    for line in filter(None, log.split("\n")[1 if log.startswith("Running ") else 0:]):
        level, listed, message = re.fullmatch(r"::(error|warning|notice) (.*?)::(.*)", line).groups()
        properties = dict(pair.split("=", 1) for pair in listed.split(","))
        for escape, character in (("%3A", ":"), ("%2C", ","), ("%25", "%")):
            properties = {name: value.replace(escape, character) for name, value in properties.items()}
        yield level, properties, message


def check(given, code, end, verdict, level, titles, summary, cancel=False):
    """Runs the step; whether all is as it must be."""
    with tempfile.TemporaryDirectory(prefix="swiftwing-sim-github-") as folder:
        process = start(given, folder)
        if cancel:
            time.sleep(3)
            process.send_signal(signal.SIGINT)
        log, found = process.communicate(timeout=60)[0], {}
        for name in ("outputs", "summary"):
            with open(os.path.join(folder, name)) as file:
                found[name] = file.read()
    annotated = list(annotations(log))
    report = "Reports/ci" if found["summary"].startswith("## ") else ""
    outputs = f"exit-code={code}\nverdict={verdict}\nreport={report}\n" if verdict else ""
    places = {properties.get("file"): properties.get("line") for _, properties, _ in annotated if "line" in properties}
    holds = (
        process.returncode == end and found["outputs"] == outputs and summary in found["summary"]
        and {row[0] for row in annotated} == {level} and titles in (None, [row[1]["title"] for row in annotated])
        and places == {"5%3A, a::b": {"5%3A, a::b.scenario": "5"}, "bad": {"bad.scenario": "3"}}.get(given["scenario"], {}))
    print(f"{'ok' if holds else 'FAILED'}: {given} ended with {process.returncode}")
    if not holds:
        print(found, annotated, log, sep="\n")
    return holds


def main():
    held = [check(*case) for case in CASES]
    held.append(check(
        {**OWN, **FLAKY, "command": "run"}, 105, 105, "interrupted", "error", None, "INTERRUPTED", cancel=True))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([
            sys.executable, os.path.join(ROOT, "Tests/Manual/commands.py"), "--extract", folder,
            os.path.join(ROOT, "Docs/manual/ci.md")], check=True)
        steps = read(os.path.join(folder, ".github/workflows/load.yml"))["jobs"]["simulate"]["steps"]
    for step in steps:
        if "/Distributed/github@" in step["uses"]:
            held.append(check({name: text.replace("${{ github.sha }}", "0a1b") for name, text in step["with"].items()}, *PASSED))
    return 0 if len(held) == len(CASES) + 2 and all(held) else 1


sys.exit(main())
