#!/usr/bin/env python3
"""Records which ways through the program a simulation takes, for `make build` to optimize by: Benchmarks/hour.proftext.

Builds the program with counters, lets it simulate a fiftieth of the hour, and keeps the counts of the functions that ran a
thousand times; the others are optimized as ever. Only Linux builds by it (Docs/decisions/0096).

    Benchmarks/profile.py
"""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "Benchmarks/hour.proftext"
SCRATCH = ROOT / ".build/profile"
RUNS_MIN = 1_000
HOUR = ["hour", "--set", "fleet.readers.devices=1000", "--set", "fleet.readers.scans=2"]


def tool():
    target = subprocess.run(["swift", "-print-target-info"], check=True, capture_output=True, text=True)
    return pathlib.Path(json.loads(target.stdout)["paths"]["runtimeResourcePath"]).parent.parent / "bin/llvm-profdata"


def counted():
    """The counts of one simulation, as text."""
    flags = ["-Xfrontend", f"-ir-profile-generate={SCRATCH}/unused", "-Xclang-linker", "-fprofile-generate", "-use-ld=lld"]
    subprocess.run(
        ["swift", "build", "-c", "release", "--product", "swiftwing-sim", "--static-swift-stdlib", "--quiet",
         "--scratch-path", SCRATCH, *(part for flag in flags for part in ("-Xswiftc", flag))],
        cwd=ROOT, check=True)
    raw = SCRATCH / "hour.profraw"
    subprocess.run(
        [SCRATCH / "release/swiftwing-sim", "simulate", *HOUR, "--output", SCRATCH / "report", "--quiet"],
        cwd=ROOT, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"LLVM_PROFILE_FILE": str(raw)})
    merged = subprocess.run(
        [tool(), "merge", "--sparse", "--text", "-o", "-", raw], check=True, capture_output=True, text=True)
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


if __name__ == "__main__":
    RECORD.write_text(hot(counted()))
    print(f"{RECORD.relative_to(ROOT)}: {RECORD.stat().st_size:,} bytes")
