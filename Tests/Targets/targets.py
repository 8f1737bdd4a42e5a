#!/usr/bin/env python3
"""Runs honest scenarios against a healthy backend that is not the simulated one, and requires that no run says otherwise.

Each kind of scenario is run without faults, with several seeds, and then each kind of fault with the scenario that fits it, one
fault a run: through the gateway if it is one of the server or the link. The kinds of faults are those of `schema --faults`: one
that `VARIANTS` does not have is run with the example of that page. A run is as it must be if

  - it ends with 0, or with what the `Loss` of its variant says, and for that reason;
  - no invariant is broken, and every scan is completed or canceled by its user, except those that the fault must lose;
  - every error and every finding has the injected fault as its cause, except what `TRUE_OF_TARGETS` says of a healthy target;
  - the fault fired. A kind that the program refuses with a target is listed with what the program says.

A run that could not make its load (98) is repeated once. Every run has a folder in --output. The exit code is 1 if a run is not as
it must be.

  targets.py                                         against Tests/Targets/talaria.py
  targets.py --backend 'Tests/Targets/talaria.py --ping 1 --other-forms'
  targets.py --backend 'my-server --port 8080'       against a server that prints its URL; it is ended with SIGTERM
  targets.py --target http://127.0.0.1:8080 --kind open --kind canceled --fault reset
"""

import argparse
import collections
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../.."))
OWN_BACKEND = [sys.executable, os.path.join(HERE, "talaria.py"), "--ping", "1"]
FAULT = "injected"  # the id of the fault of a run
DRAIN = "180s"  # A phone gives up an upload after its request-timeout and the time that its bytes take at 8 kB/s.
SHORT_DRAIN = "8s"  # where nothing is to be finished
RUN_SECONDS_MAX = 240
LOAD_NOT_MADE = ["load-not-made"]

# A kind of scenario: its groups, and the faults that are a part of it, whose ids are its own.
Kind = collections.namedtuple("Kind", "fleet faults", defaults=([],))
KINDS = {
    # v3
    "open": Kind("""
  phones: {devices: 8, scans: 2, arrivals: 4/s, idle-timeout: 4s, request-timeout: 4s}
  shelves: {devices: 3, scans: 2, arrivals: 2/s, photos-per-scan: 2..3, idle-timeout: 4s, request-timeout: 4s}
"""),
    "killed": Kind("""
  phones: {devices: 6, scans: 2, think: 200ms..800ms, network: wifi}
  fetching: {devices: 4, scans: 2, think: 200ms..800ms, network: wifi, inline-books: off}
""", ["{do: kill, id: killed, at: 500ms..4s, for: 500ms, scope: 50% of devices}"]),
    "canceled": Kind("""
  phones: {devices: 10, scans: 2, think: 200ms..800ms, cancel: {chance: 50%, after: 200ms..1500ms}}
"""),
    "polling": Kind("""
  pollers: {devices: 6, scans: 2, think: 200ms..800ms, status-polling: always, request-timeout: 4s}
  switchers: {devices: 4, scans: 2, think: 200ms..800ms, status-polling: after-loss, request-timeout: 4s}
"""),
    "fetching": Kind("""
  phones: {devices: 8, scans: 2, arrivals: 4/s, inline-books: off, request-timeout: 4s}
"""),
    # Several scans a moment: errors of one phone come between the requests of another.
    "crowd": Kind("""
  phones: {devices: 30, scans: 1, arrivals: 30/s, request-timeout: 4s}
"""),
    # v2
    "imports": Kind("""
  readers: {devices: 8, journey: csv-import, library: {rows: 10..80}, scans: 2, think: 200ms..800ms}
  undecided: {devices: 4, journey: csv-import, library: {rows: 10..80}, scans: 1, think: 200ms..800ms, cancel: {chance: 70%, after: 200ms..1s}}
"""),
    "shelves": Kind("""
  readers: {devices: 8, journey: bookshelf-scan, photos-per-scan: 1..3, scans: 2, arrivals: 4/s}
"""),
    "batches": Kind("""
  readers: {devices: 6, journey: batch-enrichment, scans: 2, think: 200ms..800ms}
  barcodes: {devices: 6, journey: batch-enrichment, batch-form: barcodes, scans: 2, think: 200ms..800ms}
"""),
    "look-ups": Kind("""
  scanners: {devices: 10, journey: book-enrichment, scans: 4, repeats: 20%, arrivals: 8/s}
"""),
}

# What a fault must lose: the classes of scans in which some end, with the exit code and its reasons.
Loss = collections.namedtuple("Loss", "classes exit reasons why", defaults=(0, [], ""))
REFUSED = Loss(["refused"], why="the answer is final, and the user is shown it")
NO_ROOM = Loss(["refused"], why="a photo that cannot be stored is refused visibly")
REMOVED = Loss(["discarded"], why="the scans of an app that is removed are gone with it")
WAITING = Loss(["waiting"], 99, ["objective-failed"], "no attempt succeeds, so the scans wait on the phone")
NOT_DELETED = Loss([], 99, ["objective-failed"], "no DELETE succeeds, so the jobs stay")

# A run with a fault: the kind of scenario, the keys of the fault behind `do` and `id`, what it loses, and the time to finish.
Variant = collections.namedtuple("Variant", "kind keys loss drain", defaults=(None, DRAIN))
VARIANTS = {
    "rate-limit": [Variant("open", "quota: 1 per 2s, retry-after: 1s")],
    "http-error": [
        Variant("open", "on: upload, status: 503, retry-after: 1s, chance: 50%"),
        Variant("open", "on: stream, status: 429, retry-after: 1s, chance: 50%"),
        Variant("fetching", "on: results, status: 502, chance: 50%"),
        Variant("open", "on: cleanup, status: 500, chance: 50%"),
        Variant("polling", "on: status, status: 503, chance: 50%"),
        Variant("open", "on: upload, status: 413, chance: 30%", REFUSED),
        Variant("open", "on: upload, status: 503, count: 50, chance: 30%", WAITING, SHORT_DRAIN),
        Variant("open", "on: cleanup, status: 500, count: each-attempt, chance: 30%", NOT_DELETED, SHORT_DRAIN),
        Variant("look-ups", "on: upload, status: 503, code: CIRCUIT_OPEN, retry-after: 1s, chance: 30%"),
    ],
    "strip-books": [Variant("open", "as: empty, chance: 50%"), Variant("open", "as: renamed, chance: 50%")],
    "truncate-results": [Variant("fetching", "chance: 50%"), Variant("imports", "chance: 50%"),
                         Variant("fetching", "count: 50, chance: 30%", WAITING, SHORT_DRAIN)],
    "reorder-results": [Variant("fetching", "chance: 50%"), Variant("batches", "chance: 50%")],
    "expire-token": [Variant("open", "after: 500ms, chance: 40%"), Variant("crowd", "after: 50ms, chance: 60%"),
                     Variant("polling", "on: status, chance: 40%")],
    "job-gone": [
        Variant("open", "on: stream, status: 404, chance: 30%"),
        Variant("crowd", "on: stream, status: 404, chance: 60%"),
        Variant("fetching", "on: results, status: 410, chance: 30%"),
        Variant("polling", "on: status, chance: 30%"),
    ],
    "retryable-error": [Variant("open", "after: 2 events, chance: 30%"), Variant("imports", "after: 2 events, chance: 30%")],
    "final-error": [Variant("open", "after: 1 events, chance: 20%", REFUSED), Variant("batches", "after: 1 events, chance: 20%", REFUSED),
                    Variant("crowd", "after: 1 events, chance: 60%", REFUSED)],
    "degraded": [Variant("open", "books: 50%, chance: 50%")],
    "slow-stage": [Variant("open", "stage: identifying, by: 500ms..1s, chance: 50%")],
    "unknown-event": [Variant("open", "after: 1 events, chance: 50%"), Variant("shelves", "after: 1 events, chance: 50%")],
    "bad-json": [
        Variant("open", "in: completed, chance: 50%"),
        Variant("batches", "in: progress, chance: 50%"),
        Variant("open", "in: extra, chance: 50%"),
    ],
    "no-message": [Variant("open", "chance: 50%")],
    "split-data": [Variant("open", "chance: 50%"), Variant("shelves", "chance: 50%")],
    "late-ping": [Variant("open", "by: 400ms, chance: 80%")],
    "no-ping": [Variant("open", "chance: 50%")],
    "two-terminals": [Variant("open", "chance: 50%"), Variant("shelves", "chance: 50%")],
    "end-without-terminal": [Variant("open", "chance: 40%"), Variant("shelves", "chance: 40%")],
    "ignore-last-event-id": [],  # below, with a fault that makes phones resume
    "forget-events": [],
    "reset": [
        Variant("open", "on: stream, after: 1..4 events, cut: inside-event, chance: 50%"),
        Variant("open", "on: upload, side: request, after: 4KiB, chance: 40%"),
        Variant("open", "on: upload, side: reply, after: 40 bytes, chance: 40%"),
        Variant("fetching", "on: results, after: 100 bytes, chance: 50%"),
        Variant("open", "on: cleanup, after: 10 bytes, chance: 50%"),
        Variant("polling", "on: status, after: 40 bytes, chance: 40%"),
        Variant("killed", "on: stream, after: 1..4 events, chance: 40%"),
        Variant("canceled", "on: cleanup, after: 10 bytes, chance: 50%"),
        Variant("shelves", "on: stream, after: 2 events, chance: 40%"),
        Variant("imports", "on: upload, side: reply, after: 40 bytes, chance: 40%"),
        Variant("batches", "on: stream, after: 2 events, chance: 40%"),
        Variant("look-ups", "on: upload, side: reply, after: 40 bytes, chance: 40%"),
    ],
    "close": [Variant("open", "on: upload, side: request, after: 4KiB, chance: 40%"), Variant("open", "on: stream, after: 3 events, chance: 40%")],
    "end-cleanly": [Variant("open", "after: 1..4 events, chance: 50%"), Variant("imports", "after: 2 events, chance: 50%")],
    "silence": [Variant("open", "on: stream, after: 2 events, chance: 30%"), Variant("open", "on: upload, after: 0 bytes, chance: 20%")],
    "slice": [Variant("open", "on: stream, bytes: 1..7, chance: 50%")],
    "delay": [Variant("open", "on: link, by: 50ms..200ms")],
    "bandwidth": [Variant("open", "on: upload, rate: 8Mbps, chance: 50%")],
    "loss": [Variant("open", "on: link, share: 2%")],
    "refuse": [Variant("open", "on: upload, chance: 40%"), Variant("open", "on: stream, chance: 40%")],
    "offline": [Variant("open", "scope: 50% of devices, at: 1s..2s, for: 1500ms")],
    "handover": [Variant("open", "at: 1s..3s")],
    "background": [Variant("open", "scope: 50% of devices, at: 1s..3s, for: 1s")],
    "kill": [
        Variant("open", "scope: 50% of devices, at: 1s..3s, for: 500ms"),
        Variant("open", "after: accepted, scope: 50% of devices, for: 500ms"),
        Variant("imports", "scope: 50% of devices, at: 1s..3s, for: 500ms"),
    ],
    "reinstall": [Variant("open", "scope: 40% of devices, at: 1s..3s, for: 500ms", REMOVED)],
    "clock-skew": [Variant("open", "by: -5m, scope: 50% of devices")],
    "storage-full": [Variant("open", "scope: 50% of devices, at: 1s..2s, for: 1s", NO_ROOM)],
}
RESUMING = "{do: reset, id: cut, on: stream, after: 3 events, chance: 60%}"
WITH_RESUMES = {
    "ignore-last-event-id": [Variant("open", "chance: 80%"), Variant("shelves", "chance: 80%")],
    "forget-events": [Variant("open", "after: 2 events, chance: 80%")],
}

# Errors that are the doing of a healthy target, by kind of scenario.
TRUE_OF_TARGETS = {
    "look-ups": {"upload: HTTP 404": "no provider has the book", "scan refused: NOT_FOUND": "the look-up of such a book"},
}


class Backend:
    """A server that a command starts."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)
        self.url = None
        for line in self.process.stdout:
            found = re.search(r"https?://[^\s'\"()]+", line)
            if found:
                self.url = found[0].rstrip("/.,")
                break
        if not self.url:
            sys.exit("targets.py: the backend printed no URL: %s" % shlex.join(command))
        threading.Thread(target=self.drain, daemon=True).start()

    def drain(self):
        for _ in self.process.stdout:
            pass

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Run(collections.namedtuple("Run", "variant fault seed others", defaults=([],))):
    """A scenario with a seed and, if `fault` is a kind, with that fault."""

    @property
    def kind(self):
        return self.variant.kind

    @property
    def keys(self):
        return self.variant.keys

    @property
    def name(self):
        words = [self.kind, self.fault or "none", re.sub(r"[^A-Za-z0-9]+", "-", self.keys or "").strip("-")]
        return "_".join(word for word in words if word) + "_%d" % self.seed

    def scenario(self):
        faults = KINDS[self.kind].faults + self.others
        if self.fault:
            faults = faults + ["{do: %s, id: %s%s}" % (self.fault, FAULT, ", " + self.keys if self.keys else "")]
        lines = "".join("  - %s\n" % fault for fault in faults)
        head = "scenario: 1\nname: %s\nseed: %d\ndrain: %s\n" % (self.kind, self.seed, self.variant.drain)
        return head + "fleet:" + KINDS[self.kind].fleet + ("faults:\n" + lines if lines else "")

    @property
    def ids(self):
        """The ids of the faults of this run."""
        texts = KINDS[self.kind].faults + self.others
        return {re.search(r"id: ([a-z]+)", text)[1] for text in texts} | ({FAULT} if self.fault else set())


class Outcome:
    """What a run said, and what is wrong with it."""

    def __init__(self, run, code, said, folder):
        self.run, self.code, self.said, self.folder = run, code, said, folder
        try:
            with open(os.path.join(folder, "summary.json")) as file:
                self.summary = json.load(file)
        except (OSError, ValueError):
            self.summary = None
        self.loss = run.variant.loss or Loss([])
        self.notes = []
        self.wrong = []
        if self.summary is None:
            self.wrong.append("no summary.json: %s" % self.sentence)
        else:
            self.judge()

    @property
    def sentence(self):
        lines = [line for line in self.said.splitlines() if line.startswith("swiftwing-sim:") or "error:" in line]
        return (lines or self.said.splitlines() or ["nothing was printed"])[0].strip()

    @property
    def load_was_not_made(self):
        return self.code == 98 and self.summary is not None and self.reasons == LOAD_NOT_MADE

    @property
    def reasons(self):
        return [reason["id"] if isinstance(reason, dict) else reason for reason in self.summary["exit_reasons"]]

    def judge(self):
        summary = self.summary
        if (self.code, self.reasons) != (self.loss.exit, self.loss.reasons) or summary["exit"] != self.code:
            self.wrong.append("exit %d, %s" % (self.code, ", ".join(self.reasons) or "without a reason"))
        for verdict in summary["invariants"]:
            if verdict["violations"] not in (0, "n/a"):
                self.wrong.append("%s is broken: %s" % (verdict["id"], json.dumps(verdict["first"])))
        for finding in summary["findings"]:
            name = "%s %s: expected %s, was %s" % (finding["operation"], finding["path"], finding["expected"], finding["seen"])
            self.hold("finding", name, finding["causes"])
        for error in summary["errors"]:
            self.hold("error", error["error"], error["causes"])
        if self.run.fault and not summary["faults"].get(FAULT):
            self.wrong.append("the fault did not fire")
        self.count_scans()
        self.notes += summary["notes"] + summary["warnings"] + summary["complaints"]

    def count_scans(self):
        """Only the classes that the fault explains may have scans, beside those completed or canceled by their users."""
        scans = self.summary["scans"]
        may = set(self.loss.classes) | {"completed", "canceled", "captured"}
        if self.run.kind in TRUE_OF_TARGETS:
            may.add("refused")
        if self.run.fault == "kill" or any("kill" in text for text in KINDS[self.run.kind].faults):
            may.add("discarded")  # A scan is gone if the app is killed before the first record of it.
        for name, count in scans.items():
            if isinstance(count, int) and count and name not in may:
                self.wrong.append("%d scans %s: %s" % (count, name, json.dumps(scans)))
        for name in self.loss.classes:
            if not scans[name]:
                self.wrong.append("no scan was %s" % name)

    def hold(self, noun, name, causes):
        """Each cause must be an injected fault of the run, or be true of a healthy target."""
        for cause in causes:
            by, fault = cause["by"], cause.get("fault")
            if by == "injected" and fault in self.run.ids:
                continue
            if by == "target" and noun == "error" and name in TRUE_OF_TARGETS.get(self.run.kind, {}):
                continue
            self.wrong.append("%s ×%d blamed on %s: %s" % (noun, cause["count"], fault or by, name))

    @property
    def row(self):
        run, summary = self.run, self.summary
        words = [run.kind, run.fault or "-", (run.keys or "-"), str(run.seed), str(self.code)]
        if summary is None:
            return words + ["-", "-", "-", "-"]
        scans, books = summary["scans"], summary["books"]["received"]
        blamed = collections.Counter()
        for entry in summary["errors"] + summary["findings"]:
            for cause in entry["causes"]:
                blamed[cause.get("fault") or cause["by"]] += cause["count"]
        rows = summary["counters"].get("rows.created")
        words += ["%s of %s" % (scans["completed"], scans["captured"]), str(books or rows), str(sum(f["count"] for f in summary["findings"]))]
        return words + [", ".join("%s %d" % pair for pair in sorted(blamed.items())) or "-"]


HEAD = ["scenario", "fault", "keys", "seed", "exit", "scans", "books, rows", "findings", "blamed"]
WIDTHS = [9, 20, 62, 4, 4, 8, 11, 8, 0]


def table_row(words):
    return "  ".join(word.ljust(width) for word, width in zip(words, WIDTHS)).rstrip()


class Program:
    def __init__(self, options, url):
        self.binary, self.output, self.url = os.path.abspath(options.binary), os.path.abspath(options.output), url

    def examples(self):
        """The kinds of faults with the keys of their examples, from the page of the program."""
        page = subprocess.run([self.binary, "schema", "--faults"], check=True, capture_output=True, text=True).stdout
        found = {}
        for section in page.split("\n### ")[1:]:
            kind = section.split("\n")[0].strip()
            found[kind] = re.search(r"- \{do: %s(?:, )?(.*)\}" % re.escape(kind), section)[1]
        return found

    def run(self, run):
        folder = os.path.join(self.output, run.name)
        os.makedirs(self.output, exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)  # of an earlier run
        path = folder + ".scenario"
        with open(path, "w") as file:
            file.write(run.scenario())
        words = [self.binary, "run", path, "--target", self.url, "--output", folder, "--force", "--quiet", "--no-color"]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)
        try:
            said, _ = process.communicate(timeout=RUN_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.terminate()
            said, _ = process.communicate(timeout=30)
        with open(folder + ".txt", "w") as file:
            file.write(said)
        return Outcome(run, process.returncode, said, folder)

    def knows(self, run):
        """Whether the scenario is right without a target, so that the target is why the program refuses it."""
        words = [self.binary, "check", os.path.join(self.output, run.name + ".scenario"), "--no-color"]
        return subprocess.run(words, capture_output=True, cwd=ROOT).returncode == 0


def planned(options, examples):
    seeds = range(options.seed, options.seed + options.runs)
    kinds = [kind for kind in KINDS if kind in (options.kind or [kind])]
    if not options.fault:
        for kind in kinds:
            for seed in seeds:
                yield Run(Variant(kind, None), None, seed)
    if options.no_faults:
        return
    for fault, example in examples.items():
        if fault not in (options.fault or [fault]):
            continue
        for variant in VARIANTS.get(fault, [Variant("open", example)]):
            if variant.kind in kinds:
                yield Run(variant, fault, options.seed)
        for variant in WITH_RESUMES.get(fault, []):
            if variant.kind in kinds:
                yield Run(variant, fault, options.seed, [RESUMING])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(ROOT, ".build/release/swiftwing-sim"))
    parser.add_argument("--backend", type=shlex.split, default=OWN_BACKEND, help="a command that prints the URL of its server")
    parser.add_argument("--target", help="the URL of a server that runs already; on this machine only")
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="only this kind of scenario (repeatable)")
    parser.add_argument("--fault", action="append", help="only runs with this kind of fault (repeatable)")
    parser.add_argument("--no-faults", action="store_true", help="only runs without faults")
    parser.add_argument("--runs", type=int, default=4, help="runs of each kind without faults (default: 4)")
    parser.add_argument("--seed", type=int, default=1, help="the first seed (default: 1)")
    parser.add_argument("--output", default=os.path.join(ROOT, ".build/targets"), help="the folders of the runs")
    options = parser.parse_args()
    if options.target and urllib.parse.urlsplit(options.target).hostname not in ("127.0.0.1", "localhost", "::1"):
        sys.exit("targets.py: the target must be on this machine")
    backend = None if options.target else Backend(options.backend)
    try:
        sys.exit(check(options, options.target or backend.url))
    finally:
        if backend:
            backend.end()


def check(options, url):
    program = Program(options, url)
    examples = program.examples()
    unknown = set(options.fault or []) - set(examples)
    if unknown:
        sys.exit("targets.py: no such fault: %s" % ", ".join(sorted(unknown)))
    print(table_row(HEAD), flush=True)
    passed, failed, refused = 0, 0, 0
    for run in planned(options, examples):
        outcome = program.run(run)
        if outcome.load_was_not_made:
            print("    repeated, because the load was not made", flush=True)
            outcome = program.run(run)
        if outcome.code in (64, 65) and run.fault and program.knows(run):
            refused += 1
            print("%s\n    refused with a target: %s" % (table_row(outcome.row), outcome.sentence), flush=True)
            continue
        print(table_row(outcome.row), flush=True)
        for note in outcome.notes:
            print("    note: %s" % (note if isinstance(note, str) else json.dumps(note)), flush=True)
        for wrong in outcome.wrong:
            print("    WRONG: %s" % wrong, flush=True)
        if outcome.loss.why and not outcome.wrong:
            print("    right: %s" % outcome.loss.why, flush=True)
        passed, failed = (passed, failed + 1) if outcome.wrong else (passed + 1, failed)
    print("%d runs as they must be, %d not, %d refused with a target" % (passed, failed, refused))
    return 1 if failed else 0


if __name__ == "__main__":
    main()
