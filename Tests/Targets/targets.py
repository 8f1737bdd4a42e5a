#!/usr/bin/env python3
"""Runs honest scenarios against healthy backends that are not the simulated one, and requires that no run says otherwise.

A kind of scenario names its backend: the contract's (talaria.py), or one with the forms of one plan (books.py, progressive.py).
Each kind of scenario is run without faults, with several seeds, and then each kind of fault with the scenario that fits it, one
fault a run: through the gateway if it is one of the server or the link. The kinds of faults are those of `schema --faults`: one
that `VARIANTS` does not have is run with the example of that page. A run is as it must be if

  - it ends with 0, or with what the `Loss` of its kind or variant says, and for that reason;
  - no invariant is broken, and every scan is completed or canceled by its user, except those that the fault must lose;
  - every error and every finding has the injected fault as its cause, except what `TRUE_OF_TARGETS` says of a healthy target;
  - what its kind says that a report must have is there, by name or by number;
  - the fault fired. A kind that the program refuses with a target is listed with what the program says.

A run that could not make its load (98) is repeated once. Every run has a folder in --output. The exit code is 1 if a run is not as
it must be.

  targets.py                                         against the programs of Tests/Targets
  targets.py --backend 'Tests/Targets/talaria.py --ping 1 --other-forms'
  targets.py --backend 'my-server --port 8080'       against a server that prints its URL; it is ended with SIGTERM. With it, or
                                                     with --target, only the kinds for a backend of the contract are run
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

from kinds import BACKENDS, FAULT, KINDS, REQUIRED, RESUMING, TRUE_OF_TARGETS, VARIANTS, WITH_RESUMES, Variant

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../.."))
RUN_SECONDS_MAX = 240
LOAD_NOT_MADE = ["load-not-made"]


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


class Backends:
    """The server of each kind of scenario, which is started for its first run."""

    def __init__(self, options):
        self.options, self.running = options, {}

    def url(self, kind):
        if self.options.target:
            return self.options.target
        name = KINDS[kind].backend
        if name not in self.running:
            program, *words = BACKENDS[name].split()
            own = [sys.executable, os.path.join(HERE, program), "--ping", "1", *words]
            self.running[name] = Backend(self.options.backend or own)
        return self.running[name].url

    def end(self):
        for backend in self.running.values():
            backend.end()


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
        if KINDS[self.kind].extends:
            return "scenario: 1\nextends: %s\nname: %s\n" % (KINDS[self.kind].extends, self.kind) + KINDS[self.kind].fleet
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
        self.loss = run.variant.loss or KINDS[run.kind].loss
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
            self.hold("finding", self.name_of(finding), finding["causes"])
        for error in summary["errors"]:
            self.hold("error", error["error"], error["causes"])
        names = {self.name_of(finding) for finding in summary["findings"]} | {error["error"] for error in summary["errors"]}
        self.wrong += ["the report does not say: %s" % name for name in REQUIRED.get(self.run.kind, []) if name not in names]
        if self.run.fault and not summary["faults"].get(FAULT):
            self.wrong.append("the fault did not fire")
        self.count_scans()
        self.notes += summary["notes"] + summary["warnings"] + summary["complaints"]

    @staticmethod
    def name_of(finding):
        return "%s %s: expected %s, was %s" % (finding["operation"], finding["path"], finding["expected"], finding["seen"])

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
        numbers = self.summary["counters"] | self.summary["books"] | scans
        for one, other in KINDS[self.run.kind].counts.items():
            if not self.run.fault and numbers.get(one) != numbers[other]:
                self.wrong.append("%s %s, %s %s" % (numbers.get(one), one, numbers[other], other))

    def hold(self, noun, name, causes):
        """Each cause must be an injected fault of the run or the scenario, or be true of a healthy target."""
        true = set(TRUE_OF_TARGETS.get(self.run.kind, {})) | set(REQUIRED.get(self.run.kind, []))
        ids = set(self.summary["faults"]) if KINDS[self.run.kind].extends else self.run.ids
        for cause in causes:
            by, fault = cause["by"], cause.get("fault")
            if by == "injected" and fault in ids:
                continue
            if by == "target" and name in true:
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
WIDTHS = [21, 20, 62, 4, 4, 8, 11, 8, 0]


def table_row(words):
    return "  ".join(word.ljust(width) for word, width in zip(words, WIDTHS)).rstrip()


class Program:
    def __init__(self, options, backends):
        self.binary, self.output, self.backends = os.path.abspath(options.binary), os.path.abspath(options.output), backends

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
        words = [self.binary, "run", path, "--target", self.backends.url(run.kind), "--output", folder, "--force", "--quiet", "--no-color"]
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
    if options.backend or options.target:
        kinds = [kind for kind in kinds if KINDS[kind].backend == "contract"]
    if not options.fault:
        for kind in kinds:
            for seed in seeds[:1] if KINDS[kind].extends else seeds:
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
    parser.add_argument("--backend", type=shlex.split, help="a command that prints the URL of its server")
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
    backends = Backends(options)
    try:
        sys.exit(check(options, backends))
    finally:
        backends.end()


def check(options, backends):
    program = Program(options, backends)
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
