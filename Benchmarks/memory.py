#!/usr/bin/env python3
"""Whether a run's memory grows with its length: the same load on the simulated clock for ten minutes and for an hour.

1,500 phones, 88 scans a second, 5,000 events a second: each is busy a third of its time, so that no queue of its own grows
now and then. Prints JSON: the most memory that each run held (its report included), and the difference.

    Benchmarks/memory.py
"""

import json
import pathlib
import re
import subprocess
import tempfile

from common import BINARY, ROOT, ended

PHONES = 1_500
SCANS_A_SECOND = 88

SCENARIO = f"""scenario: 1
name: steady-memory
seed: 18
drain: 10m
fleet:
  readers:
    phones: {PHONES}
    network: lte
    scans: SCANS
    arrivals: {SCANS_A_SECOND}/s
    spacing: poisson
    photos: shelves
server:
  books: 3..8
  job-time: 20s..40s
  ping: 30s
  rate-limit: off
"""


def measured(minutes):
    scans = round(minutes * 60 * SCANS_A_SECOND / PHONES)
    with tempfile.TemporaryDirectory() as folder:
        scenario = pathlib.Path(folder) / "memory.scenario"
        scenario.write_text(SCENARIO.replace("SCANS", str(scans)))
        child = subprocess.Popen(
            [BINARY, "simulate", scenario, "--output", f"{folder}/report", "--quiet", "--no-color"],
            cwd=ROOT, stdout=subprocess.PIPE)
        text = child.stdout.read().decode()
        usage = ended(child, said=lambda: text)
        summary = json.loads((pathlib.Path(folder) / "report/summary.json").read_text())
        page = (pathlib.Path(folder) / "report/report.html").stat().st_size
    events = int(re.search(r"digest [0-9a-f]{16} of (\d+) events", text).group(1))
    return {
        "simulated_seconds": round(summary["seconds"]),
        "scans": summary["counters"]["scans.captured"],
        "events": events,
        "events_per_simulated_second": round(events / summary["seconds"]),
        "peak_bytes": usage.ru_maxrss * 1024,
        "page_bytes": page,
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 1),
    }


if __name__ == "__main__":
    short, long = measured(10), measured(60)
    growth = (long["peak_bytes"] - short["peak_bytes"]) / 1_000_000
    print(json.dumps({
        "benchmark": "memory", "figures": {"memory.growthMB": round(growth, 2)}, "tenMinutes": short, "anHour": long}, indent=2))
