"""In how many seeds of a search each planted bug is found: what `simulate --seeds --faults swarm` can do."""

import collections
import concurrent.futures
import os
import subprocess
import sys

SCENARIO = "flaky-network"


class Search:
    """The seeds in which a bug was found, and by what."""

    def __init__(self, seeds, code, lines):
        self.seeds = seeds
        self.code = code
        self.kinds = collections.Counter()
        self.found = []
        self.last = 0
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
        return "in %d of %d, first in seed %d: %s%s" % (len(self.found), self.last, self.found[0], kinds, crash)


def play(binary, scenario, seeds, switch, bug, limit):
    words = [binary, "simulate", scenario, "--faults", "swarm", "--seeds", "1..%d" % seeds, "--worker", "0/1"]
    try:
        done = subprocess.run(
            words, env={**os.environ, switch: str(bug)}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, errors="replace", timeout=limit)
        return Search(seeds, done.returncode, done.stdout.splitlines())
    except subprocess.TimeoutExpired as late:
        text = (late.stdout or b"").decode("utf-8", "replace")
        return Search(seeds, "%.0f s" % limit, text.splitlines()[:-1])


def table(options, bugs, scenario, switch):
    """Searches with each bug that the virtual world can show. Returns 1 if a search without any bug finds something."""
    bugs = [bug for bug in bugs if bug.world == "virtual"]
    for copy in {bug.copy.number: bug.copy for bug in bugs}.values():
        healthy = play(copy.binary, scenario, options.search, switch, 0, options.limit * 10)
        if healthy.found or healthy.code != 0:
            print("mutants.py: with no bug on, copy %d fails %s" % (copy.number, healthy.text))
            return 1
    count = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        searches = pool.map(
            lambda bug: play(bug.copy.binary, scenario, options.search, switch, bug.number, options.limit * 10), bugs)
        for bug, search in zip(bugs, searches):
            count += bool(search.found)
            print("%-8s %-36s %s" % (bug.side, bug.name, search.text))
            sys.stdout.flush()
    print("%d of %d found within %d seeds" % (count, len(bugs), options.search))
    return 0
