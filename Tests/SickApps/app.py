"""A phone app for Talaria that keeps the contract until a switch makes it sick."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

import photos
from bugs import TABLE, Bugs
from device import Device
from scan import scan

BOOKS_FOR_ALL = 0
SCANS_FAILED = 1
USAGE = 2
SERVER_UNREACHABLE = 3
Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Options:
    """What the command line says."""

    server: str
    state: Path
    bugs: tuple[str, ...]
    devices: int
    scans: int
    every: float
    patience: float
    stay: float
    photo: tuple[Path, ...]


def default_state() -> Path:
    """Return the folder in which device ids are kept."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "sick-app"


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--server", metavar="URL", help="address of the backend, such as http://127.0.0.1:8090")
    add("--bug", action="append", default=[], metavar="NAME", help="turn a switch on; may be repeated")
    add("--phones", type=int, default=1, help="phones (default: 1)")
    add("--scans", type=int, default=1, help="scans of each phone (default: 1)")
    add("--every", type=float, default=0.3, help="seconds between two scans of a phone (default: 0.3)")
    add("--photo", type=Path, nargs="+", default=[], metavar="FILE", help="JPEG files (default: Images/shelves)")
    add("--state", type=Path, default=default_state(), help="folder of the device ids (default: %(default)s)")
    add("--patience", type=float, default=1500, help="longest wait that is kept, in seconds (default: 1500)")
    add("--stay", type=float, default=0, help="seconds that the app stays open after its scans (default: 0)")
    add("--list", action="store_true", help="list the switches")
    options = parser.parse_args()
    if not options.list and not options.server:
        parser.error("--server is missing")
    missing = [name for name in options.bug if name not in TABLE]
    if missing:
        parser.error(f"no such switch: {', '.join(missing)} (see --list)")
    if options.devices < 1 or options.scans < 1:
        parser.error("--phones and --scans must be at least 1")
    return options


def list_switches() -> None:
    """Print the table of switches."""
    for switch in TABLE.values():
        print(f"{switch.name} ({switch.kind}; section {switch.section})")
        print(f"    {switch.what}")
        print(f"    needs: {switch.needs}")
        print(f"    finds: {switch.finds}")


def photos_of(bugs: Bugs, shelf: list[bytes], device: int, number: int) -> list[bytes]:
    """Return the photos of a scan; no two scans have the same bytes."""
    count = 6 if bugs("upload-six-photos") else 5 if bugs("harmless-five-photos") else 1
    return [photos.marked(shelf[(device + number + part) % len(shelf)], f"{time.time_ns()} {device} {part}")
            for part in range(count)]


async def run_device(options: Options, number: int, shelf: list[bytes], report: Report) -> None:
    """Run the scans of one phone; each starts a little after the one before."""
    bugs = Bugs(list(options.bugs))
    device = Device(number, options.server, options.state, bugs, options.patience)

    async def one(index: int) -> None:
        await asyncio.sleep((index - 1) * options.every)
        report(await scan(device, index, photos_of(bugs, shelf, number, index)))

    try:
        await asyncio.gather(*(one(index) for index in range(1, options.scans + 1)))
        await asyncio.sleep(options.stay)
    finally:
        await device.close()


async def run(options: Options, report: Report) -> int:
    """Run all phones and return the exit code."""
    shelf = photos.load(list(options.photo))
    lines: list[dict[str, Any]] = []

    def take(line: dict[str, Any]) -> None:
        lines.append(line)
        report(line)

    await asyncio.gather(*(run_device(options, number, shelf, take) for number in range(1, options.devices + 1)))
    if all(line["outcome"] == "books" for line in lines):
        return BOOKS_FOR_ALL
    if all(line["outcome"] == "upload-0" for line in lines):
        return SERVER_UNREACHABLE
    return SCANS_FAILED


def main() -> int:
    """Run the app until its scans are over."""
    given = arguments()
    if given.list:
        list_switches()
        return BOOKS_FOR_ALL
    options = Options(given.server, given.state, tuple(given.bug), given.devices, given.scans, given.every,
                      given.patience, given.stay, tuple(given.photo))
    try:
        return asyncio.run(run(options, lambda line: print(json.dumps(line), flush=True)))
    except (OSError, ValueError, httpx.InvalidURL) as error:
        print(f"app.py: {error}", file=sys.stderr)
        return USAGE


if __name__ == "__main__":
    sys.exit(main())
