#!/usr/bin/env python3
"""Damages what comes over sockets: answers to `run --target` and `proxy`, requests to `serve`, recordings to `serve --replay`.

Whatever comes, the program ends with a documented exit code, in time, within 400 MiB of memory and 100 MiB of disk; its totals
agree; it prints no control characters; a server goes on to answer healthy clients. A case is a function of the seed and its
number. One that fails is made smaller, kept as a file, and named with the command that runs it again.

  fuzz.py --seconds 60                          every mode in turn, for so long
  fuzz.py --seed 7 --case 113                   that case again; --print shows it instead
  fuzz.py --script FILE...                      kept cases again, also those of corpus/
  fuzz.py --corpus                              all of corpus/
  fuzz.py --self-test                           plants each failure and wants it found
"""

import argparse
import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time

import cases

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../.."))
REDUCTIONS_MAX = 40


def main():
    options = parsed()
    # Who started us may have blocked signals, and what we start would inherit that.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    if options.self_test:
        import self_test

        return self_test.run()
    if options.print:
        for number in options.case or []:
            print(json.dumps(made(options, number)))
        return 0
    if not os.access(options.binary, os.X_OK):
        sys.exit("fuzz.py: no program at %s: make build, or --binary" % options.binary)
    session = Session(options)
    if options.corpus or options.script:
        paths = options.script or sorted(glob.glob(os.path.join(HERE, "corpus/*.json")))
        session.all([(path, loaded(path)) for path in paths])
    elif options.case is not None:
        session.all([(name_of(options.seed, number), made(options, number)) for number in options.case])
    else:
        session.until(time.monotonic() + options.seconds)
    return session.report()


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--first", type=int, default=0, metavar="N", help="begin with this case")
    parser.add_argument("--case", type=int, nargs="+", metavar="N")
    parser.add_argument("--print", action="store_true", help="print cases as JSON instead of running them")
    parser.add_argument("--only", choices=sorted(cases.MODES))
    parser.add_argument("--script", nargs="+", metavar="FILE")
    parser.add_argument("--corpus", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--binary", default=os.path.join(ROOT, ".build/release/swiftwing-sim"))
    parser.add_argument("--failures", default=os.path.join(ROOT, ".build/fuzz-sockets"), help="where failing cases are kept")
    parser.add_argument("--jobs", type=int, default=4, help="cases at once")
    parser.add_argument("--no-reduce", action="store_true", help="keep failing cases as they are")
    parser.add_argument("--ignore", default="(?!)", metavar="REGEX", help="do not count failures that match, such as known ones")
    parser.add_argument("--keep", action="store_true", help="keep the folders in which cases ran")
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    return options


def made(options, number):
    """The case of a number: modes take turns."""
    modes = [options.only] if options.only else [
        "run", "proxy", "serve", "run", "record", "replay", "socket-run", "socket-proxy", "socket-serve"]
    mode = modes[number % len(modes)]
    case = cases.MODES[mode][0](random.Random("%d %d %s" % (options.seed, number, mode)))
    again = "Tests/SocketFuzz/fuzz.py --seed %d --case %d%s" % (
        options.seed, number, " --only " + options.only if options.only else "")
    return {"mode": mode, "again": again, **case}


def loaded(path):
    with open(path) as file:
        return json.load(file)


def name_of(seed, number):
    return "%d-%d" % (seed, number)


def played(case, binary, keep=False):
    """The failures and the exit code of one case, in a folder that goes away."""
    folder = tempfile.mkdtemp(prefix="swiftwing-socket-fuzz-")
    try:
        failures, code = cases.MODES[case["mode"]][1](case, binary, folder)
        if failures:
            case["complaints"] = complaints(folder)
        return failures, code
    finally:
        if keep:
            print("ran in", folder, file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def complaints(folder):
    """The end of what each process said on its standard error."""
    said = {}
    for path in glob.glob(os.path.join(folder, "*.err")):
        with open(path, "rb") as file:
            said[os.path.basename(path)] = file.read()[-2_000:].decode("utf-8", "backslashreplace")
    return said


def kind_of(failure):
    """What two failures have in common that may have one cause: without numbers and quoted text."""
    return re.sub(r"'.*|\{.*|b\".*", "", re.sub(r"\d{3,}", "N", failure))[:80].strip()


class Session:
    """Plays cases, several at once, and keeps the first of each kind that fails."""

    def __init__(self, options):
        self.options = options
        self.counts = {}
        self.codes = {}
        self.kinds = {}
        self.accused = []
        self.began = time.monotonic()

    def until(self, end):
        number = self.options.first
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            waiting = set()
            while time.monotonic() < end or waiting:
                while time.monotonic() < end and len(waiting) < self.options.jobs:
                    waiting.add(pool.submit(self.one, name_of(self.options.seed, number), made(self.options, number)))
                    number += 1
                done, waiting = concurrent.futures.wait(waiting, return_when="FIRST_COMPLETED")
                for future in done:
                    future.result()

    def all(self, named):
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for future in [pool.submit(self.one, name, case) for name, case in named]:
                future.result()

    def one(self, name, case):
        failures, code = played(case, self.options.binary, self.options.keep)
        if failures and len(failures) == 1 and is_about_time(failures[0]):
            # A busy machine is no failure of the program: it has to show again.
            failures, code = played(case, self.options.binary, self.options.keep)
        failures = [failure for failure in failures if not re.search(self.options.ignore, failure)]
        mode = case["mode"]
        self.counts[mode] = self.counts.get(mode, 0) + 1
        self.codes[mode, code] = self.codes.get((mode, code), 0) + 1
        if code == 97:
            self.accused.append(name)
        if failures:
            self.failed(name, case, failures)

    def failed(self, name, case, failures):
        kind = case["mode"] + ": " + kind_of(failures[0])
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        is_kept = self.options.script or self.options.corpus
        if self.kinds[kind] > 3 and not is_kept:
            return
        print("FAILED %s (%s, case %d of this session)" % (name, case["mode"], sum(self.counts.values())))
        for failure in failures:
            print("  " + failure)
        for source, said in sorted(case.get("complaints", {}).items()):
            for line in said.splitlines()[-4:]:
                print("  %s: %s" % (source, ascii(line)[1:-1][:300]))
        print("  again: %s" % case.get("again", "Tests/SocketFuzz/fuzz.py --script " + name), flush=True)
        if not is_kept:
            self.keep(name, case, failures)

    def keep(self, name, case, failures):
        if not self.options.no_reduce:
            case = reduced(case, failures[0], self.options.binary)
        os.makedirs(self.options.failures, exist_ok=True)
        path = os.path.join(self.options.failures, "%s-%s.json" % (case["mode"], name))
        with open(path, "w") as file:
            json.dump({"failures": failures, **case}, file, indent=1)
        print("  kept:  %s (%d bytes)" % (path, os.path.getsize(path)), flush=True)

    def report(self):
        codes = ", ".join(
            "%s %s ×%d" % (mode, code, count)
            for (mode, code), count in sorted(self.codes.items(), key=lambda item: (item[0][0], str(item[0][1]))))
        print("%d cases in %.0f s (%s); exit codes: %s" % (
            sum(self.counts.values()), time.monotonic() - self.began,
            ", ".join("%s %d" % pair for pair in sorted(self.counts.items())), codes))
        for kind, count in sorted(self.kinds.items()):
            print("  ×%d  %s" % (count, kind))
        # A hostile server can make a phone break an invariant; whether it did is for a person to see.
        if self.accused:
            print("  an invariant broke in: " + " ".join(self.accused[:20]))
        if not self.kinds:
            print("no failure")
        return 1 if self.kinds else 0


def is_about_time(failure):
    return any(word in failure for word in ("hang", "spins", "timed out", "did not start"))


def reduced(case, failure, binary):
    """The case without the parts that the failure does not need."""
    tries = 0
    for shorter in parts(case):
        if tries >= REDUCTIONS_MAX:
            break
        candidate = json.loads(json.dumps(case))
        if not shorter(candidate):
            continue
        tries += 1
        failures, _ = played(candidate, binary)
        if failures and kind_of(failures[0]) == kind_of(failure):
            case = candidate
    return case


def parts(case):
    """Functions that each take something out of a case; they are false where there is nothing to take."""
    if case.get("faults"):
        yield lambda c: bool(c.pop("faults"))
    for operation in list(case.get("answers", {})):
        yield lambda c, operation=operation: bool(c["answers"].pop(operation, None))
    for operation, answers in list(case.get("answers", {}).items()):
        for half in range(2):
            yield lambda c, o=operation, h=half: emptied(c["answers"].get(o), h * 4, h * 4 + 4)
        for at in range(len(answers)):
            yield lambda c, o=operation, at=at: emptied(c["answers"].get(o), at, at + 1)
    for at in reversed(range(len(case.get("connections", [])))):
        yield lambda c, at=at: bool(c["connections"].pop(at))
    for at in reversed(range(len(case.get("recording", [])))):
        yield lambda c, at=at: bool(c["recording"].pop(at))
    for at in range(len(case.get("exchanges", []))):
        yield lambda c, at=at: emptied(c["exchanges"], at, at + 1)


def emptied(answers, start, end):
    """In their place the server keeps its contract."""
    if not answers or all(answer is None for answer in answers[start:end]):
        return False
    answers[start:end] = [None] * len(answers[start:end])
    return True


if __name__ == "__main__":
    sys.exit(main())
