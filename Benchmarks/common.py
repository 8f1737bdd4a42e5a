"""What the benchmarks share: where things are, processors and processes."""

import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / ".build/release/swiftwing-sim"


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


class Others:
    """How many cores processes that are none of ours, and the host of this machine (steal), took since this was made."""

    def __init__(self, *ours):
        self.ours = {os.getpid(), *(process.pid for process in ours)}
        self.began = (time.monotonic(), self.seconds())

    def seconds(self):
        """None where the system does not say. The times of the whole machine are sampled, those of processes are counted."""
        try:
            steal = int(pathlib.Path("/proc/stat").read_text().split(maxsplit=9)[8])
        except OSError:
            return None
        others = (int(path.name) for path in pathlib.Path("/proc").glob("[0-9]*"))
        return steal / os.sysconf("SC_CLK_TCK") + sum(map(seconds_of, set(others) - self.ours))

    def cores(self):
        if self.began[1] is None:
            return 0
        return round((self.seconds() - self.began[1]) / (time.monotonic() - self.began[0]), 3)


def seconds_of(process_id):
    """Processor time of a process, all its threads, and its children that have ended; 0 of one that is gone."""
    try:
        fields = pathlib.Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def processor_seconds(process):
    return seconds_of(process.pid)
