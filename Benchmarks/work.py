#!/usr/bin/env python3
"""What the live fleet does for a journey, in counts that do not depend on how busy the machine is: user instructions, system
calls and allocations, beside those of the C client on the same libcurl (Benchmarks/reference/client.c).

Instructions and allocations are counted by callgrind, on a copy of the program without its debug sections, in a run with
500 journeys in 25 seconds. Those of a run of the same length with 50 journeys are subtracted, so that what a second costs, and
the start, do not count. callgrind counts each byte of a copied photo as one instruction: each program copies it once, and it
is subtracted from both. An event is the difference to streams with 100 more events. System calls are counted by strace,
of 100 phones in a closed loop.

    Benchmarks/work.py [--binary PROGRAM]

Prints JSON.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile

import live
from common import BINARY, ended

SECONDS = 25
PROGRAMS = {"ours": live.Ours, "c": live.C}
MANY = live.Load("many", 50, rate=20)
FEW = live.Load("few", 50, rate=2)
LONG = live.Load("long", 50, rate=20, events=106, gap_ms=5)
SHORT = live.Load("short", 50, rate=20, events=6, gap_ms=5)
CLOSED = live.Load("closed100", 100)
ALLOCATORS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"}


def counted(program, load, folder, seconds, *under):
    """Runs a client to its end. What the server has counted, which the client must have counted, too."""
    folder.mkdir()
    server = live.Server(load, folder)
    try:
        client_of = PROGRAMS[program]
        client_of.under, client_of.spacing = under, "uniform"
        client = client_of(load, server, seconds, folder)
        # Under a profiler timers are late, and the run says so by its exit code.
        ended(client.process, (0, 98), client.output.read_text)
    finally:
        counts = server.end()
    own = client.counted()
    agrees = all(own[name] == counts[name] for name in ("journeys", "events"))
    live.check(program, load, {"client": own, "server": counts}, agrees and own["errors"] == counts["errors"] == 0)
    return counts


def threads_of(program, load, folder):
    """What the server has counted, and the profiles of the client's threads."""
    counts = counted(
        program, load, folder, SECONDS, "valgrind", "--quiet", "--tool=callgrind", "--separate-threads=yes",
        f"--callgrind-out-file={folder}/callgrind")
    return counts, [thread for path in sorted(folder.glob("callgrind-*")) if (thread := Profile(path)).instructions]


def profiled(program, load, folder):
    counts, threads = threads_of(program, load, folder)
    # The first thread is the process itself; of C it is the only one.
    return counts | {
        "instructions": sum(thread.instructions for thread in threads),
        "main": threads[0].instructions,
        "allocations": sum(thread.allocations for thread in threads),
    }


class Profile:
    """One thread of a run under callgrind, by the format of its files."""

    def __init__(self, path):
        self.instructions, self.allocations = 0, 0
        names, callee = {}, None
        for line in path.open():
            if named := re.match(r"c?fn=\((\d+)\)(?: (.*))?$", line):
                number, name = named.groups()
                if name:
                    names[number] = name.split("@")[0].split("'")[0]
                if line.startswith("c"):
                    callee = names[number]
            elif line.startswith("calls=") and callee in ALLOCATORS:
                self.allocations += int(line[len("calls="):].split()[0])
            elif line.startswith("totals:"):
                self.instructions = int(line.split()[1])
        self.functions = set(names.values())


def calls(program, load, folder):
    log = folder.with_suffix(".strace")
    counts = counted(program, load, folder, 8, "strace", "-f", "-c", "-o", log)
    total = next(line for line in log.read_text().splitlines() if line.endswith("total"))
    return counts | {"calls": int(total.split()[3])}  # % time, seconds, usecs/call, calls, errors, syscall


def rise(many, few, figure, unit):
    """Of one more `unit`."""
    return (many[figure] - few[figure]) / (many[unit] - few[unit])


def measured(program, folder):
    runs = {load.name: profiled(program, load, folder / f"{program}-{load.name}") for load in (MANY, FEW, LONG, SHORT)}
    photo = (live.BUILT / "photo.jpg").stat().st_size
    traced = [calls(program, load, folder / f"{program}-calls-{load.name}") for load in (CLOSED, FEW)]
    whole = rise(runs["many"], runs["few"], "instructions", "journeys")
    main = rise(runs["many"], runs["few"], "main", "journeys")
    return {
        "instructions": round(whole - photo),
        "instructionsOfMain": round(main) if program == "ours" else None,
        "allocations": round(rise(runs["many"], runs["few"], "allocations", "journeys"), 1),
        "eventInstructions": round(rise(runs["long"], runs["short"], "instructions", "events")),
        "calls": round(rise(*traced, "calls", "journeys"), 1),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, default=BINARY, help="another build of swiftwing-sim")
    options = parser.parse_args()
    live.Ours.binary = options.binary.resolve()
    live.build()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        stripped = folder / "swiftwing-sim"
        # callgrind cannot read the debug sections of a large Swift program.
        subprocess.run(["strip", "-S", live.Ours.binary, "-o", stripped], check=True)
        live.Ours.binary = stripped
        figures = {program: measured(program, folder) for program in PROGRAMS}
    ours, c = figures["ours"], figures["c"]
    ratios = {
        "journey.instructions.ours/c": round(ours["instructions"] / c["instructions"], 3),
        "journey.allocations.ours/c": round(ours["allocations"] / c["allocations"], 3),
        "journey.calls.ours": ours["calls"],
        "journey.calls.ours/c": round(ours["calls"] / c["calls"], 3),
        "event.instructions.ours-c": ours["eventInstructions"] - c["eventInstructions"],
    }
    print(json.dumps({"benchmark": "work", "figures": ratios, "programs": figures}, indent=2))


if __name__ == "__main__":
    main()
