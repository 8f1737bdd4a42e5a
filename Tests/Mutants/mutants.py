#!/usr/bin/env python3
"""Plants bugs, one at a time, and shows which check of the shipped scenarios finds each.

Every file of phone/ and harness/ is one bug: what it is, and the lines that it changes. All that do not overlap are built into
one copy of the program and switched on by a variable of the environment; with none on, the copy must do what the program does.
With each in turn the scenarios are simulated until an invariant breaks. What no check finds, users would have to find.

A bug of the phone is caught by an invariant and by nothing else. One of the harness is caught by an invariant, too, or by a
check of the harness on itself: exit code 70, with the sentence that says what contradicts what.

  mutants.py                            every bug
  mutants.py no-delete-after-relaunch   that one
  mutants.py --list                     names them, and builds nothing
  mutants.py --json FILE                keeps what it finds in FILE, and goes on from there
  mutants.py --search 1000              in how many of 1,000 seeds a search finds each, instead of the shipped scenarios
  mutants.py --search                   the same within the budget of each bug, which must not be exceeded
"""

import argparse
import collections
import concurrent.futures
import contextlib
import glob
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import search

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../.."))
WORK = os.path.join(ROOT, ".build/mutants")
SIDES = ("phone", "harness")
# How a run shows that something is wrong, the surest first, and what catches a bug of each side.
KINDS = {
    "invariant": "found by an invariant", "check": "found by the harness's checks of itself",
    "objective": "found by an objective only", "exit": "found by an exit code only"}
CATCHES = {"phone": ("invariant",), "harness": ("invariant", "check")}
SWITCH = "SWIFTWING_SIM_PLANTED"
# Long, or large.
LARGE = ("crowd", "day", "hour")
# For bugs of what only real processes have. They take their time.
REAL = {
    "live": ("flaky-network", "network-drops", "staging-smoke"),
    "gateway": ("backend-degraded", "flaky-network", "token-expiry", "batch-enrichment"),
}
REAL_LIMIT = 180
# For bugs of merges: simulated in shards, whose merge is that of a program without bugs to the byte.
SHARDS = ("flaky-network", "v2-under-fire", "head-on-flaky-network")
SHARD_COUNT = 3
# Judged by the sum of the shards' series.
SHARD_OBJECTIVES = "slo={scan.time: p(90) < 4s over 5s, upload.time: count < 1000 over 2s}"
# What stands behind the gateway has no faults of its own.
UPSTREAM = "staging-smoke"
SETTLE = "10m"
# Scenarios whose load has steps, which `--settle` does not go with.
STEPPED = ("capacity",)
# A bug can make a run tell without end.
FILE_BYTES_MAX = 1 << 30
# What the clock on the wall and the machine put into a summary.
VARIES = ("started", "resources", "gauges")

PLANTED = """/// Which planted bug is switched on; see Tests/Mutants.
package enum Planted {
    package nonisolated(unsafe) static var bug = 0

    package static func isOn(_ bug: Int) -> Bool { unsafe self.bug == bug }
}
"""
MAIN = "Sources/swiftwing-sim/Main.swift"
MAIN_BEGINS = "    static func main() {"
MAIN_SWITCH = '        unsafe Planted.bug = Int(ProcessInfo.processInfo.environment["%s"] ?? "") ?? 0' % SWITCH

Run = collections.namedtuple("Run", "world scenario seed settle")
Edit = collections.namedtuple("Edit", "path start end new")


def main():
    options = parsed()
    # Who started us may have blocked signals, and what we start would inherit that.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    everything = planted()
    bugs = chosen(everything, options.names)
    if options.list:
        for bug in bugs:
            print("%-8s %-36s %s" % (bug.side, bug.name, bug.what))
        return 0
    if not os.access(options.binary, os.X_OK):
        sys.exit("mutants.py: no program at %s: make build, or --binary" % options.binary)
    session = None if options.search is not None else Session(options, bugs)
    # All are planted, whichever are asked for: then a copy is built once.
    copies = [copy for copy in shared(everything) if any(bug in copy.bugs for bug in (session.open if session else bugs))]
    for copy in copies:
        copy.build()
    if options.search is not None:
        return search.table(options, bugs, scenario_path(search.SCENARIO), SWITCH)
    shutil.rmtree(os.path.join(WORK, "runs"), ignore_errors=True)
    os.makedirs(os.path.join(WORK, "runs"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    session.run(copies)
    return session.report()


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these bugs")
    parser.add_argument("--list", action="store_true", help="name the bugs, and see that their places are there")
    parser.add_argument("--seeds", type=int, default=12, metavar="N", help="simulate with the seeds 1 to N (12)")
    parser.add_argument(
        "--search", type=int, nargs="?", const=0, metavar="N",
        help="search the seeds 1 to N, and simulate no scenario; without N, as many as search-budgets.txt allows for each bug")
    parser.add_argument("--all", action="store_true", help="also simulate " + ", ".join(LARGE))
    parser.add_argument("--exhaustive", action="store_true", help="make every run of every bug, and name all that broke")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at once")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="for one simulated run (60)")
    parser.add_argument("--json", metavar="FILE", help="keep what was found here, and do not look for it again")
    parser.add_argument("--phone-min", type=float, default=0.95, metavar="SHARE", help="of the phone's bugs to be caught")
    parser.add_argument("--harness-min", type=float, default=0.93, metavar="SHARE", help="of the harness's")
    parser.add_argument("--binary", default=os.path.join(ROOT, ".build/release/swiftwing-sim"), help="without any bug")
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    return options


# What is planted


class Bug:
    """One file: lines of explanation that begin with #, then for each changed source `--- PATH` and blocks

        <<<<
        old lines, which stand there once
        ====
        new lines, in which BUG is true where this bug is on
        >>>>

    `# World: live` says that only a run of real processes can show it, `# World: gateway` that it takes a target, too, and
    `# World: shards` that it takes a merge.
    """

    def __init__(self, side, path):
        self.side = side
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        # By its name, so that one more bug changes no other's number.
        self.number = zlib.crc32(self.name.encode()) or 1
        with open(path) as file:
            self.text = file.read()
        lines = self.text.splitlines()
        about = [line.lstrip("# ") for line in lines[: next((i for i, line in enumerate(lines) if line[:1] != "#"), 0)]]
        self.what = about[0] if about else ""
        self.world = next((line[len("World: "):] for line in about if line.startswith("World: ")), "virtual")
        self.edits = [self.located(*block) for block in self.blocks(lines[len(about):])]
        if not self.what or not any("Planted.isOn" in line for edit in self.edits for line in edit.new):
            self.fail("it says nothing, or switches nothing")
        if self.world not in ("virtual", "shards", *REAL):
            self.fail("there is no world named " + self.world)

    def fail(self, text):
        sys.exit("mutants.py: %s: %s" % (os.path.relpath(self.path, ROOT), text))

    def blocks(self, lines):
        """Path, old and new lines of each."""
        path, part, old, new = None, None, [], []
        for line in lines:
            if part is None and line.startswith("--- "):
                path = line[4:].strip()
            elif part is None and line == "<<<<" and path:
                part, old, new = "old", [], []
            elif part == "old" and line == "====":
                part = "new"
            elif part == "new" and line == ">>>>":
                yield path, old, new
                part = None
            elif part:
                (old if part == "old" else new).append(line)
            elif line.strip():
                self.fail("cannot read " + line)
        if part:
            self.fail("a block has no end")

    def located(self, path, old, new):
        lines = source(path)
        starts = [i for i in range(len(lines) - len(old) + 1) if lines[i:i + len(old)] == old]
        if not old or len(starts) != 1:
            self.fail("in %s its old lines stand %d times, not once: %s" % (path, len(starts), " ".join(old)[:100]))
        on = "Planted.isOn(%d)" % self.number
        return Edit(path, starts[0], starts[0] + len(old), [re.sub(r"\bBUG\b", on, line) for line in new])

    def overlaps(self, other):
        return any(
            one.path == two.path and one.start < two.end and two.start < one.end
            for one in self.edits for two in other.edits)


def source(path):
    try:
        with open(os.path.join(ROOT, path)) as file:
            return file.read().splitlines()
    except OSError as error:
        sys.exit("mutants.py: %s" % error)


def planted():
    """Every bug that is written down."""
    bugs = []
    for side in SIDES:
        folder = os.path.join(HERE, side)
        for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if file.endswith(".mutant"):
                bugs.append(Bug(side, os.path.join(folder, file)))
    twice = [number for number, count in collections.Counter(bug.number for bug in bugs).items() if count > 1]
    if twice or not bugs:
        sys.exit("mutants.py: " + ("two bugs have one name" if twice else "there are no bugs"))
    return bugs


def chosen(bugs, names):
    unknown = [name for name in names if name not in [bug.name for bug in bugs]]
    if unknown:
        sys.exit("mutants.py: no bug is named " + ", ".join(unknown))
    return [bug for bug in bugs if not names or bug.name in names]


def shared(bugs):
    """Copies of the program, each with as many bugs as have room in it."""
    copies = []
    for bug in bugs:
        copy = next((copy for copy in copies if not any(bug.overlaps(other) for other in copy.bugs)), None)
        if copy is None:
            copy = Copy(len(copies) + 1)
            copies.append(copy)
        copy.bugs.append(bug)
        bug.copy = copy
    return copies


class Copy:
    """The tree with bugs planted, and the program built from it."""

    def __init__(self, number):
        self.number = number
        self.bugs = []
        self.tree = os.path.join(WORK, "tree-%d" % number)
        self.scratch = os.path.join(WORK, "build-%d" % number)
        self.binary = os.path.join(self.scratch, "release/swiftwing-sim")

    def plant(self):
        """Writes what has changed, and nothing else, so that little is built anew."""
        files = {path: text for path, text in tree()}
        # Planted code may leave something unused, and may name what its file does not import.
        for setting in (b".treatAllWarnings(as: .error),", b'.enableUpcomingFeature("MemberImportVisibility"),'):
            files["Package.swift"] = files["Package.swift"].replace(setting, b"")
        edits = collections.defaultdict(list)
        for bug in self.bugs:
            for edit in bug.edits:
                edits[edit.path].append(edit)
        main = source(MAIN)
        if main.count(MAIN_BEGINS) != 1:
            sys.exit("mutants.py: %s does not begin as expected" % MAIN)
        place = main.index(MAIN_BEGINS)
        edits[MAIN].append(Edit(MAIN, place, place + 1, [MAIN_BEGINS, MAIN_SWITCH]))
        for path, changes in edits.items():
            lines = source(path)
            for edit in sorted(changes, key=lambda edit: -edit.start):
                lines[edit.start:edit.end] = edit.new
            if not path.startswith("Sources/Core/SimBase/") and not any(re.match(r"(\w+ )?import SimBase\b", x) for x in lines):
                lines.insert(next((i for i, x in enumerate(lines) if re.match(r"(\w+ )?import ", x)), 0), "import SimBase")
            files[path] = "\n".join(lines + [""]).encode()
        files["Sources/Core/SimBase/Planted.swift"] = PLANTED.encode()
        for path, text in files.items():
            self.write(path, text)
        for folder, _, names in os.walk(os.path.join(self.tree, "Sources")):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.relpath(path, self.tree) not in files:
                    os.remove(path)
        for name in ("Tests", "Scenarios", "Images"):
            if not os.path.lexists(os.path.join(self.tree, name)):
                os.symlink(os.path.join(ROOT, name), os.path.join(self.tree, name))

    def write(self, path, text):
        path = os.path.join(self.tree, path)
        if os.path.exists(path):
            with open(path, "rb") as file:
                if file.read() == text:
                    return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text)

    def build(self):
        self.plant()
        print("building copy %d with %d bugs" % (self.number, len(self.bugs)), flush=True)
        done = subprocess.run(
            ["swift", "build", "-c", "release", "--product", "swiftwing-sim", "--package-path", self.tree,
             "--scratch-path", self.scratch],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if done.returncode == 0:
            return
        errors = sorted({line for line in done.stdout.splitlines() if " error: " in line})
        print("\n".join(errors[:40] or done.stdout.splitlines()[-40:]))
        guilty = [bug.name for bug in self.bugs if any(edit.path in error for edit in bug.edits for error in errors)]
        sys.exit("mutants.py: copy %d cannot be built; bugs in these files: %s" % (self.number, ", ".join(guilty)))


def tree():
    """What the program is built from: paths and contents."""
    paths = ["Package.swift"]
    for folder, _, names in os.walk(os.path.join(ROOT, "Sources")):
        paths += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    for path in sorted(paths):
        with open(os.path.join(ROOT, path), "rb") as file:
            yield path, file.read()


# What is run


def scenario_path(name):
    return os.path.join(ROOT, "Scenarios", name + ".scenario")


def runs(options, world):
    if world == "shards":
        return [Run(world, name, 1, False) for name in SHARDS]
    if world in REAL:
        return [Run(world, name, 1, False) for name in REAL[world]]
    names = sorted(file[:-len(".scenario")] for file in os.listdir(os.path.join(ROOT, "Scenarios"))
                   if file.endswith(".scenario"))
    if not options.all:
        names = [name for name in names if name not in LARGE]
    made = []
    for seed in range(1, options.seeds + 1):
        made += [Run(world, name, seed, False) for name in names]
        if seed == 1:
            made += [Run(world, name, seed, True) for name in names if name not in STEPPED]
    return made


def summary(folder):
    """What a run has left or, of a scenario that runs once for each of two transports, both runs together."""
    paths = [os.path.join(folder, "summary.json")]
    if not os.path.exists(paths[0]):
        paths = sorted(glob.glob(os.path.join(folder, "*", "summary.json")))
    summaries = []
    for path in paths:
        with open(path) as file:
            summaries.append(json.load(file))
    if len(summaries) == 1:
        return summaries[0]
    both = {key: sum((one.get(key, []) for one in summaries), []) for key in ("invariants", "slos", "notes")}
    both["failure"] = next((one["failure"] for one in summaries if one.get("failure")), None)
    both["runs"] = [{key: value for key, value in one.items() if key not in VARIES} for one in summaries]
    return both


def described(run):
    return "%s seed %d%s%s" % (
        run.scenario, run.seed, " --settle " + SETTLE if run.settle else "", "" if run.world == "virtual" else " " + run.world)


class Outcome:
    """How a run ended: its exit code, the invariants that broke, the objectives that failed, and all that it measured."""

    def __init__(self, code, summary):
        self.code = code
        self.failure = summary.get("failure") if code == 70 else None
        invariants = summary.get("invariants", [])
        self.broken = [
            verdict["id"] for verdict in invariants
            if isinstance(verdict["violations"], int) and verdict["violations"] > verdict["expected"]]
        self.missed = [
            "%s: %s" % (slo["metric"], slo["expression"]) for slo in summary.get("slos", [])
            if slo["passed"] is False and slo["severity"] == "error"]
        notes = summary.get("notes", [])
        self.digest = next((note for note in notes if note.startswith("digest ")), "no digest")
        self.all = {key: value for key, value in summary.items() if key not in VARIES}

    def differing(self, other):
        return [key for key in {**self.all, **other.all} if self.all.get(key) != other.all.get(key)]

    def finds(self, healthy, is_merge=False):
        """What this run shows that one without any bug does not: its kind, and what it is. A merge is compared as a whole."""
        if is_merge and (self.all != healthy.all or self.code != healthy.code):
            keys = self.differing(healthy)
            return "check", ["the merge differs in " + ", ".join(keys or ["exit %s" % self.code])]
        broken = [name for name in self.broken if name not in healthy.broken]
        if broken:
            return "invariant", broken
        if self.failure and self.failure != healthy.failure:
            return "check", [self.failure if len(self.failure) <= 100 else self.failure[:99] + "…"]
        missed = [name for name in self.missed if name not in healthy.missed]
        if missed:
            return "objective", missed
        return ("exit", ["exit " + str(self.code)]) if self.code != healthy.code else None


class Session:
    """Runs every bug, several at once."""

    def __init__(self, options, bugs):
        self.options = options
        self.bugs = bugs
        self.healthy = {}
        self.results = {}
        self.processes = set()
        self.lock = threading.Lock()
        self.is_over = False
        program = hashlib.sha256(repr([options.seeds, options.all, options.exhaustive, options.limit]).encode())
        for path, text in tree():
            program.update(path.encode() + text)
        for run in [run for world in ("virtual", "shards", *REAL) for run in runs(options, world)]:
            with open(scenario_path(run.scenario), "rb") as file:
                program.update(file.read())
        self.program = program.hexdigest()
        self.load()
        self.open = [bug for bug in bugs if bug.name not in self.results]

    def run(self, copies):
        self.began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            try:
                self.compare(pool, copies)
                waiting = [pool.submit(self.look, bug) for bug in self.open]
                for future in concurrent.futures.as_completed(waiting):
                    future.result()
            except BaseException:
                # What runs ends, what waits does not begin, and what was found is kept.
                self.is_over = True
                pool.shutdown(wait=False, cancel_futures=True)
                with self.lock:
                    for process in self.processes:
                        with contextlib.suppress(ProcessLookupError):
                            os.killpg(process.pid, signal.SIGKILL)
                raise

    def play(self, binary, run, bug=0):
        """One run with a bug, or with none, in a folder that goes away."""
        folder = tempfile.mkdtemp(dir=os.path.join(WORK, "runs"))
        output = os.path.join(folder, "run")
        code = "no run"
        words = [binary, "run" if run.world in REAL else "simulate", scenario_path(run.scenario)]
        words += ["--seed", str(run.seed), "--output", output, "--quiet", "--no-color"]
        words += ["--settle", SETTLE] if run.settle else []
        upstream = None
        try:
            if run.world == "shards":
                code = self.merge(binary, words, bug, folder, output)
                with open(os.path.join(output, "summary.json")) as file:
                    return Outcome(code, json.load(file))
            if run.world == "gateway":
                upstream, url = self.serve(run.seed)
                words += ["--target", url]
            code = self.wait(
                self.start(words, bug), self.options.limit if run.world == "virtual" else REAL_LIMIT)
            return Outcome(code, summary(output))
        except (OSError, ValueError):
            return Outcome(code, {})
        finally:
            if upstream:
                self.wait(upstream, 0)
            shutil.rmtree(folder, ignore_errors=True)

    def merge(self, binary, words, bug, folder, output):
        """Simulates the shards, merges what they leave, and returns how the merge ends."""
        shards = []
        with open(words[2]) as scenario:  # What is expected to break is among its own objectives.
            objectives = [] if "\nexpect-broken:" in scenario.read() else ["--set", SHARD_OBJECTIVES]
        for index in range(SHARD_COUNT):
            shards.append(os.path.join(folder, str(index)))
            shard = [shards[-1] if word == output else word for word in words]
            shard += ["--shard", "%d/%d" % (index, SHARD_COUNT)] + objectives
            self.wait(self.start(shard, bug), self.options.limit)
        merge = [binary, "report", *shards, "--output", output, "--no-color"]
        return self.wait(self.start(merge, bug), self.options.limit)

    def serve(self, seed):
        """A backend without faults, and where it listens."""
        words = [self.options.binary, "serve", scenario_path(UPSTREAM), "--seed", str(seed), "--quiet"]
        process = self.start(words + ["--set", "server.rate-limit=off"], 0, stdout=subprocess.PIPE)
        line = process.stdout.readline().decode("utf-8", "replace")
        if not line.startswith("listening "):
            sys.exit("mutants.py: the upstream does not listen: " + line)
        return process, line.split()[1]

    def start(self, words, bug, stdout=subprocess.DEVNULL):
        with self.lock:
            if self.is_over:
                raise concurrent.futures.CancelledError()
            process = subprocess.Popen(
                words, env={**os.environ, SWITCH: str(bug)}, start_new_session=True, stdin=subprocess.DEVNULL,
                stdout=stdout, stderr=subprocess.DEVNULL)
            self.processes.add(process)
            return process

    def wait(self, process, limit):
        """The exit code, or what there is in its place."""
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = "never (%.0f s)" % limit
        if process.stdout:
            process.stdout.close()
        with self.lock:
            self.processes.discard(process)
        return "by " + signal.Signals(-code).name if isinstance(code, int) and code < 0 else code

    def compare(self, pool, copies):
        """Runs without any bug: they are what the others are held against, and a copy must run like the program."""
        plan = [run for world in sorted({bug.world for bug in self.open}) for run in runs(self.options, world)]
        print("comparing %d runs without any bug" % len(plan), flush=True)
        for run, outcome in zip(plan, pool.map(lambda run: self.play(self.options.binary, run), plan)):
            self.healthy[run] = outcome
            # What a scenario expects to be broken ends with 0.
            if outcome.broken or outcome.code != 0:
                reasons = outcome.broken + outcome.missed + [text for text in [outcome.failure] if text]
                print("without any bug %s ends with %s: %s" % (described(run), outcome.code, ", ".join(reasons)))
        for copy in copies:
            simulated = [run for run in plan if run.world == "virtual"]
            for run, outcome in zip(simulated, pool.map(lambda run: self.play(copy.binary, run), simulated)):
                healthy = self.healthy[run]
                if outcome.digest != healthy.digest or outcome.all != healthy.all or outcome.code != healthy.code:
                    keys = ", ".join(outcome.differing(healthy))
                    sys.exit("mutants.py: with no bug on, copy %d differs in %s: %s; %s, and not %s" % (
                        copy.number, described(run), keys, outcome.digest, healthy.digest))

    def look(self, bug):
        """Runs one bug until it is caught."""
        first, broken, missed, count, changed = {}, collections.Counter(), collections.Counter(), 0, 0
        for run in runs(self.options, bug.world):
            count += 1
            outcome, healthy = self.play(bug.copy.binary, run, bug.number), self.healthy[run]
            # Real processes never run alike.
            changed += run.world not in REAL and outcome.all != healthy.all
            found = outcome.finds(healthy, is_merge=run.world == "shards")
            if not found:
                continue
            kind, names = found
            if run.world in REAL and names == ["exit 98"]:
                continue  # A busy machine, and no bug.
            (broken if kind == "invariant" else missed).update([kind] if kind == "check" else names)
            first.setdefault(kind, {"names": names, "run": described(run), "runs": count})
            if kind in CATCHES[bug.side] and not self.options.exhaustive:
                break
        kind = next((kind for kind in KINDS if kind in first), "escaped")
        result = {
            "side": bug.side, "what": bug.what, "by": kind, **first.get(kind, {}), "runs_made": count,
            "runs_changed": changed if bug.world not in REAL else None, "invariants": dict(broken),
            "others": dict(missed), "key": self.key(bug)}
        with self.lock:
            self.results[bug.name] = result
            print("%4.0f s  %-36s %s" % (time.monotonic() - self.began, bug.name, self.verdict(result)), flush=True)
            self.save()

    # What was found

    def key(self, bug):
        """Of all on which the result depends: other bugs do not matter to it."""
        return hashlib.sha256((self.program + bug.text).encode()).hexdigest()

    def load(self):
        if not self.options.json or not os.path.exists(self.options.json):
            return
        with open(self.options.json) as file:
            kept = json.load(file)["bugs"]
        for bug in self.bugs:
            if kept.get(bug.name, {}).get("key") == self.key(bug):
                self.results[bug.name] = kept[bug.name]
        if self.results:
            print("%d of %d bugs are known from %s" % (len(self.results), len(self.bugs), self.options.json))

    def save(self):
        if not self.options.json:
            return
        kept = {}
        if os.path.exists(self.options.json):
            with open(self.options.json) as file:
                kept = json.load(file)["bugs"]
        partial = self.options.json + ".partial"
        with open(partial, "w") as file:
            json.dump({"bugs": {**kept, **self.results}}, file, indent=1, sort_keys=True)
        os.replace(partial, self.options.json)

    @staticmethod
    def verdict(result):
        if result["by"] == "escaped":
            if result["runs_changed"] == 0:
                return "ESCAPED %d runs, and changed none" % result["runs_made"]
            return "ESCAPED %d runs" % result["runs_made"]
        runs = "run %d" % result["runs"]
        return "%s (%s, %s)" % (", ".join(result["names"]), result["run"], runs)

    def report(self):
        is_enough = True
        for kind, title in {**KINDS, "escaped": "escaped"}.items():
            named = [bug for bug in self.bugs if self.results[bug.name]["by"] == kind]
            if named:
                print("\n%s:" % title)
            for bug in named:
                print("  %-8s %-36s %s" % (bug.side, bug.name, self.verdict(self.results[bug.name])))
                if self.options.exhaustive and kind != "escaped":
                    result = self.results[bug.name]
                    print("           " + ", ".join(
                        "%s ×%d" % pair for pair in {**result["invariants"], **result["others"]}.items()))
        print()
        for side, least in (("phone", self.options.phone_min), ("harness", self.options.harness_min)):
            of = [self.results[bug.name]["by"] for bug in self.bugs if bug.side == side]
            if not of:
                continue
            caught = sum(of.count(kind) for kind in CATCHES[side])
            is_enough = is_enough and caught >= least * len(of)
            print("%-8s %d of %d caught (%.0f %%; at least %.0f %%): %s" % (
                side, caught, len(of), 100 * caught / len(of), 100 * least,
                ", ".join("%d %s" % (of.count(kind), title) for kind, title in KINDS.items() if kind in of)))
        print("%d runs in %.0f s" % (
            sum(self.results[bug.name]["runs_made"] for bug in self.bugs), time.monotonic() - self.began))
        return 0 if is_enough else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
