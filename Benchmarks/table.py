#!/usr/bin/env python3
"""Runs the benchmarks, and prints one table: each figure of figures.json with its goal, its limit, and what others need.

    Benchmarks/table.py [work|live|preprocess|simulate|memory ...]

What each benchmark prints is kept in .build/bench/NAME.json. Ends with 1 where a figure is beyond its limit. Only counts, and
ratios that hold on a noisy machine, have a limit.
"""

import argparse
import json
import subprocess
import sys

from common import ROOT

BENCHMARKS = ("work", "live", "preprocess", "simulate", "memory")


def measured(name):
    """The figures of one benchmark, and what it said where it failed."""
    run = subprocess.run([sys.executable, ROOT / f"Benchmarks/{name}.py"], stdout=subprocess.PIPE, text=True)
    if run.returncode:
        sys.exit(f"{name}.py ended with {run.returncode}")
    (ROOT / f".build/bench/{name}.json").write_text(run.stdout)
    return json.loads(run.stdout)["figures"]


def is_beyond(value, bound, row):
    return value < bound if row.get("least") else value > bound


def judged(row, figures):
    """A line of the table, and what is wrong with it."""
    value = figures.get(row["figure"])
    goal, limit = row.get("goal"), row.get("limit")
    mark = "" if value is None or goal is None else "beyond" if is_beyond(value, goal, row) else "reached"
    shown = ["not measured" if value is None else f"{value:,}", *("" if bound is None else f"{bound:,}" for bound in (goal, limit))]
    line = f"{row['of']:68} {shown[0]:>12} {shown[1]:>8} {mark:8} {shown[2]:>8}  {row.get('field', '')}"
    wrong = limit is not None and (value is None or is_beyond(value, limit, row))
    return line, f"{row['figure']} is {shown[0]}, and its limit is {shown[2]}" if wrong else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    names = parser.parse_args().names or BENCHMARKS
    if unknown := set(names) - set(BENCHMARKS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; benchmarks are {', '.join(BENCHMARKS)}")
    figures = {}
    for name in names:
        figures |= measured(name)
    rows = json.loads((ROOT / "Benchmarks/figures.json").read_text())
    lines = [judged(row, figures) for row in rows if row["figure"] in figures]
    print(f"{'figure':68} {'here':>12} {'goal':>8} {'':8} {'limit':>8}  others", *(line for line, _ in lines), sep="\n")
    sys.exit("\n".join(wrong for _, wrong in lines if wrong) or 0)


if __name__ == "__main__":
    main()
