"""What the benchmarks share: where things are, processors, processes and thresholds."""

import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / ".build/release/swiftwing-sim"
THRESHOLDS = ROOT / "Benchmarks/Thresholds/6.3"


def processors():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def on(*places):
    """A `preexec_fn` that keeps a process on these of the processors; None where the system has no such call."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))
    return lambda: os.sched_setaffinity(0, {cores[place % len(cores)] for place in places})


def listening(argv, core, **options):
    """A server on one processor, and the URL that it prints as the last word of its first line."""
    server = subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True, preexec_fn=on(core), **options)
    line = server.stdout.readline()
    if not line:
        sys.exit(f"{argv[0]} does not listen: it ended with {server.wait()}")
    return server, line.split()[-1]


def ended(process, expected=(0,), said=str):
    """The use of resources of a process, when it has ended. `said` returns what it printed, shown where it has failed."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in expected:
        sys.exit(f"{process.args[0]} ended with {process.returncode}\n{said()}")
    return usage


def percentiles(values, *wanted):
    if len(values) < 2:
        sys.exit("too few values for percentiles")
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {f"p{p}": round(cuts[p - 1], 3) for p in wanted}


def over(name, figures, is_partial=False):
    """What is above the threshold that the file `name` has for it, as a text for each. `is_partial`: a figure may be missing."""
    limits = json.loads((THRESHOLDS / f"{name}.json").read_text())
    return [
        f"{figure} is {figures.get(figure, 'not measured')}, at most {limit} is wanted"
        for figure, limit in limits.items()
        if (not is_partial if figure not in figures else figures[figure] > limit)
    ]
