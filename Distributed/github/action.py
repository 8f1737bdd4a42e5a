#!/usr/bin/env python3
"""Runs swiftwing-sim in a step of a GitHub workflow. action.yml describes the inputs, which are variables here.

The step ends with the exit code of the program. What a run leaves becomes the summary of the job (report.md) and annotations
(junit.xml).
"""

import glob
import hashlib
import json
import os
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import xml.etree.ElementTree

# GitHub shows ten annotations of a kind for a step, and takes a summary of one MiB. The first annotation is the verdict.
CASES_MAX = 9
SUMMARY_BYTES_MAX = 1_000_000
USAGE, NOT_FOUND, NOT_AVAILABLE, NOT_TRUSTED = 64, 66, 69, 98


def given(name):
    return os.environ.get("INPUT_" + name, "").strip()


def escaped(text, in_property=False):
    """Text in a workflow command, as @actions/core writes it."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if in_property else text


def annotate(level, title, message, **place):
    properties = {**place, "title": title}
    listed = ",".join(f"{name}={escaped(str(value), True)}" for name, value in properties.items() if value)
    print(f"::{level} {listed}::{escaped(message)}", flush=True)


def refuse(code, message):
    annotate("error", "swiftwing-sim", message)
    sys.exit(code)


def install(url, digest):
    """Installs a Debian package whose bytes are those that the workflow names."""
    with tempfile.TemporaryDirectory() as folder:
        # apt reads the package as a user of its own.
        os.chmod(folder, 0o755)
        package = os.path.join(folder, "swiftwing-sim.deb")
        try:
            with urllib.request.urlopen(url, timeout=60) as answer, open(package, "wb") as file:
                shutil.copyfileobj(answer, file)
        except (OSError, ValueError) as error:
            refuse(NOT_AVAILABLE, f"the package {url} cannot be read: {error}")
        with open(package, "rb") as file:
            found = hashlib.sha256(file.read()).hexdigest()
        if found != digest.lower():
            refuse(NOT_AVAILABLE, f"the package {url} has the SHA-256 {found}, and deb-sha256 is '{digest}'")
        as_root = ["sudo"] if os.geteuid() else []
        quiet = ["-qq", "-o", "Dpkg::Use-Pty=0"]
        for command in (["update"], ["install", "-y", "--no-install-recommends", package]):
            if subprocess.run([*as_root, "apt-get", *quiet, *command], stdout=sys.stderr).returncode:
                refuse(NOT_AVAILABLE, f"apt-get {command[0]} failed for {url}: is it for the release of this system?")


def program():
    """The words that start the program."""
    image, deb, path = given("IMAGE"), given("DEB"), given("PROGRAM")
    if len([source for source in (image, deb, path) if source]) > 1:
        refuse(USAGE, "only one of program, image and deb can be given")
    if deb:
        install(deb, given("DEB_SHA256"))
    if not image:
        path = path or "swiftwing-sim"
        return [shutil.which(path) or refuse(NOT_FOUND, f"there is no program '{path}': give program, image or deb")]
    engine = shutil.which("docker") or shutil.which("podman") or refuse(
        NOT_FOUND, "image needs docker or podman; in a job with a container, give program or deb")
    # The network of the machine, so that a target on it can be reached.
    return [
        engine, "run", "--rm", "--network=host", f"--user={os.getuid()}:{os.getgid()}", "--env=CI",
        f"--volume={os.getcwd()}:{os.getcwd()}", f"--workdir={os.getcwd()}", image,
    ]


def run(command):
    """Runs a command; its exit code, and what it printed as result and as complaint."""
    print(f"Running {shlex.join(command)}", flush=True)
    # No line of the program, which can quote its target, is a workflow command.
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}", flush=True)
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: process.send_signal(number))
    printed = {process.stdout: [], process.stderr: []}

    def copy(source):
        for line in source:
            printed[source].append(line)
            print(line, end="", flush=True)

    copies = [threading.Thread(target=copy, args=[source]) for source in printed]
    for thread in copies:
        thread.start()
    code = process.wait()
    for thread in copies:
        thread.join()
    print(f"\n::{token}::", flush=True)
    return code if code >= 0 else 128 - code, *("".join(lines).strip() for lines in printed.values())


def files(folder, name, since):
    """What this run left in the folder, and below it where it ran for several profiles or transports."""
    found = sorted(glob.glob(os.path.join(glob.escape(folder), name)))
    found += sorted(glob.glob(os.path.join(glob.escape(folder), "*", name)))
    return [path for path in found if os.stat(path).st_mtime >= since]


def verdict(code, folder, since):
    if code == 0:
        return "passed"
    reasons = []
    for path in files(folder, "summary.json", since):
        with open(path) as file:
            reasons += json.load(file)["exit_reasons"]
    return ",".join(dict.fromkeys(reasons)) or "failed"


def in_workspace(path):
    """The path as GitHub knows it."""
    path = os.path.relpath(path, os.environ.get("GITHUB_WORKSPACE", "."))
    return None if path.startswith("..") else path


def place(name):
    """Where the scenario has the objective, if it is a file of the repository."""
    scenario = given("SCENARIO")
    paths = [scenario, scenario + ".scenario", os.path.join("Scenarios", scenario + ".scenario")]
    path = next(filter(os.path.isfile, paths), None)
    if path is None or in_workspace(path) is None:
        return {}
    metric = name.split(":")[0]
    with open(path, errors="replace") as file:
        lines = [number for number, line in enumerate(file, 1) if re.match(rf"[\s\"']*{re.escape(metric)}[\"']?\s*:", line)]
    return {"file": in_workspace(path), "line": (lines + [None])[0]}


def annotate_cases(level, folder, since):
    """Annotates the cases that failed; a sentence about those that are too many."""
    failed = []
    for path in files(folder, "junit.xml", since):
        for case in xml.etree.ElementTree.parse(path).iter("testcase"):
            failed += [(case, problem) for problem in case if problem.tag in ("failure", "error")]
    for case, problem in failed[:CASES_MAX]:
        title = f"{case.get('classname').rsplit('.', 1)[0]}: {case.get('name')}"
        message = "\n".join(filter(None, [problem.get("message"), problem.text]))
        annotate(level, title, message, **place(case.get("name")))
    return f"\n{len(failed)} cases of junit.xml failed; the first {CASES_MAX} are annotated." if len(failed) > CASES_MAX else ""


def annotate_refusal(complaint):
    """Annotates the lines of input files that the program refused."""
    for path, line, column, message in re.findall(r"^(\S.*?):(\d+):(\d+): (.*)$", complaint, re.MULTILINE)[:CASES_MAX]:
        if os.path.isfile(path) and in_workspace(path):
            annotate("error", "swiftwing-sim", message, file=in_workspace(path), line=line, col=column)


def summarize(folder, since, result):
    """Writes the report to the summary of the job; without one, what the program printed."""
    texts = []
    for path in files(folder, "*.md", since):
        with open(path) as file:
            texts.append(file.read())
    fence = "`" * 8
    text = "\n\n".join(texts) or f"{fence}\n{result}\n{fence}"
    encoded = text.encode()
    if len(encoded) > SUMMARY_BYTES_MAX:
        text = encoded[:SUMMARY_BYTES_MAX].decode(errors="ignore") + f"\n\nThe rest is in {folder}.\n"
    append("GITHUB_STEP_SUMMARY", text)


def append(variable, text):
    if path := os.environ.get(variable):
        with open(path, "a") as file:
            file.write(text + "\n")


def main():
    scenario, folder, on_98 = given("SCENARIO"), given("OUTPUT"), given("ON_98")
    if given("COMMAND") not in ("simulate", "run"):
        refuse(USAGE, f"command is simulate or run, not '{given('COMMAND')}'")
    if on_98 not in ("fail", "warn"):
        refuse(USAGE, f"on-98 is fail or warn, not '{on_98}'")
    try:
        arguments = shlex.split(given("ARGUMENTS"))
    except ValueError as error:
        refuse(USAGE, f"arguments cannot be read: {error}")
    target = ["--target", given("TARGET")] if given("TARGET") else []
    # The clock of a file system is coarse: a file can be older than the time at which it was made.
    since = time.time() - 0.1
    code, result, complaint = run(
        [*program(), given("COMMAND"), scenario, "--output", folder, "--force", "--no-color", *target, *arguments])
    reasons = verdict(code, folder, since)
    is_warning = code == NOT_TRUSTED and on_98 == "warn"
    level = "notice" if code == 0 else "warning" if is_warning else "error"
    # Of several runs, that which did not pass.
    paragraphs = re.split(r"\n\s*\n", result or complaint)
    said = next((text for text in paragraphs if not text.startswith("✓")), paragraphs[0]) if code else paragraphs[0]
    more = annotate_cases(level, folder, since)
    annotate(level, f"{scenario}: {reasons} (exit code {code})", said + more, **place(""))
    if not result:
        annotate_refusal(complaint)
    summarize(folder, since, result or complaint)
    report = folder if files(folder, "*", since) else ""
    append("GITHUB_OUTPUT", f"exit-code={code}\nverdict={reasons}\nreport={report}")
    return 0 if is_warning else code


sys.exit(main())
