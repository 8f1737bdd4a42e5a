#!/usr/bin/env python3
"""Prints Docs/swiftwing-head.md: what each quirk of the app at HEAD costs, by runs of the virtual world.

The quirks are the toggles of the profile, and those without a toggle are read from Docs/contract.md. Each has its smallest
scenario in Scenarios/quirks, whose first comment describes it. All figures are those of summary.json.

  page.py --binary .build/release/swiftwing-sim > Docs/swiftwing-head.md
"""

import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
APP, CONTRACT = "swiftwing-head", "contract"
FLAKY = ("head-on-flaky-network", "commuters")
# Hides what follows a stream, because there is none: figures of the other quirks are those without it.
HIDING = "quirk-11"
REQUESTS = ("upload.attempts", "sse.connect.attempts", "sse.reconnect.attempts", "results.attempts", "cleanup.attempts")

Quirk = collections.namedtuple("Quirk", "key title")


def number(key):
    return int(key.rpartition("-")[2])


def name(key):
    return "Q%d" % number(key)


# What there is


def read(path):
    with open(os.path.join(ROOT, path)) as file:
        return file.read()


def profiles(binary, *words):
    """The quirks in an answer of `profiles`: those with a toggle, and those without one, each with its sentence."""
    text = subprocess.run(
        [binary, "profiles", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    parts = text.partition("Deviations without a toggle:")
    return [[Quirk(*found) for found in re.findall(r"^ +(quirk-\d+)  +(\S.*?)(?:  .*)?$", part, re.M)]
            for part in (parts[0], parts[2])]


def catalogue():
    """The description of each quirk in section 4.11 of Docs/contract.md."""
    return {"quirk-" + digits: text for digits, text in re.findall(r"^\| Q(\d+) \| (.*?) \|", read("Docs/contract.md"), re.M)}


def smallest(key):
    """The scenario of a quirk and its group of phones that have it; None without one."""
    path = "quirks/" + key
    return (path, "quirk") if os.path.exists(os.path.join(ROOT, "Scenarios", path + ".scenario")) else None


def comment(scenario):
    """The first comment of a scenario, after the line for editors."""
    lines = itertools.takewhile(lambda line: line.startswith("#"), read("Scenarios/%s.scenario" % scenario).splitlines()[1:])
    return " ".join(line.lstrip("# ") for line in lines).strip()


# Runs


class Client(collections.namedtuple("Client", "profile on off")):
    """A profile with toggles that are switched."""

    def with_(self, *keys):
        return Client(self.profile, self.on | set(keys), self.off - set(keys))

    def without(self, *keys):
        return Client(self.profile, self.on - set(keys), self.off | set(keys))

    def settings(self, group):
        changes = [("profile", self.profile)]
        changes += [(key, "on") for key in sorted(self.on, key=number)]
        changes += [(key, "off") for key in sorted(self.off, key=number)]
        return ["--set=fleet.%s.%s=%s" % (group, path, value) for path, value in changes]


class Figures:
    """What became of the scans of a group."""

    def __init__(self, summary, group):
        told = summary["groups"][group]
        counters, scans, jobs = told["counters"], told["scans"], told["jobs"]
        self.captured, self.completed = scans["captured"], scans["completed"]
        self.waiting, self.refused, self.lost = scans["waiting"], scans["refused"], scans["lost"]
        self.requests = sum(counters[name] for name in REQUESTS)
        self.jobs_left = jobs["accepted"] - jobs["cleaned"]
        self.slow = told["metrics"]["scan.time"]["p95"]
        self.broken = [(verdict["id"], verdict["violations"]) for verdict in told["invariants"] if verdict["violations"]]

    @property
    def told(self):
        return self.cells + self.broken

    @property
    def unfinished(self):
        return self.captured - self.completed

    @property
    def cells(self):
        slow = "-" if self.slow is None else "%.1f s" % (self.slow / 1000)
        return [self.completed, self.waiting, self.refused, self.lost, self.requests, self.jobs_left, slow]


CELLS = ["completed", "waiting", "refused", "lost", "requests", "jobs left", "time"]


class Runs:
    """Simulates a client in a scenario, each once."""

    def __init__(self, binary, jobs):
        self.binary = binary
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.known = {}

    def begin(self, where, client):
        key = (where, client.profile, frozenset(client.on), frozenset(client.off))
        if key not in self.known:
            self.known[key] = self.pool.submit(self.simulate, where, client)
        return self.known[key]

    def of(self, where, client):
        return self.begin(where, client).result()

    def simulate(self, where, client):
        scenario, group = where
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "run")
            words = ["simulate", "Scenarios/%s.scenario" % scenario, "--output", output, "--quiet", "--no-color"]
            done = subprocess.run(
                [self.binary] + words + client.settings(group), cwd=ROOT, capture_output=True, text=True)
            if done.returncode not in (0, 97, 98, 99):
                sys.exit("page.py: %s: exit %d\n%s" % (scenario, done.returncode, done.stderr))
            with open(os.path.join(output, "summary.json")) as file:
                return Figures(json.load(file), group)


# The page


def table(head, rows, texts=1):
    """A table whose first columns are texts and whose others are numbers."""
    aligned = ["---"] * texts + ["---:"] * (len(head) - texts)
    return "".join("| %s |\n" % " | ".join(str(cell) for cell in row) for row in [head, aligned] + rows)


def wrapped(text):
    return textwrap.fill(text, 128, break_long_words=False, break_on_hyphens=False) + "\n"


def signed(count):
    return "%+d" % count if count else "0"


def delay(before, after):
    if before is None or after is None:
        return "-"
    return "%+.1f s" % ((after - before) / 1000) if round(after - before, -2) else "0"


def joined(names):
    return names[0] if len(names) == 1 else "%s and %s" % (", ".join(names[:-1]), names[-1])


class Page:
    """`own`: the quirks of the app. `others`: toggles that the app is not known to have. `untold`: quirks without a toggle."""

    def __init__(self, runs, own, others, untold):
        self.runs = runs
        self.own = own
        self.others = {quirk.key: quirk for quirk in others}
        self.untold = untold
        self.contract = Client(CONTRACT, frozenset(), frozenset())
        self.app = Client(APP, frozenset(), frozenset())
        self.seen = self.app.without(HIDING)
        self.mended = self.app.without(*(quirk.key for quirk in own))

    def flaky(self, client):
        return self.runs.of(FLAKY, client)

    def pair(self, key):
        """The app with the quirk and without it, in a form in which it can be seen."""
        if key == HIDING:
            return self.app, self.seen
        return (self.seen.with_(key), self.seen) if key in self.others else (self.seen, self.seen.without(key))

    def prepare(self):
        """Begins the runs that are needed in any case, several at once."""
        for client in (self.contract, self.app, self.seen, self.mended):
            self.runs.begin(FLAKY, client)
        for key in [quirk.key for quirk in self.own] + list(self.others):
            clients = [self.contract.with_(key), *self.pair(key)]
            for client in clients + [self.mended.with_(key), self.app.without(key)]:
                self.runs.begin(FLAKY, client)
            if smallest(key):
                for client in (self.app, *self.small(key)):
                    self.runs.begin(smallest(key), client)

    def small(self, key):
        """The clients of a smallest scenario: `contract` without the quirk and with it, the app with it and without it. The
        scenario itself switches the quirk on, so that each says how it has it."""
        app, mended = self.pair(key)
        return self.contract.without(key), self.contract.with_(key), app.with_(key), mended.without(key)

    def order(self):
        """Which quirks to mend, one after the other: each time the one, or the smallest set, after which most scans are
        completed. Only quirks that cost scans when all others are mended are tried in sets."""
        floor = self.flaky(self.mended).completed
        costly = [quirk.key for quirk in self.own if self.flaky(self.mended.with_(quirk.key)).completed < floor]
        client, steps = self.app, []
        while costly:
            now = self.flaky(client).completed
            for size in range(1, len(costly) + 1):
                sets = list(itertools.combinations(costly, size))
                for keys in sets:
                    self.runs.begin(FLAKY, client.without(*keys))
                best = max(sets, key=lambda keys: self.flaky(client.without(*keys)).completed)
                if self.flaky(client.without(*best)).completed > now:
                    break
            client = client.without(*best)
            costly = [key for key in costly if key not in best]
            steps.append((best, client))
        return steps

    def keeping(self):
        """The quirk that, mended alone in the app as it is, leaves the fewest lost scans, where it only keeps them."""
        best = min((quirk.key for quirk in self.own), key=lambda key: self.flaky(self.app.without(key)).lost)
        before, after = self.flaky(self.app), self.flaky(self.app.without(best))
        return best if after.lost < before.lost and after.completed <= before.completed else None

    def losses(self, steps):
        first = self.flaky(self.contract)
        rows = [["`contract`: the client of the design documents"] + first.cells]
        rows.append(["`%s`: the app at HEAD" % APP] + self.flaky(self.app).cells)
        keeping = self.keeping()
        if keeping:
            rows.append(["the app with only %s mended" % name(keeping)] + self.flaky(self.app.without(keeping)).cells)
        for index, (keys, client) in enumerate(steps):
            names = joined([name(key) for key in keys])
            rows.append([("the app with %s mended" if index == 0 else "and %s") % names] + self.flaky(client).cells)
        rows.append(["all quirks mended"] + self.flaky(self.mended).cells)
        return table(["%d scans" % first.captured] + CELLS, rows)

    def ranking(self):
        base, floor = self.flaky(self.contract), self.flaky(self.mended)
        ranked = []
        for quirk in self.own:
            alone, left = self.flaky(self.contract.with_(quirk.key)), self.flaky(self.mended.with_(quirk.key))
            before, after = (self.flaky(client) for client in self.pair(quirk.key))
            where, own = smallest(quirk.key), ["-"] * 3
            if where:
                sound, broken = (self.runs.of(where, client) for client in self.small(quirk.key)[:2])
                own = ["%d of %d" % (broken.unfinished - sound.unfinished, sound.captured),
                       signed(broken.requests - sound.requests), delay(sound.slow, broken.slow)]
            cost = alone.unfinished - base.unfinished
            ranked.append(((-cost, after.lost - before.lost, number(quirk.key)), [
                "[%s](#%s)" % (name(quirk.key), anchor(quirk)), quirk.title, cost, left.unfinished - floor.unfinished,
                after.completed - before.completed, before.lost - after.lost, signed(alone.requests - base.requests)] + own))
        rows = [row for _, row in sorted(ranked, key=lambda entry: entry[0])]
        return table(
            ["quirk", "the app", "alone", "left over", "saved", "kept", "requests", "own: scans", "own: requests", "own: time"], rows,
            texts=2)

    def section(self, quirk):
        where = smallest(quirk.key)
        text = "### %s\n\n" % heading(quirk)
        if not where:
            return text + wrapped("%s. %s" % (catalogue()[quirk.key], UNSEEN))
        scenario, _ = where
        text += wrapped("%s ([contract.md](contract.md) section 4.11)" % comment(scenario)) + "\n"
        text += "    swiftwing-sim simulate Scenarios/%s.scenario\n\n" % scenario
        without, alone, app, mended = (self.runs.of(where, client) for client in self.small(quirk.key))
        rows = [["`contract`"] + without.cells, ["`contract` with %s" % name(quirk.key)] + alone.cells]
        if quirk.key == HIDING:
            rows.append(["the app"] + app.cells)
            rows.append(["the app, %s mended" % name(HIDING)] + mended.cells)
        elif quirk.key in self.others:
            rows.append(["the app, %s mended, with %s" % (name(HIDING), name(quirk.key))] + app.cells)
            rows.append(["the app, %s mended" % name(HIDING)] + mended.cells)
        else:
            rows.append(["the app"] + self.runs.of(where, self.app).cells)
            rows.append(["the app, %s mended" % name(HIDING)] + app.cells)
            rows.append(["the app, %s and %s mended" % (name(HIDING), name(quirk.key))] + mended.cells)
        text += table(["%d scans of" % without.captured] + CELLS, rows) + "\n"
        sentences = []
        if alone.broken:
            sentences.append("Alone it breaks %s." % joined(["`%s` (%d)" % broken for broken in alone.broken]))
        if without.told == alone.told:
            sentences.append("Alone it changes nothing that a run can measure.")
        elif app.told == mended.told:
            sentences.append(self.hidden(quirk.key))
        sentences.append(self.on_flaky(quirk))
        return text + wrapped(" ".join(sentences))

    def hidden(self, key):
        """By which quirk of the app, if a single one does it."""
        where = smallest(key)
        others = [quirk.key for quirk in self.own if quirk.key not in (key, HIDING)]
        pairs = {other: (self.seen.without(other), self.seen.without(other, key)) for other in others}
        for pair in pairs.values():
            for client in pair:
                self.runs.begin(where, client)
        hiding = [name(other) for other, (app, mended) in pairs.items()
                  if self.runs.of(where, app).told != self.runs.of(where, mended).told]
        return "In the app %s." % ("%s hides it" % " or ".join(hiding) if hiding else "other quirks hide it")

    def on_flaky(self, quirk):
        base, alone = self.flaky(self.contract), self.flaky(self.contract.with_(quirk.key))
        before, after = (self.flaky(client) for client in self.pair(quirk.key))
        if alone.told == base.told and before.told == after.told:
            return "Nothing in `%s` depends on it." % FLAKY[0]
        cost, saved = alone.unfinished - base.unfinished, after.completed - before.completed
        left = "leaves %d of %d scans unfinished" % (cost, base.captured) if cost else "completes every scan as well"
        gain = "%d scans instead of %d" % (after.completed, before.completed) if saved else "no more scans (%d)" % after.completed
        kept = "" if before.lost == after.lost else ", and loses %d instead of %d" % (after.lost, before.lost)
        return "In `%s`, `contract` with it %s. The app without it completes %s%s." % (FLAKY[0], left, gain, kept)

    def text(self):
        self.prepare()
        steps = self.order()
        remaining = self.flaky(self.mended)
        text = INTRODUCTION % {"order": wrapped(self.sentence(steps))} + "\n" + self.losses(steps) + "\n" + LEGEND
        if remaining.unfinished:
            text += "\n" + wrapped(REMAINING % (remaining.unfinished, remaining.waiting, remaining.lost))
        text += "\n" + RANKING + "\n" + self.ranking() + "\n## Each quirk\n\n" + EACH
        for quirk in sorted(self.own + list(self.others.values()), key=lambda quirk: number(quirk.key)):
            text += "\n" + self.section(quirk)
        if self.untold:
            text += "\n" + UNTOLD + "\n" + "| quirk | why |\n|---|---|\n"
            text += "".join("| %s | %s |\n" % (name(quirk.key), quirk.title) for quirk in self.untold)
        return text

    def sentence(self, steps):
        captured = self.flaky(self.app).captured
        parts, before = [], self.flaky(self.app).completed
        for keys, client in steps:
            after = self.flaky(client).completed
            parts.append("%s (%d more scans)" % (joined([name(key) for key in keys]), after - before))
            before = after
        text = "Of %d scans, the app completes %d. Mend %s, in this order." % (
            captured, self.flaky(self.app).completed, ", then ".join(parts))
        keeping = self.keeping()
        if keeping:
            text += " Until then, mending %s keeps the scans that fail: with it alone, %d of them are lost instead of %d." % (
                name(keeping), self.flaky(self.app.without(keeping)).lost, self.flaky(self.app).lost)
        return text


def heading(quirk):
    return "%s: %s" % (name(quirk.key), quirk.title)


def anchor(quirk):
    return re.sub(r"[^\w\- ]", "", heading(quirk).lower()).replace(" ", "-")


INTRODUCTION = """\
# The app at HEAD on a flaky network

This page is for the developers of SwiftWing. It shows what the simulation says about the app at HEAD: which scans it loses on a
bad network, by which of its quirks ([contract.md](contract.md) section 4.11), and what mending each gains. `make docs` makes
the page from runs of the virtual world, which are the same everywhere.

%(order)s
The app is the profile `swiftwing-head`. It was made from a description of the app, not from its code, and is only as good as
that description. `swiftwing-sim profiles swiftwing-head contract` prints its values beside those of a client that loses nothing.

## What is lost

Forty commuters scan 120 shelves on a train
([head-on-flaky-network.scenario](../Scenarios/head-on-flaky-network.scenario)): streams are reset, tokens expire, half of the
phones go through a tunnel, uploads are limited, and some completed events come without books.

    swiftwing-sim simulate head-on-flaky-network
    swiftwing-sim simulate head-on-flaky-network --set fleet.commuters.quirk-11=off
"""

LEGEND = """\
A scan that waits is in the phone's durable queue. A refused one was shown to the user as failed for good. A lost one is neither
completed nor kept. Requests include failed ones. Jobs left are those that no DELETE has removed. The time is that of 95 % of the
completed scans, from the shutter to the last book.
"""

REMAINING = """\
With all quirks mended, %d scans are not completed: %d wait, and %d are lost. No failed upload is made again (section 4.3), which is
a value of the profile and no quirk."""

RANKING = """\
## Which quirk costs most

The first five figures are about the 120 scans of `head-on-flaky-network`:

- alone: scans that `contract` with only this quirk does not complete
- left over: scans that the app does not complete because of it when all other quirks are mended
- saved: scans that the app completes in addition when it is mended alone. Q11 is mended before, because it hides all others
- kept: by how many fewer scans are lost when it is mended alone, completed or not. Q11 is mended before
- requests: those that `contract` with only this quirk makes in addition. A client that gives up makes fewer

The others are about the scenario of the quirk, in which `contract` with it is compared with `contract`: scans that are not
completed, requests in addition, and by how much longer 95 % of the scans take.
"""

EACH = """\
Each quirk has a scenario in which a client with it shows what it does, and one without it shows nothing. The command simulates
two groups of phones, `contract` with the quirk and without it. The table has the app in their place as well. What breaks is
explained in [invariants.md](invariants.md).
"""

UNSEEN = """\
The simulated app does this, but no figure of this page depends on it. [0151](decisions/0151-what-an-app-keeps-and-leaves.md) says
where it shows."""

UNTOLD = """\
## Quirks without a toggle

No run can show these.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", default=os.path.join(ROOT, ".build/release/swiftwing-sim"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    binary = os.path.abspath(options.binary)
    own, _ = profiles(binary, APP)
    known, untold = profiles(binary)
    others = [quirk for quirk in known if quirk not in own]
    sys.stdout.write(Page(Runs(binary, options.jobs), own, others, untold).text())


if __name__ == "__main__":
    main()
