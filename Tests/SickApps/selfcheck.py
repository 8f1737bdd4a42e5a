"""Checks that the healthy app breaks no rule, and that each switch shows on the wire."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import httpx
import uvicorn

import app
import cases
import rules_jobs
import rules_requests
from bugs import BREAK, HARMLESS, TABLE, WASTE
from cases import PLAIN, Setting
from photos import SHELVES
from proxies import Proxies
from recorder import Exchange

HERE = Path(__file__).resolve().parent
TALARIA = HERE.parent / "SickBackends" / "talaria.py"
PHOTO = SHELVES / "shelf-5-tall-hazy.jpg"
RULES = [*rules_requests.RULES, *rules_jobs.RULES]
AT_ONCE = 10
RUN_SECONDS_MAX = 15.0


@dataclass(frozen=True)
class Seen:
    """What came of one run of the app."""

    outcomes: list[str]
    broken: dict[str, list[str]]
    log: list[Exchange]


async def observe(proxies: Proxies, setting: Setting, bug: str | None) -> Seen:
    """Run the app in a setting and return what was seen of it."""
    address, recorder = proxies.record(setting)
    lines: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as state:
        options = app.Options(address, Path(state), (bug,) if bug else (), 1, setting.scans, setting.every, 30,
                              setting.stay, (PHOTO,))
        for _ in range(setting.starts):
            try:
                await asyncio.wait_for(app.run(options, lines.append), RUN_SECONDS_MAX)
            except TimeoutError:
                lines.append({"outcome": "out of time"})
    # The proxy notices a little later than the app that a stream is closed.
    await asyncio.sleep(0.3)
    broken = {rule.__name__: list(rule(recorder.exchanges)) for rule in RULES}
    return Seen([str(line["outcome"]) for line in lines], {name: said for name, said in broken.items() if said},
                recorder.exchanges)


async def check_switch(proxies: Proxies, name: str) -> str | None:
    """Return why a switch is not as its table says, or nothing."""
    kind = TABLE[name].kind
    if kind == HARMLESS:
        seen = await observe(proxies, PLAIN, name)
        if seen.broken or seen.outcomes != ["books"]:
            return f"is not harmless: {seen.outcomes} {seen.broken}"
        return None if cases.HARMLESS[name](seen.log) else "has no effect"
    setting, rule = (cases.BREAKS if kind == BREAK else cases.WASTES)[name]
    seen = await observe(proxies, setting, name)
    if rule not in seen.broken:
        return f"{rule} does not see it: {seen.outcomes} {seen.broken}"
    if kind == WASTE and len(seen.broken) > 1:
        return f"breaks more than it says: {seen.broken}"
    print(f"{name:28} {', '.join(seen.outcomes):34.34} {rule}: {seen.broken[rule][0]}", flush=True)
    return None


async def check_healthy(proxies: Proxies, setting: Setting) -> str | None:
    """Return which rules the healthy app breaks in a setting, or nothing."""
    seen = await observe(proxies, setting, None)
    if seen.broken:
        return f"healthy app: {seen.outcomes} {seen.broken}"
    occasion = setting.occasion
    final = occasion.error is not None or occasion.refusal is not None and occasion.refusal.times > 10
    if not final and set(seen.outcomes) != {"books"}:
        return f"healthy app: {seen.outcomes}"
    return "healthy app has books that it cannot have" if final and "books" in seen.outcomes else None


async def check_command_line(address: str) -> list[str]:
    """Return what the program itself does wrong: exit codes, lines, and the id that it keeps."""
    wrong = []
    with tempfile.TemporaryDirectory() as state:
        code, out = await command("--server", address, "--state", state, "--phones", "2", "--scans", "2")
        lines = [json.loads(line) for line in out.splitlines()]
        if code != 0 or len(lines) != 4 or any(not line["books"] for line in lines):
            wrong.append(f"two devices with two scans: exit code {code}, {out}")
        if len(list(Path(state).iterdir())) != 2:
            wrong.append("the state folder has not one id for each device")
        expected = [(3, ["--server", "http://127.0.0.1:1", "--state", state]),
                    (1, ["--server", address, "--state", state, "--bug", "upload-part-image"]),
                    (2, ["--server", address, "--bug", "none-such"]), (0, ["--list"])]
        for right, options in expected:
            code, out = await command(*options)
            if code != right:
                wrong.append(f"{' '.join(options)}: exit code {code}, not {right}")
    return wrong


async def command(*options: str) -> tuple[int | None, str]:
    """Run the program and return its exit code and its output."""
    process = await asyncio.create_subprocess_exec(sys.executable, str(HERE / "app.py"), *options,
                                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    out, _ = await process.communicate()
    return process.returncode, out.decode()


def start_backends() -> tuple[dict[str, str], list[subprocess.Popen[str]]]:
    """Start the healthy backends and return their addresses."""
    processes, addresses = [], {}
    for options in cases.BACKENDS.values():
        base = [sys.executable, str(TALARIA), "--job", "0.8,1.2", "--quota", "100000", "--big", "0"]
        processes.append(subprocess.Popen([*base, *options], stdout=subprocess.PIPE, text=True))
    for name, process in zip(cases.BACKENDS, processes):
        assert process.stdout is not None
        addresses[name] = process.stdout.readline().strip()
    return addresses, processes


async def check(names: list[str], addresses: dict[str, str]) -> list[str]:
    """Check some switches, and the healthy app in all of their settings."""
    chosen = [TABLE[name] for name in names]
    known = cases.BREAKS | cases.WASTES
    settings = dict.fromkeys([PLAIN, *(known[one.name][0] for one in chosen if one.kind != HARMLESS), *cases.HEALTHY])
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(trust_env=False, limits=limits, timeout=60) as http:
        proxies = Proxies(addresses, http, len(chosen) + len(settings))
        server = uvicorn.Server(uvicorn.Config(proxies, lifespan="off", access_log=False, log_level="critical",
                                               timeout_graceful_shutdown=1))
        serving = asyncio.create_task(server.serve(proxies.bound))
        turn = asyncio.Semaphore(AT_ONCE)

        async def one(label: str, work: object) -> str | None:
            async with turn:
                failure = await work  # type: ignore[misc]
            return f"{label}: {failure}" if failure else None

        work = [one(name, check_switch(proxies, name)) for name in names]
        work += [one(str(setting), check_healthy(proxies, setting)) for setting in settings]
        found = [failure for failure in await asyncio.gather(*work) if failure]
        found += await check_command_line(addresses["plain"])
        server.should_exit = True
        await serving
    return found


def main() -> int:
    """Check the switches that are named, or all."""
    began = time.monotonic()
    missing = set(TABLE) - set(cases.BREAKS) - set(cases.WASTES) - set(cases.HARMLESS)
    addresses, processes = start_backends()
    try:
        found = [f"{name}: no case" for name in missing]
        found += asyncio.run(check([name for name in sys.argv[1:] or TABLE if name not in missing], addresses))
    finally:
        for process in processes:
            process.terminate()
    for failure in found:
        print(f"FAILED {failure}")
    print(f"{len(found)} failures, {time.monotonic() - began:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
