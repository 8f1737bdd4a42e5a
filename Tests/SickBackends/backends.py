#!/usr/bin/env python3
"""Runs `backend-trial` against each sick backend, and shows which check found its bug.

usage: backends.py --binary FILE [--scenario NAME] [--set PATH=VALUE]... [--jobs N] [--json FILE] [--chosen] [--late | WORD ...]

A WORD is a switch, or a dialect (`v3`, `v2`, `both`, `ws`) for all its switches. A bug is named by a row of what the target
did wrong: an invariant that it broke, an answer that deviates from the contract, an error that it is to blame for. A metric
alone shows where something is wrong, but not what it is. Without switches all are tried, or with `--late` those that were
written after the checks of the program. `--chosen` tries those that need a scenario of their own (`chosen.py`) with it; a healthy
backend must pass each of them. A healthy backend is tried first, and must pass: `healthy`, and for switches of
`ws` `healthy-ws`, whose jobs are followed by WebSocket. Exit code 1: a healthy backend did not pass, or a bug that
`misses.txt` does not list was not named.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import bugs
from chosen import CHOICES, Choice

HERE = pathlib.Path(__file__).parent
HEALTHY, HEALTHY_SOCKETS = "healthy", "healthy-ws"
SCENARIOS = {"v2": "backend-trial-v2", "ws": str(HERE / "sockets.scenario")}
WORDS = {row.dialect for row in bugs.TABLE.values()}
# Objectives that say what is wrong. Others, such as that scans wait, only say that something is.
OBJECTIVES = {
    "sse.event.latency", "job.time", "results.time", "cleanup.time", "http.5xx",
    "results.failed", "sse.connect.failed", "upload.failed", "sse.first_event.time",
}


class Backend:
    """A running backend of the gallery."""

    def __init__(self, bug: str, options: list[str], log: pathlib.Path) -> None:
        switch = [] if bug.startswith(HEALTHY) else ["--bug", bug]
        command = [sys.executable, "-B", str(HERE / "talaria.py"), "--port", "0", *options, *switch]
        self.process = subprocess.Popen(command, stdout=log.open("wb"), stderr=subprocess.STDOUT)
        for _ in range(300):
            address = re.search(r"http://[0-9.:]+", log.read_text())
            if address:
                self.address = address.group()
                return
            time.sleep(0.1)
        self.close()
        raise RuntimeError(f"the backend does not start: {log.read_text()[-400:]}")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def dialect(bug: str) -> str:
    """Return what a bug, or a healthy backend, is tried with."""
    if bug in bugs.TABLE:
        return bugs.TABLE[bug].dialect
    return "ws" if bug == HEALTHY_SOCKETS else "v3"


def tried(options: argparse.Namespace) -> list[tuple[str, Choice | None]]:
    """Return the backends to try, the healthy ones first, and the scenario that was chosen for each."""
    words = WORDS & set(options.switches)
    if options.chosen:
        choices = {name: choice for name, choice in CHOICES.items() if not options.switches or name in options.switches}
        healthy = {(choice.scenario, choice.settings, choice.backend): choice for choice in choices.values()}
        return [(HEALTHY, choice) for choice in healthy.values()] + list(choices.items())
    if options.switches and not words:
        return [(name, None) for name in options.switches]
    if options.late:
        names = [row.name for row in bugs.LATER]
    elif words:
        names = [row.name for row in bugs.TABLE.values() if row.dialect in words or row.name in options.switches]
    else:
        names = list(bugs.TABLE)
    dialects = {dialect(name) for name in names}
    healthy = [HEALTHY] * bool(dialects - {"ws"}) + [HEALTHY_SOCKETS] * ("ws" in dialects)
    return [(name, None) for name in healthy + names]


def run(bug: str, choice: Choice | None, options: argparse.Namespace) -> dict:
    """Run a scenario against one backend. Returns the exit code, and what the report says of the target."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sick-"))
    scenario, settings, backing = options.scenario, options.set, options.backend
    if choice:
        scenario, settings, backing = choice.scenario, [*choice.settings, *settings], [*choice.backend, *backing]
    elif scenario == "auto":
        scenario = SCENARIOS.get(dialect(bug), "backend-trial")
    try:
        backend = Backend(bug, backing, folder / "backend.log")
        words = [word for value in settings for word in ("--set", value)]
        command = [options.binary, "run", scenario, "--target", backend.address, *words]
        begun = time.monotonic()
        try:
            code = subprocess.run(
                [*command, "--quiet", "--output", str(folder / "out")],
                capture_output=True, timeout=options.limit,
            ).returncode
        finally:
            backend.close()
        return {"bug": bug, "code": code, "seconds": round(time.monotonic() - begun), **read(folder / "out")}
    except (subprocess.TimeoutExpired, RuntimeError) as error:
        return {"bug": bug, "code": None, "named": [], "objectives": [], "text": str(error)[:200]}
    finally:
        if options.keep:
            shutil.copytree(folder, pathlib.Path(options.keep) / bug, dirs_exist_ok=True)
        shutil.rmtree(folder)


def read(folder: pathlib.Path) -> dict:
    """Return the checks that a report names."""
    path = folder / "summary.json"
    if not path.exists():
        return {"named": [], "objectives": [], "text": "no report"}
    summary = json.loads(path.read_text())
    broken = [row for row in summary["invariants"] if row["violations"] not in (0, "n/a", None)]
    others = [row["name"] for row in summary["trial"]["wrong"] if row["kind"] != "rule"]
    return {
        "named": [row["id"] for row in broken] + others[:4],
        "objectives": [row["metric"] for row in summary["slos"] if row["passed"] is False],
        "text": next((row["first"]["text"] for row in broken if row.get("first")), ""),
    }


def describe(row: dict) -> str:
    """Return a line of the table."""
    found = ", ".join(row["named"]) or ("only " + ", ".join(row["objectives"]) if row["objectives"] else "-")
    return f"{row['bug']:26} {row['code']!s:>4} {row.get('seconds', 0):4} s  {found[:170]}  {row['text'][:90]}"


def verdict(rows: list[dict], chosen: bool) -> int:
    """Print what was named, and return the exit code. A bug that has a scenario of its own needs a name there."""
    sick = [row for row in rows if not row["bug"].startswith(HEALTHY)]
    healthy = [row for row in rows if row["bug"].startswith(HEALTHY)]
    named = [row for row in sick if row["named"] and row["code"] != 0]
    measured = [row for row in sick if row not in named and set(row["objectives"]) & OBJECTIVES]
    others = [row for row in sick if row not in named and row not in measured]
    listed = {line.split()[0] for line in (HERE / "misses.txt").read_text().splitlines() if line[:1].isalpha()}
    listed |= set() if chosen else CHOICES.keys()
    print(f"\nnamed: {len(named)} of {len(sick)}; by a metric alone: {len(measured)}; red without either: "
          + (", ".join(row["bug"] for row in others if row["code"] != 0) or "none")
          + "; green: " + (", ".join(row["bug"] for row in others if row["code"] == 0) or "none"))
    wrong = [row["bug"] for row in healthy if row["code"] != 0 or row["named"]]
    missed = [row["bug"] for row in others if row["bug"] not in listed]
    if wrong:
        print("did not pass: " + ", ".join(wrong))
    if missed:
        print("not named, and not in misses.txt: " + ", ".join(missed))
    return 1 if wrong or missed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help="the program")
    parser.add_argument("--scenario", default="auto", help="a scenario for all (default: backend-trial, or backend-trial-v2)")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="as of the program")
    parser.add_argument("--backend", action="append", default=[], metavar="OPTION", help="an option of talaria.py")
    parser.add_argument("--jobs", type=int, default=4, help="runs at a time (default: 4)")
    parser.add_argument("--limit", type=int, default=400, help="seconds for a run (default: 400)")
    parser.add_argument("--json", help="a file for the rows")
    parser.add_argument("--keep", help="a folder for the reports")
    parser.add_argument("--chosen", action="store_true", help="the scenario that suits a bug, for those that have one")
    parser.add_argument("--late", action="store_true", help="the bugs that were written after the checks of the program")
    parser.add_argument("switches", nargs="*", help="the bugs to try, or dialects (default: all)")
    options = parser.parse_args()
    unknown = set(options.switches) - bugs.TABLE.keys() - {HEALTHY, HEALTHY_SOCKETS} - WORDS
    if unknown:
        parser.error("no such switch: " + ", ".join(sorted(unknown)))
    if options.late and (options.switches or options.chosen):
        parser.error("--late chooses the switches")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(run, bug, choice, options) for bug, choice in tried(options)]
        rows = []
        for future in concurrent.futures.as_completed(futures):
            rows.append(future.result())
            print(describe(rows[-1]), flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))
    return verdict(rows, options.chosen)


if __name__ == "__main__":
    sys.exit(main())
