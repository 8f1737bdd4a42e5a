"""Checks the backend against the contract, and that every switch shows and is silent when it is off.

Without arguments it runs everything. Arguments are names of switches, or `healthy`.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
import traceback

import checks_events  # noqa: F401
import checks_http  # noqa: F401
import checks_later  # noqa: F401
import checks_load  # noqa: F401
import checks_results  # noqa: F401
import checks_sockets  # noqa: F401
import checks_streams  # noqa: F401
import checks_v2  # noqa: F401
import healthy
from bugs import TABLE
from phone import Phone
from trial import CHECKS, backend

AT_ONCE = 5
CHECK_TIME = 40.0


async def shows(name: str, dialect: str, bugs: tuple[str, ...]) -> bool:
    """Tell whether the symptom of a switch shows with these switches."""
    check = CHECKS[name]
    async with backend(*bugs, **check.config) as port:
        phone = Phone(port, dialect)
        phone.bugs = bugs
        return await asyncio.wait_for(check.symptom(phone), CHECK_TIME)


async def trial(name: str, dialect: str) -> list[str]:
    """Return what is wrong with a switch."""
    flaws = []
    for bugs in ((name,), ()):
        try:
            if await shows(name, dialect, bugs) != bool(bugs):
                flaws.append(f"{name} ({dialect}): {'does not show' if bugs else 'shows when it is off'}")
        except Exception:
            last = traceback.format_exc().strip().splitlines()
            flaws.append(f"{name} ({dialect}), {'on' if bugs else 'off'}: {last[-1]} at {last[-3].strip()}")
    return flaws


async def switches(names: list[str]) -> list[str]:
    """Try these switches, some of them at the same time."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def guarded(name: str, dialect: str) -> list[str]:
        async with gate:
            found = await trial(name, dialect)
        if found:
            # A busy machine can delay an event beyond the time of a check; a flaw shows again.
            async with gate:
                found = await trial(name, dialect)
        for flaw in found:
            print(f"FAILED  {flaw}", flush=True)
        return found

    pairs = [(name, dialect) for name in names
             for dialect in (("v3", "v2") if TABLE[name].dialect == "both" else (TABLE[name].dialect,))]
    print(f"{len(names)} switches in {len(pairs)} trials, each on and off")
    found = await asyncio.gather(*(guarded(*pair) for pair in pairs))
    return [flaw for part in found for flaw in part]


def main() -> int:
    """Run the checks, and return the exit code."""
    began = time.monotonic()
    # The sick backends fail in their own ways, and their streams are cut; both would fill the screen.
    logging.disable(logging.CRITICAL)
    chosen = sys.argv[1:]
    flaws = [f"{name}: has no check" for name in TABLE if name not in CHECKS]
    flaws += [f"{name}: has no switch" for name in CHECKS if name not in TABLE]
    for flaw in flaws:
        print(f"FAILED  {flaw}")
    if not chosen or "healthy" in chosen:
        flaws += healthy.run()
    names = [name for name in TABLE if name in CHECKS and (not chosen or name in chosen)]
    if names:
        flaws += asyncio.run(switches(names))
    print(f"{len(flaws)} failures in {time.monotonic() - began:.0f} s")
    return 1 if flaws else 0


if __name__ == "__main__":
    sys.exit(main())
