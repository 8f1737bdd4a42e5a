#!/usr/bin/env python3
"""Records which ways through the program a simulation takes, for `make build` to optimize by.

- Benchmarks/hour.proftext: which branches are taken, by a program that was built with counters and simulates a fiftieth of the
  hour. Functions that ran less than a thousand times are left out and optimized as ever.
- Benchmarks/hour.order: in which order functions best lie in memory, those of the runtime among them. The linker makes it
  of who calls whom how often, which a profiler counts.

Only Linux builds by them (Docs/decisions/0096).

    Benchmarks/profile.py
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "Benchmarks/hour.proftext"
ORDER = ROOT / "Benchmarks/hour.order"
SCRATCH = ROOT / ".build/profile"
BINARY = SCRATCH / "release/swiftwing-sim"
RUNS_MIN = 1_000
CALLS_MIN = 100
HOUR = ["hour", "--set", "fleet.readers.devices=1000", "--set", "fleet.readers.scans=2"]


def tool(name):
    target = subprocess.run(["swift", "-print-target-info"], check=True, capture_output=True, text=True)
    return pathlib.Path(json.loads(target.stdout)["paths"]["runtimeResourcePath"]).parent.parent / "bin" / name


def build(*linker):
    """The program with counters."""
    flags = ["-Xfrontend", f"-ir-profile-generate={SCRATCH}/unused", "-Xclang-linker", "-fprofile-generate", "-use-ld=lld"]
    subprocess.run(
        ["swift", "build", "-c", "release", "--product", "swiftwing-sim", "--static-swift-stdlib", "--quiet",
         "--scratch-path", SCRATCH, *(part for flag in flags for part in ("-Xswiftc", flag)),
         *(part for flag in linker for part in ("-Xlinker", flag))],
        cwd=ROOT, check=True)


def simulate(*more, by=(BINARY,)):
    """- Returns: the counts that the program leaves behind."""
    raw = SCRATCH / "hour.profraw"
    subprocess.run(
        [*by, "simulate", *HOUR, *more, "--output", SCRATCH / "report", "--quiet"], cwd=ROOT, check=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | {"LLVM_PROFILE_FILE": str(raw)})
    return raw


def counted():
    """The counts of one simulation, as text."""
    merged = subprocess.run(
        [tool("llvm-profdata"), "merge", "--sparse", "--text", "-o", "-", simulate()], check=True, capture_output=True, text=True)
    return merged.stdout


def hot(text):
    kind, functions = text.split(":ir\n", 1)
    kept = []
    for function in functions.strip().split("\n\n"):
        name = function.splitlines()[0]
        # Where calls went is left out, and functions that are named by the folder of their object file.
        counts = function.split("# Num Value Kinds:")[0].strip()
        values = [int(count) for count in counts.split("# Counter Values:\n")[1].split()]
        if ";" not in name and max(values) >= RUNS_MIN:
            # Names of Swift begin as a bitmap does: that there is none has to be said.
            kept.append(f"{counts}\n# Num Bitmap Bytes:\n$0\n")
    return f"{kind}:ir\n" + "\n".join(sorted(kept))


def calls():
    """Who calls whom how often, as the linker reads it."""
    seen, bare = SCRATCH / "hour.calls", SCRATCH / "bare"
    # Its debug information is more than the profiler can read.
    subprocess.run([tool("llvm-objcopy"), "--strip-debug", BINARY, bare], check=True)
    simulate("--set", "fleet.readers.devices=100", by=(
        "valgrind", "--quiet", "--tool=callgrind", "--demangle=no", "--compress-strings=no", f"--callgrind-out-file={seen}",
        bare))
    caller, callee, counts = "", "", {}
    for line in seen.read_text().splitlines():
        if name := re.match(r"(c?)fn=([^' ]+)", line):
            caller, callee = (caller, name[2]) if name[1] else (name[2], callee)
        elif call := re.match(r"calls=(\d+)", line):
            counts[caller, callee] = counts.get((caller, callee), 0) + int(call[1])
    # Names without a symbol are addresses.
    return "".join(
        f"{one} {other} {count}\n" for (one, other), count in sorted(counts.items())
        if count >= CALLS_MIN and one != other and not one.startswith("0x") and not other.startswith("0x"))


def ordered(edges):
    """The functions as the linker puts them when it knows who calls whom."""
    known = SCRATCH / "hour.edges"
    known.write_text(edges)
    build(f"--call-graph-ordering-file={known}", "--no-warn-symbol-ordering")
    called = {name for edge in edges.splitlines() for name in edge.split(" ")[:2]}
    symbols = subprocess.run(["nm", "--numeric-sort", BINARY], check=True, capture_output=True, text=True).stdout
    places = (line.split(" ", 2) for line in symbols.splitlines() if not line.startswith(" "))
    return list(dict.fromkeys(name for _, kind, name in places if kind in "tTwW" and name in called))


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        sys.exit("valgrind is missing: apt-get install valgrind")
    build()
    RECORD.write_text(hot(counted()))
    ORDER.write_text("\n".join(ordered(calls())) + "\n")
    for made in RECORD, ORDER:
        print(f"{made.relative_to(ROOT)}: {made.stat().st_size:,} bytes")
