#!/usr/bin/env python3
"""What the fault gateway adds: the same fifty journeys a second straight to a backend and through `proxy`, by turns.

Prints JSON: milliseconds at p50 and p99 of each way, what the gateway adds to them in each round, and the median of what it
adds. Times are from a request's sending to the head of its answer. Phones and backend share one core, the gateway has
another: where all of them crowd each other, they measure the machine's scheduler. A round in which other programs took more
than a tenth of a core is shown as not quiet, and another one is run in its place, up to twice as many.

What begins in the first two seconds does not count: then each photo is prepared for the first time, and the uploads
that waited for it come all at once. With `--check` it fails where the median of what is added at p99 is 2 ms or more.

    Benchmarks/gateway.py [--check] [--rounds N]
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from common import BINARY, ROOT, Others, listening, on, percentiles

ADDED_MS_MAX = 2
OTHERS_CORES_MAX = 0.1
OPERATIONS = ("upload", "stream", "cleanup")
PERCENTILES = (50, 99)
WARMUP_NS = 2_000_000_000
SCENARIO = """
scenario: 1
name: gateway
fleet: {phones: {phones: 300, scans: 5, arrivals: 50/s}}
server: {job-time: 1s..2s, ping: 1s, rate-limit: 1000 per 1s}
"""


def server(core, *words):
    return listening([BINARY, *words, "--port", "0", "--quiet"], core)


def measured(scenario, target, folder):
    subprocess.run(
        [BINARY, "run", scenario, "--target", target, "--threads", "1", "--output", folder, "--quiet"],
        cwd=ROOT, stdout=subprocess.DEVNULL, preexec_fn=on(0), check=True)
    times = {operation: [] for operation in OPERATIONS}
    with pathlib.Path(folder, "events.ndjson").open() as events:
        for line in events:
            event = json.loads(line)
            if event["side"] != "phone" or event["what"] != "replied" or event["operation"] not in times:
                continue
            if event["t"] - event["took_ns"] >= WARMUP_NS:
                times[event["operation"]].append(event["took_ns"] / 1e6)
    return {operation: percentiles(took, *PERCENTILES) | {"count": len(took)} for operation, took in times.items()}


def each(value):
    """A figure for each operation and percentile."""
    return {operation: {f"p{p}": round(value(operation, f"p{p}"), 3) for p in PERCENTILES} for operation in OPERATIONS}


def quiet(rounds):
    return [one for one in rounds if one["others"] <= OTHERS_CORES_MAX]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--check", action="store_true")
    options.add_argument("--rounds", type=int, default=3)
    options = options.parse_args()
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        scenario = pathlib.Path(folder, "gateway.scenario")
        scenario.write_text(SCENARIO)
        backend, straight = server(0, "serve", scenario)
        gateway, through = server(1, "proxy", "--upstream", straight)
        ways = [("straight", straight), ("through", through)]
        try:
            for number in range(2 * options.rounds):
                others = Others(backend, gateway)
                one = {name: measured(scenario, target, f"{folder}/{name}-{number}") for name, target in ways}
                one["added"] = each(lambda operation, p: one["through"][operation][p] - one["straight"][operation][p])
                one["others"] = others.cores()
                rounds.append(one)
                if len(quiet(rounds)) == options.rounds:
                    break
                # What comes first in one round comes last in the next.
                ways.reverse()
        finally:
            for child in (gateway, backend):
                child.terminate()
                child.wait()
    counted = quiet(rounds)
    if not counted:
        print(json.dumps({"rounds": rounds}, indent=2))
        return "the machine was never quiet"
    added = each(lambda operation, p: statistics.median(one["added"][operation][p] for one in counted))
    print(json.dumps({"rounds": rounds, "quiet": len(counted), "added": added}, indent=2))
    late = {operation: figures["p99"] for operation, figures in added.items() if figures["p99"] >= ADDED_MS_MAX}
    return f"the gateway adds too much at p99 (ms): {late}" if options.check and late else 0


if __name__ == "__main__":
    sys.exit(main())
