#!/usr/bin/env python3
"""Follows jobs of every dialect with published clients of event streams, and prints Docs/clients.md.

Each run uploads a photo, follows the stream of the job with one client (`drivers`), fetches the results and deletes the job. What
the server sent is read from its recording (`serve --record`), and from that of a second stream of the same job. Every cell of
the tables is computed from runs.

  clients.py > Docs/clients.md
  clients.py --client curl --dialect bendv3 --check Docs/clients.md     compares what some runs show with the page
"""

import argparse
import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import page
import runs
from table import CLIENTS, DIALECTS


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", default=os.path.join(runs.ROOT, ".build/release/swiftwing-sim"))
    parser.add_argument("--client", action="append", choices=[client.name for client in CLIENTS])
    parser.add_argument("--dialect", action="append", choices=DIALECTS)
    parser.add_argument("--jobs", type=int, default=6, help="runs at once (default: 6)")
    parser.add_argument("--check", help="compare the cells of the tables with those of this page, without the section on the format")
    parser.add_argument("--json", help="write what was seen to a file")
    options = parser.parse_args()
    clients = [client for client in CLIENTS if client.name in (options.client or [client.name])]
    dialects = options.dialect or DIALECTS
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        seen = runs.Seen()
        for dialect in dialects:
            seen.add(runs.against(options.binary, dialect, clients, pool))
        forms = {} if options.check else runs.forms(options.binary, clients, pool)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(seen.plain() | {"forms": forms}, file, indent=1)
    written = page.Page(clients, dialects, seen, forms)
    if options.check:
        sys.exit(check(written, options.check))
    sys.stdout.write(written.text())


def check(written, path):
    with open(path) as file:
        expected = page.cells(file.read())
    found = written.cells()
    wrong = [(key, cell) for key, cell in found.items() if expected.get(key) != cell]
    for (section, client, column), cell in wrong:
        told = expected.get((section, client, column))
        print("%s, %s, %s: the page says '%s', the run shows '%s'" % (section, client, column, told, cell), file=sys.stderr)
    print("%d cells, %d other than in %s" % (len(found), len(wrong), path))
    return 1 if wrong else 0


if __name__ == "__main__":
    main()
