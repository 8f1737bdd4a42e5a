#!/usr/bin/env python3
"""Prints Docs/swiftwing-head.md: what each quirk of the app at HEAD costs, by runs of the virtual world.

The quirks are the toggles of the profile, and those without a toggle are read from Docs/apps.md. Each has its smallest
scenario in Scenarios/quirks, whose first comment describes it. All figures are those of summary.json.

  page.py --binary .build/release/swiftwing-sim > Docs/swiftwing-head.md
  page.py --few        some lines of it, from few runs
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

# The train with a backend whose sseUrl is absolute.
ABSOLUTE = FLAKY + ("server.links=absolute",)
# The train with the live backend of February 2026, whose addresses are absolute as well.
LIVE = FLAKY + ("server.dialect=live-2026-02",)

# A defect, what the app does by it, and what the program says that it costs.
Quirk = collections.namedtuple("Quirk", "key title harm")
LOSES_SCANS, LOSES_NO_SCAN, UNSEEN_HARM = "loses scans", "loses no scan", "no run shows it"


def number(key):
    return int(key.rpartition("-")[2])


def name(key):
    return "Q%d" % number(key)


# What there is


def read(path):
    with open(os.path.join(ROOT, path)) as file:
        return file.read()


def profiles(binary, *words):
    """The quirks in each paragraph of an answer of `profiles`, by the beginning of the paragraph."""
    text = subprocess.run(
        [binary, "profiles", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found = {}
    for paragraph in text.split("\n\n"):
        rows = [re.split(r"  +", line.strip()) for line in paragraph.splitlines() if line.startswith("  quirk-")]
        found[paragraph.split(" ")[0]] = [Quirk(row[0], row[1], row[2] if len(row) > 3 else None) for row in rows]
    return found


def catalogue():
    """The description of each quirk in section 4.11 of Docs/apps.md."""
    return {"quirk-" + digits: text for digits, text in re.findall(r"^\| Q(\d+) \| (.*?) \|", read("Docs/apps.md"), re.M)}


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
        scenario, group, *changes = where
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "run")
            words = ["simulate", "Scenarios/%s.scenario" % scenario, "--output", output, "--quiet", "--no-color"]
            words += ["--set=" + change for change in changes]
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
        self.runs.begin(ABSOLUTE, self.app)
        for client in (self.app, self.mended, *(self.mended.with_(quirk.key) for quirk in self.own)):
            self.runs.begin(LIVE, client)
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

    def order(self, where):
        """Which quirks to mend, one after the other: each time the one, or the smallest set, after which most scans are
        completed. Only quirks that cost scans when all others are mended are tried in sets."""
        floor = self.runs.of(where, self.mended).completed
        costly = [quirk.key for quirk in self.own if self.runs.of(where, self.mended.with_(quirk.key)).completed < floor]
        client, steps = self.app, []
        while costly:
            now = self.runs.of(where, client).completed
            for size in range(1, len(costly) + 1):
                sets = list(itertools.combinations(costly, size))
                for keys in sets:
                    self.runs.begin(where, client.without(*keys))
                best = max(sets, key=lambda keys: self.runs.of(where, client.without(*keys)).completed)
                if self.runs.of(where, client.without(*best)).completed > now:
                    break
            client = client.without(*best)
            costly = [key for key in costly if key not in best]
            steps.append((best, client))
        return steps

    def greedy(self, where):
        """Which quirks to mend, one after the other: each time the one of all, or else the pair, after which most scans are
        completed, as long as there is one that completes more, and until as many are completed as without any quirk."""
        floor = self.runs.of(where, self.mended).completed
        client, steps = self.app, []
        while (now := self.runs.of(where, client).completed) < floor:
            left = [quirk.key for quirk in self.own if quirk.key not in client.off]
            for size in (1, 2):
                sets = list(itertools.combinations(left, size))
                for keys in sets:
                    self.runs.begin(where, client.without(*keys))
                best = max(sets, key=lambda keys: self.runs.of(where, client.without(*keys)).completed)
                if self.runs.of(where, client.without(*best)).completed > now:
                    break
            else:
                break
            client = client.without(*best)
            steps.append((best, client))
        return steps

    def keeping(self):
        """The quirk that, mended alone in the app as it is, leaves the fewest lost scans, where it only keeps them."""
        best = min((quirk.key for quirk in self.own), key=lambda key: self.flaky(self.app.without(key)).lost)
        before, after = self.flaky(self.app), self.flaky(self.app.without(best))
        return best if after.lost < before.lost and after.completed <= before.completed else None

    def whole(self):
        """Rows of the contract's client and of the app as it is."""
        return [
            ["`contract`: the client of the design documents"] + self.flaky(self.contract).cells,
            ["`%s`: the app at HEAD" % APP] + self.flaky(self.app).cells,
            ["the app, with a backend whose `sseUrl` is absolute"] + self.runs.of(ABSOLUTE, self.app).cells]

    def losses(self, steps):
        first, rows = self.flaky(self.contract), self.whole()
        keeping = self.keeping()
        if keeping:
            rows.append(["the app with only %s mended" % name(keeping)] + self.flaky(self.app.without(keeping)).cells)
        for index, (keys, client) in enumerate(steps):
            names = joined([name(key) for key in keys])
            rows.append([("the app with %s mended" if index == 0 else "and %s") % names] + self.flaky(client).cells)
        rows.append(["all quirks mended"] + self.flaky(self.mended).cells)
        return table(["%d scans" % first.captured] + CELLS, rows)

    def harms(self):
        """What each quirk costs, by the runs: fewer scans, something else, or nothing that a run shows."""
        found = {}
        for quirk in self.own + list(self.others.values()):
            alone, (before, after) = self.contract.with_(quirk.key), self.pair(quirk.key)
            pairs = [(self.flaky(self.contract), self.flaky(alone)), (self.flaky(after), self.flaky(before))]
            where = smallest(quirk.key)
            if where:
                sound, broken, app, mended = (self.runs.of(where, client) for client in self.small(quirk.key))
                pairs += [(sound, broken), (mended, app)]
            loses = any(broken.completed < sound.completed for sound, broken in pairs)
            found[quirk.key] = LOSES_SCANS if loses else LOSES_NO_SCAN if where else UNSEEN_HARM
        return found

    def check_harms(self):
        """The program sorts the quirks by what they cost, and has no figures: it is held to those of the runs."""
        harms = self.harms()
        wrong = [quirk.key for quirk in self.own if quirk.harm != harms[quirk.key]]
        if wrong:
            sys.exit("page.py: QuirkHarm in ProfileToggle+Quirks.swift is not what the runs show of %s" % ", ".join(wrong))

    @staticmethod
    def linked(quirk):
        return "[%s](#%s)" % (name(quirk.key), anchor(quirk))

    def train(self):
        """What each quirk costs on the train; the names of those that cost nothing there."""
        base, floor = self.flaky(self.contract), self.flaky(self.mended)
        ranked, idle = [], []
        for quirk in self.own:
            alone, left = self.flaky(self.contract.with_(quirk.key)), self.flaky(self.mended.with_(quirk.key))
            before, after = (self.flaky(client) for client in self.pair(quirk.key))
            cells = [alone.unfinished - base.unfinished, left.unfinished - floor.unfinished,
                     after.completed - before.completed, before.lost - after.lost]
            if any(cells):
                ranked.append(((-cells[0], -cells[3], number(quirk.key)), [self.linked(quirk), quirk.title] + cells))
            else:
                idle.append(name(quirk.key))
        rows = [row for _, row in sorted(ranked, key=lambda entry: entry[0])]
        return table(TRAIN_HEAD, rows, texts=2), idle

    def alone(self):
        """What each quirk costs in its own scenario: those that lose scans first."""
        ranked = []
        for quirk in self.own:
            where, own = smallest(quirk.key), ["-"] * 4
            if where:
                sound, broken = (self.runs.of(where, client) for client in self.small(quirk.key)[:2])
                own = ["%d of %d" % (broken.unfinished - sound.unfinished, sound.captured), signed(broken.requests - sound.requests),
                       signed(broken.jobs_left - sound.jobs_left), delay(sound.slow, broken.slow)]
            rank = (LOSES_SCANS, LOSES_NO_SCAN, UNSEEN_HARM).index(quirk.harm)
            ranked.append(((rank, number(quirk.key)), [self.linked(quirk), quirk.title, quirk.harm] + own))
        return table(ALONE_HEAD, [row for _, row in sorted(ranked, key=lambda entry: entry[0])], texts=3)

    def section(self, quirk):
        where = smallest(quirk.key)
        text = "### %s\n\n" % heading(quirk)
        if not where:
            return text + wrapped("%s. %s" % (catalogue()[quirk.key], UNSEEN))
        scenario, _ = where
        text += wrapped("%s ([apps.md](apps.md) section 4.11)" % comment(scenario)) + "\n"
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
        if mended.completed < app.completed:
            sentences.append(self.worse(quirk, app, mended))
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

    def worse(self, quirk, app, mended):
        """Why the app completes fewer scans without a quirk: after which others it completes more."""
        where = smallest(quirk.key)
        text = "After Q11 alone, mending it completes fewer scans: %d instead of %d." % (mended.completed, app.completed)
        if quirk.key in REASONS:
            text += " " + REASONS[quirk.key]
        gains = []
        for other in self.own:
            if other.key in (quirk.key, HIDING):
                continue
            before = self.runs.of(where, self.seen.without(other.key).with_(quirk.key))
            after = self.runs.of(where, self.seen.without(other.key, quirk.key))
            if after.completed > before.completed:
                gains.append("If %s is mended before, mending %s raises the completed scans from %d to %d." % (
                    name(other.key), name(quirk.key), before.completed, after.completed))
        return " ".join([text] + gains)

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
        self.check_harms()
        steps = self.order(FLAKY)
        remaining = self.flaky(self.mended)
        words = {"app": wrapped(self.sentence()), "order": self.first(FLAKY, steps), "rest": self.rest(steps), "live": self.live(),
                 "unproven": self.unproven()}
        text = INTRODUCTION % words + "\n" + self.losses(steps) + "\n" + LEGEND
        if remaining.unfinished:
            text += "\n" + wrapped(REMAINING % (remaining.unfinished, remaining.waiting, remaining.lost))
        on_train, idle = self.train()
        text += "\n" + TRAIN + "\n" + on_train + "\n" + wrapped("The others change none of these figures: %s." % joined(idle))
        text += "\n" + ALONE + "\n" + self.alone() + "\n## Each quirk\n\n" + EACH
        for quirk in sorted(self.own + list(self.others.values()), key=lambda quirk: number(quirk.key)):
            text += "\n" + self.section(quirk)
        if self.untold:
            text += "\n" + UNTOLD + "\n" + "| quirk | why |\n|---|---|\n"
            text += "".join("| %s | %s |\n" % (name(quirk.key), quirk.title) for quirk in self.untold)
        return text

    def few(self):
        """Lines that need few runs: each quirk in its own scenario, and the first rows of what is lost on the train."""
        for quirk in self.own:
            if smallest(quirk.key):
                for client in self.small(quirk.key)[:2]:
                    self.runs.begin(smallest(quirk.key), client)
        return self.alone() + table(["%d scans" % self.flaky(self.contract).captured] + CELLS, self.whole())

    def sentence(self):
        app, absolute = self.flaky(self.app), self.runs.of(ABSOLUTE, self.app)
        text = (
            "Of %d scans, the app completes %d, because the `sseUrl` of an upload is relative, as the contract says (Q11). Where "
            "a backend sends an absolute one and is that of the contract otherwise, Q11 has no effect, and the app completes %d."
            % (app.captured, app.completed, absolute.completed))
        keeping = self.keeping()
        if keeping:
            text += " Mending %s keeps the scans that fail: with it alone, %d of them are lost instead of %d." % (
                name(keeping), self.flaky(self.app.without(keeping)).lost, self.flaky(self.app).lost)
        return text

    def live(self):
        """What to mend first where the backend is the live one."""
        app = self.runs.of(LIVE, self.app)
        steps, all_mended = self.greedy(LIVE), self.runs.of(LIVE, self.mended)
        text = wrapped(LIVE_FIRST % (app.completed, app.captured)) + "\n" + self.first(LIVE, steps)
        contract = self.runs.of(LIVE, self.contract)
        return text + "\n" + wrapped(LIVE_REST % (all_mended.completed, all_mended.waiting, contract.completed))

    def rest(self, steps):
        """The quirks that the order leaves out."""
        mended = [key for keys, _ in steps for key in keys]
        return wrapped(REST % joined([name(quirk.key) for quirk in self.own if quirk.key not in mended]))

    def first(self, where, steps):
        """What to mend first, and what each step gains."""
        titles = {quirk.key: quirk for quirk in self.own}
        rows, before = [], self.runs.of(where, self.app).completed
        for index, (keys, client) in enumerate(steps):
            after, captured = self.runs.of(where, client).completed, self.runs.of(where, client).captured
            what = "; ".join("%s %s" % (self.linked(titles[key]), titles[key].title) for key in keys)
            rows.append(["%d. %s" % (index + 1, what), signed(after - before), "%d of %d" % (after, captured)])
            before = after
        return table(["mend", "scans", "completed then"], rows)

    def unproven(self):
        texts = [wrapped(UNPROVEN % {"name": name(quirk.key), "title": quirk.title, "anchor": anchor(quirk)})
                 for quirk in self.others.values()]
        return "\n".join(texts)


def heading(quirk):
    return "%s: %s" % (name(quirk.key), quirk.title)


def anchor(quirk):
    return re.sub(r"[^\w\- ]", "", heading(quirk).lower()).replace(" ", "-")


REASONS = {
    "quirk-16": "The path that is lost for a moment behind the tunnel ends everything that is under way: with the quirk one scan of "
                "those taken offline, without it as many as there are slots. The app gives up each of them (Q9) and removes it (Q20).",
}

INTRODUCTION = """\
# The app at HEAD on a flaky network

This page is for the developers of SwiftWing. It shows what the simulation says about the app at HEAD: which scans it loses on a
bad network, by which of its quirks ([apps.md](apps.md) section 4.11), and what mending each gains. `make docs` makes
the page from runs of the virtual world, which are the same everywhere.

%(app)s
With the backend of the contract (`server.dialect=contract`), mend first:

%(order)s
%(rest)s
%(live)s
What an app without a quirk has to do instead is printed, value by value, by

    swiftwing-sim profiles swiftwing-head contract

%(unproven)s
The app is the profile `swiftwing-head`. It was made from a description of the app, not from its code, and is only as good as
that description. `contract` is the client of the design documents, which loses nothing.

## What is lost

Forty commuters scan 120 shelves on a train
([head-on-flaky-network.scenario](../Scenarios/head-on-flaky-network.scenario)): streams are reset, tokens expire, half of the
phones go through a tunnel, uploads are limited, and some completed events come without books.

    swiftwing-sim simulate head-on-flaky-network
    swiftwing-sim simulate head-on-flaky-network --set fleet.commuters.quirk-11=off
    swiftwing-sim simulate head-on-flaky-network --set server.links=absolute
"""

UNPROVEN = """\
%(name)s is not in these figures: %(title)s. Whether the app has it is not proven. Check that first, in the code of the app: look at
how it splits a stream into lines. [Its scenario](#%(anchor)s) simulates phones with this quirk, and cannot tell whether the
app has it. The evidence is in [apps.md](apps.md) section 4.11. An app with it completes no scan, whatever else is mended."""

REST = """\
The order has only the quirks by which fewer scans of this train are completed when all others are mended. It leaves out %s. Some of
these lose scans elsewhere: see [the table of each in its own scenario](#what-each-quirk-costs-in-its-own-scenario).
Mend Q16 only after Q9 or Q20: before that it can complete fewer scans. Q20 needs Q16 as well. Until Q20 is mended, a scan that is
given up is removed. Until Q16 is mended, a scan that waits is in memory only, unless it waits for a path."""

LIVE_FIRST = """\
The live backend of February 2026 (`server.dialect=live-2026-02`) has an order of its own. Its addresses are absolute, so
that Q11 has no effect. Each job sends progress without a message (Q6) and `result` events with a nested book (Q7). On the
same train, the app completes %d of %d scans with it. Mend first:"""

LIVE_REST = """\
Each step is the quirk, or the pair, by which most scans are completed in addition, until none completes more or as many are
completed as with all quirks mended. With these, %d scans are completed and %d wait, most of them because the first `completed`
event of this backend has no `resultsUrl`: mend `results.needs-address`, which has no number, as well. `contract` completes %d."""

LEGEND = """\
A scan that waits is in the phone's durable queue. A refused one was shown to the user as failed for good. A lost one is neither
completed nor kept. Requests include failed ones. Jobs left are those that no DELETE has removed. The time is that of 95 % of the
completed scans, from the shutter to the last book.
"""

REMAINING = """\
With all quirks mended, %d scans are not completed: %d wait, and %d are lost. No failed upload is made again
([apps.md](apps.md) section 4.3). This is the value `upload.is-repeated` of the profile and has no number: mend it as
well. `profiles` lists it under the differences that have no number."""

TRAIN = """\
## What each quirk costs on the train

The figures are scans, of the 120 of `head-on-flaky-network`:

- only quirk: not completed by `contract` with this quirk and no other
- last quirk: not completed by the app when this is the only quirk that is left
- completed, lost: how many more are completed, and fewer lost, when this quirk is mended in the app. Q11, which hides all others,
  is mended before
"""

TRAIN_HEAD = ["quirk", "the app", "only quirk", "last quirk", "completed", "lost"]

ALONE = """\
## What each quirk costs in its own scenario

The figures compare `contract` with the quirk and `contract` in the scenario of the quirk: scans that are not completed, requests
and jobs left on the server in addition, and by how much longer 95 % of the completed scans take. Fewer requests and
less time are those of scans that were given up, or of waits that were not kept. The severity is the worst that any run of this page
shows, in the app or in `contract`: a quirk "loses scans" if fewer are completed, even if the others wait or were refused.
"""

ALONE_HEAD = ["quirk", "the app", "severity", "not completed", "requests", "jobs left", "time"]

EACH = """\
Each quirk has a scenario in which a client with it shows what it does, and one without it shows nothing. The command simulates
two groups of phones, `contract` with the quirk and without it. The table has the app in their place as well. What breaks is
explained in [invariants.md](invariants.md).
"""

UNSEEN = """\
The simulated app does this, but no figure of this page depends on it. [apps.md](apps.md) section 4.14 says where it
shows."""

UNTOLD = """\
## Quirks without a toggle

No run can show these.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", default=os.path.join(ROOT, ".build/release/swiftwing-sim"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--few", action="store_true")
    options = parser.parse_args()
    binary = os.path.abspath(options.binary)
    app, known = profiles(binary, APP), profiles(binary)
    own, untold = app["Toggles"], known["Deviations"]
    others = [quirk for quirk in known["Toggles,"] if quirk.key not in [mine.key for mine in own]]
    page = Page(Runs(binary, options.jobs), own, others, untold)
    sys.stdout.write(page.few() if options.few else page.text())


if __name__ == "__main__":
    main()
