#!/usr/bin/env python3
"""What the simulated clock costs: an hour of ten thousand phones, and a day of jobs that outlive their tokens.

Prints JSON: seconds of processor time and of the clock, memory, and events a second, each of one process on one core. Times
are recorded and never judged: they are the machine's as much as ours.

    Benchmarks/simulate.py [hour|day ...]
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / ".build/release/swiftwing-sim"


def one_core():
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def measured(name):
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        child = subprocess.Popen(
            [BINARY, "simulate", name, "--output", f"{folder}/report", "--quiet", "--no-color"],
            cwd=ROOT, stdout=subprocess.PIPE, preexec_fn=one_core)
        text = child.stdout.read().decode()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - began
        if status != 0:
            sys.exit(f"{name} failed:\n{text}")
        summary = json.loads(pathlib.Path(f"{folder}/report/summary.json").read_text())
    digest, events = re.search(r"digest ([0-9a-f]{16}) of (\d+) events", text).groups()
    return {
        "phones": summary["devices"],
        "simulated_seconds": summary["seconds"],
        "events": int(events),
        "digest": digest,
        "http_401": summary["counters"].get("http.401", 0),
        "pings": summary["counters"]["sse.pings"],
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "clock_seconds": round(seconds, 1),
        "peak_mib": round(usage.ru_maxrss / 1024),
        "events_per_processor_second": round(int(events) / (usage.ru_utime + usage.ru_stime)),
    }


if __name__ == "__main__":
    print(json.dumps({name: measured(name) for name in sys.argv[1:] or ["day", "hour"]}, indent=2))
