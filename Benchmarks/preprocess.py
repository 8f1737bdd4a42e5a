#!/usr/bin/env python3
"""Preprocessing of photographs beside libjpeg-turbo's own tools, on the same files, in one run, by turns.

    Benchmarks/preprocess.py [--rounds N] [PHOTO.jpg ...]

Without photographs it paints three of 4032 x 3024. Prints JSON. Each side is a whole process, or a pipe of processes, on
one and the same processor, so that neither side is helped by a second one; compared is the processor time.

    ours          swiftwing-sim preprocess IN OUT: decode, filters, encode, decode, resize to 1920, encode
    oursNoDenoise the same without noise reduction
    peer          djpeg IN | cjpeg -quality 85, then the same with what came out of it: two rounds at full size, as ours
                  has them of photographs of up to 5760 pixels, but that ours encodes the second time at 1920
    parallel      both sides again on all processors, wall time: a pipe has two
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from common import BINARY, ended


def run(argv, stdin=None, stdout=subprocess.DEVNULL):
    return subprocess.Popen(argv, stdin=stdin, stdout=stdout)


def finish(processes):
    """Processor milliseconds, and the largest resident size among them."""
    cpu, resident = 0.0, 0
    for process in processes:
        usage = ended(process)
        cpu += (usage.ru_utime + usage.ru_stime) * 1000
        resident = max(resident, usage.ru_maxrss)
    return cpu, resident


def ours(source, folder, *options):
    with open(folder / "ours.json", "wb") as report:
        return finish([run([BINARY, "preprocess", source, folder / "ours.jpg", *options], stdout=report)])


def pipe(source, target):
    with open(target, "wb") as file:
        decoder = run(["djpeg", source], stdout=subprocess.PIPE)
        encoder = run(["cjpeg", "-quality", "85"], stdin=decoder.stdout, stdout=file)
        decoder.stdout.close()
        return finish([decoder, encoder])


def peer(source, folder):
    first = pipe(source, folder / "first.jpg")
    second = pipe(folder / "first.jpg", folder / "second.jpg")
    return first[0] + second[0], max(first[1], second[1])


SIDES = {
    "ours": lambda source, folder: ours(source, folder),
    "oursNoDenoise": lambda source, folder: ours(source, folder, "--no-denoise"),
    "peer": lambda source, folder: peer(source, folder),
}


def measure(source, folder, rounds, processors):
    os.sched_setaffinity(0, processors)
    samples = {name: {"cpu": [], "wall": [], "resident": []} for name in SIDES}
    inside = []
    for turn in range(rounds + 1):
        for name, side in SIDES.items():
            began = time.monotonic()
            cpu, resident = side(source, folder)
            wall = (time.monotonic() - began) * 1000
            if turn == 0:
                continue  # Caches fill.
            samples[name]["cpu"].append(cpu)
            samples[name]["wall"].append(wall)
            samples[name]["resident"].append(resident)
            if name == "ours":
                inside.append(json.loads((folder / "ours.json").read_text())["totalTimeMs"])
    figures = {
        name: {
            "cpuMs": round(statistics.median(sample["cpu"]), 1),
            "cpuMsMin": round(min(sample["cpu"]), 1),
            "wallMs": round(statistics.median(sample["wall"]), 1),
            "residentKb": max(sample["resident"]),
        }
        for name, sample in samples.items()
    }
    return figures, round(statistics.median(inside), 1)


def ratio(figures, name, other, key):
    return round(figures[name][key] / figures[other][key], 3)


def report(source, folder, rounds):
    everywhere = os.sched_getaffinity(0)
    one, inside = measure(source, folder, rounds, {max(everywhere)})
    both, inside_both = measure(source, folder, rounds, everywhere)
    os.sched_setaffinity(0, everywhere)
    said = json.loads((folder / "ours.json").read_text())
    return {
        "photo": source.name,
        "source": said["source"],
        "upload": said["upload"],
        "oneProcessor": one,
        "insideOursMs": inside,
        "parallel": {name: {"wallMs": figure["wallMs"]} for name, figure in both.items()},
        "parallelInsideOursMs": inside_both,
        "ratios": {
            "cpu": ratio(one, "ours", "peer", "cpuMs"),
            "cpuNoDenoise": ratio(one, "oursNoDenoise", "peer", "cpuMs"),
            "parallelWall": ratio(both, "ours", "peer", "wallMs"),
        },
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("photos", nargs="*", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        photos = arguments.photos
        if not photos:
            painted = folder / "painted"
            subprocess.run(
                [BINARY, "images", "make", painted, "--count", "3", "--size", "4032x3024"],
                check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            photos = sorted(painted.glob("*.jpg"))
        results = [report(photo, folder, arguments.rounds) for photo in photos]
    figures = {"preprocess.cpu": max(result["ratios"]["cpu"] for result in results)}
    print(json.dumps(
        {"benchmark": "preprocess", "figures": figures, "rounds": arguments.rounds, "photos": results}, indent=2))


if __name__ == "__main__":
    main()
