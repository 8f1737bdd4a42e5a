#!/usr/bin/env python3
"""What the simulated clock costs: an hour of ten thousand phones, a day of jobs that outlive their tokens, and a search.

Prints JSON: seconds of processor time and of the clock, memory, and events a second, each of one process on one core. Times
are recorded and never judged: they are the machine's as much as ours.

With `--against`, whether the build or another program takes less: both run a small load at once on one core, so that whatever
else the machine does slows them alike. Prints the share of the other's processor time that the build took, by the median of
the rounds, and the standard deviation. A hundredth shows where the same program, alone, differs by half.

    Benchmarks/simulate.py [hour|day|search ...]
    Benchmarks/simulate.py --against PROGRAM [--rounds N]
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

from common import BINARY, ROOT, ended, on

SEEDS = 4_000
SMALL = [ROOT / "Scenarios/hour.scenario", "--phones", "400"]


def started(program, words, folder):
    return subprocess.Popen(
        [program, "simulate", *words, "--output", f"{folder}/report", "--quiet", "--no-color"],
        cwd=ROOT, stdout=subprocess.PIPE, preexec_fn=on(-1))


def finished(child):
    """What it used, and its digest with the number of its events."""
    text = child.stdout.read().decode()
    usage = ended(child, said=lambda: text)
    digest, events = re.search(r"digest ([0-9a-f]{16}) of (\d+) events", text).groups()
    return usage, digest, int(events)


def measured(name):
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        usage, digest, events = finished(started(BINARY, [name], folder))
        seconds = time.monotonic() - began
        summary = json.loads(pathlib.Path(f"{folder}/report/summary.json").read_text())
    return {
        "phones": summary["devices"],
        "simulated_seconds": summary["seconds"],
        "events": events,
        "digest": digest,
        "http_401": summary["counters"].get("http.401", 0),
        "pings": summary["counters"]["sse.pings"],
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "clock_seconds": round(seconds, 1),
        "peak_mib": round(usage.ru_maxrss / 1024),
        "events_per_processor_second": round(events / (usage.ru_utime + usage.ru_stime)),
    }


def search():
    with tempfile.TemporaryDirectory() as folder:
        words = ["simulate", ROOT / "Scenarios/flaky-network.scenario", "--phones", "20", "--faults", "swarm", "--jobs", "1"]
        child = subprocess.Popen(
            [BINARY, *words, "--seeds", f"1..{SEEDS}", "--quiet", "--no-color"], cwd=folder, stdout=subprocess.PIPE)
        text = child.stdout.read().decode()
        usage = ended(child, said=lambda: text)
    seconds = usage.ru_utime + usage.ru_stime
    return {"seeds": SEEDS, "processor_seconds": round(seconds, 1), "seedsASecond": round(SEEDS / seconds)}


def at_once(programs):
    """Of each, seconds of processor time and the digest."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        children = [started(program, SMALL, folder) for program, folder in zip(programs, (one, two))]
        try:
            for child in children:
                usage, digest, _ = finished(child)
                yield usage.ru_utime + usage.ru_stime, digest
        except SystemExit:
            for child in children:
                child.kill()  # Nothing, where it has ended.
            raise


def compared(other, rounds):
    shares = []
    for number in range(rounds):
        if number % 2 == 0:  # Neither is always the first.
            (own, digest), (others, others_digest) = at_once([BINARY, other])
        else:
            (others, others_digest), (own, digest) = at_once([other, BINARY])
        shares.append(own / others)
    return {
        "load": " ".join(["hour", *SMALL[1:]]),
        "rounds": rounds,
        "share": round(statistics.median(shares), 3),
        "deviation": round(statistics.pstdev(shares), 3),
        "same_digest": digest == others_digest,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--against", type=pathlib.Path, help="another program, such as the build of an earlier commit")
    parser.add_argument("--rounds", type=int, default=8, help="pairs of runs (8)")
    wanted = parser.parse_args()
    if unknown := set(wanted.names) - {"hour", "day", "search"}:
        parser.error(f"no load of these names: {', '.join(sorted(unknown))}; there are hour, day and search")
    if wanted.against:
        if wanted.rounds < 1:
            parser.error("--rounds: at least one")
        if wanted.names:
            parser.error("--against has a load of its own")
        for program in (BINARY, wanted.against):
            if not (program.is_file() and os.access(program, os.X_OK)):
                parser.error(f"{program} is no program")
        print(json.dumps(compared(wanted.against.resolve(), wanted.rounds), indent=2))
    else:
        loads = {name: search() if name == "search" else measured(name) for name in wanted.names or ["search", "day", "hour"]}
        figures = {"search.seedsASecond": loads["search"]["seedsASecond"]} if "search" in loads else {}
        print(json.dumps({"benchmark": "simulate", "figures": figures, "loads": loads}, indent=2))
