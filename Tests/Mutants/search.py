"""In how many seeds of a search each planted bug is found, and how small its plan gets: what `simulate --seeds --faults swarm` can do."""

import collections
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile

SCENARIO = "flaky-network"
BUDGETS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "search-budgets.txt")

# Seeds within which a bug is found, and how many scans and faults its smallest plan has at most. No seeds: no search finds it, and
# `reason` says why.
Budget = collections.namedtuple("Budget", "seeds scans faults reason")


def budgets():
    """What `search-budgets.txt` says of each bug: `NAME SEEDS SCANS FAULTS` or `NAME - REASON`."""
    found = {}
    with open(BUDGETS) as file:
        for line in file:
            if not line.strip() or line.startswith("#"):
                continue
            name, rest = line.split(None, 1)
            if rest.startswith("- "):
                found[name] = Budget(None, None, None, rest[2:].strip())
            else:
                found[name] = Budget(*map(int, rest.split()), None)
    return found


class Search:
    """The seeds in which a bug was found, and by what."""

    def __init__(self, seeds, code, lines):
        self.seeds = seeds
        self.code = code
        self.kinds = collections.Counter()
        self.found = []
        self.last = 0
        self.size = None
        for line in lines:
            # Seed, digest, events, scans, kinds of failures, situations, faults, an error of the simulation.
            fields = line.split("\t")
            self.last = int(fields[0])
            kinds = {kind.split("/")[0] for kind in fields[4].split(",") if kind}
            self.kinds.update(kinds)
            if kinds:
                self.found.append(self.last)

    @property
    def text(self):
        crash = "; it died behind seed %d (%s)" % (self.last, self.code) if self.code != 0 else ""
        if not self.found:
            return "in no seed of %d%s" % (self.last, crash)
        kinds = ", ".join("%s ×%d" % pair for pair in self.kinds.most_common(3))
        size = "; smallest: %d scans, %d faults" % self.size if self.size else ""
        return "in %d of %d, first in seed %d: %s%s%s" % (len(self.found), self.last, self.found[0], kinds, size, crash)

    def keeps(self, budget):
        """Whether it was found as the budget says."""
        if budget.seeds is None:
            return True
        return bool(self.found) and self.size is not None and self.size[0] <= budget.scans and self.size[1] <= budget.faults


def play(binary, scenario, seeds, switch, bug, limit):
    words = [binary, "simulate", scenario, "--faults", "swarm", "--seeds", "1..%d" % seeds, "--worker", "0/1"]
    try:
        done = subprocess.run(
            words, env={**os.environ, switch: str(bug)}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, errors="replace", timeout=limit)
        search = Search(seeds, done.returncode, done.stdout.splitlines())
    except subprocess.TimeoutExpired as late:
        text = (late.stdout or b"").decode("utf-8", "replace")
        search = Search(seeds, "%.0f s" % limit, text.splitlines()[:-1])
    if search.found:
        search.size = smallest(binary, scenario, search.found[0], switch, bug, limit)
    return search


def smallest(binary, scenario, seed, switch, bug, limit):
    """The numbers of scans and faults of the smallest plan of a failing seed, of all its failures; None if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        words = [binary, "simulate", scenario, "--faults", "swarm", "--seeds", "%d..%d" % (seed, seed)]
        try:
            subprocess.run(
                words + ["--quiet", "--output", folder, "--force"], env={**os.environ, switch: str(bug)}, timeout=limit,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return None
        sizes = []
        for path in glob.glob(os.path.join(folder, "*-%d.json" % seed)):
            with open(path) as file:
                plan = json.load(file)["smallest"]
            sizes.append((plan["captures"], len(plan["faults"])))
        return min(sizes, key=lambda size: (size[1], size[0]), default=None)


def table(options, bugs, scenario, switch):
    """Searches with each bug that the virtual world can show. Returns 1 if a search without any bug finds something, or if a bug is
    not found within its budget; with a number of seeds of one's own there are no budgets."""
    bugs = [bug for bug in bugs if bug.world == "virtual"]
    known = budgets()
    if not options.search:
        missing = sorted({bug.name for bug in bugs} - known.keys())
        if missing:
            print("mutants.py: not in %s: %s" % (os.path.basename(BUDGETS), ", ".join(missing)))
            return 1
    for copy in {bug.copy.number: bug.copy for bug in bugs}.values():
        healthy = play(copy.binary, scenario, options.search or 1_000, switch, 0, options.limit * 10)
        if healthy.found or healthy.code != 0:
            print("mutants.py: with no bug on, copy %d fails %s" % (copy.number, healthy.text))
            return 1

    def seeds(bug):
        return options.search or known[bug.name].seeds

    found, failed = 0, []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        searches = pool.map(
            lambda bug: play(bug.copy.binary, scenario, seeds(bug), switch, bug.number, options.limit * 10)
            if seeds(bug) else None, bugs)
        for bug, search in zip(bugs, searches):
            found += bool(search and search.found)
            keeps = options.search or not search or search.keeps(known[bug.name])
            if not keeps:
                failed.append(bug.name)
            told = search.text if search else "not searched: " + known[bug.name].reason
            print("%-8s %-36s %s%s" % (bug.side, bug.name, told, "" if keeps else "  NOT WITHIN ITS BUDGET"))
            sys.stdout.flush()
    print("%d of %d found" % (found, len(bugs)) + (", not within their budgets: " + ", ".join(failed) if failed else ""))
    return 1 if failed else 0
