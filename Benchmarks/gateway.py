#!/usr/bin/env python3
"""What the fault gateway adds: the same fifty journeys a second straight to a backend and through `proxy`, by turns.

Prints JSON: milliseconds at p50 and p99 of each way, and what the gateway adds to them. Phones and backend share one core, the
gateway has another: where all of them crowd each other, they measure the machine's scheduler. With `--check` it fails where
the gateway adds 2 ms or more at p99 in each of the rounds.

    Benchmarks/gateway.py [--check] [--rounds N]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / ".build/release/swiftwing-sim"
ADDED_MS_MAX = 2
METRICS = ("upload.service_time", "sse.connect.time", "cleanup.time")
SCENARIO = """
scenario: 1
name: gateway
fleet: {phones: {devices: 200, scans: 5, arrivals: 50/s}}
server: {job-time: 1s..2s, ping: 1s, rate-limit: 1000 per 1s}
"""


def on(core):
    if not hasattr(os, "sched_setaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))
    return lambda: os.sched_setaffinity(0, {cores[core % len(cores)]})


def server(core, *words):
    child = subprocess.Popen(
        [BINARY, *words, "--port", "0", "--quiet"], cwd=ROOT, stdout=subprocess.PIPE, text=True, preexec_fn=on(core))
    return child, child.stdout.readline().split()[-1]


def measured(scenario, target, folder):
    subprocess.run(
        [BINARY, "run", scenario, "--target", target, "--threads", "1", "--output", folder, "--quiet"],
        cwd=ROOT, stdout=subprocess.DEVNULL, preexec_fn=on(0), check=True)
    metrics = json.loads(pathlib.Path(folder, "summary.json").read_text())["metrics"]
    return {name: {p: round(metrics[name][p], 3) for p in ("p50", "p99")} for name in METRICS}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--check", action="store_true")
    options.add_argument("--rounds", type=int, default=2)
    options = options.parse_args()
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        scenario = pathlib.Path(folder, "gateway.scenario")
        scenario.write_text(SCENARIO)
        backend, straight = server(0, "serve", scenario)
        gateway, through = server(1, "proxy", "--upstream", straight)
        try:
            for number in range(options.rounds):
                ways = {
                    name: measured(scenario, target, f"{folder}/{name}-{number}")
                    for name, target in (("straight", straight), ("through", through))
                }
                ways["added"] = {
                    name: {p: round(ways["through"][name][p] - ways["straight"][name][p], 3) for p in ("p50", "p99")}
                    for name in METRICS
                }
                rounds.append(ways)
        finally:
            for child in (gateway, backend):
                child.terminate()
                child.wait()
    print(json.dumps(rounds, indent=2))
    least = {name: min(way["added"][name]["p99"] for way in rounds) for name in METRICS}
    late = {name: added for name, added in least.items() if added >= ADDED_MS_MAX}
    return f"the gateway adds too much at p99 (ms): {late}" if options.check and late else 0


if __name__ == "__main__":
    sys.exit(main())
