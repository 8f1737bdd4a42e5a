#!/usr/bin/env python3
"""What the export of spans (`--otlp`) costs a live load, beside the same load without it.

Two loads of 400 phones, each for a minute, without `--otlp`, with a collector that takes all, and with one that does not answer:

    journeys   those of Benchmarks/live.py, of about five spans, in a closed loop as fast as one processor allows
    lookups    of single books, which are a request and two spans each, 5,200 a second by Poisson on one processor

All threads of the program have one processor, the exporter's too; the server has another, and the collector is on any. The figures
are journeys and spans a second, and what became of the spans. Every span is exported or counted as dropped, and what was exported is
what the collector received. Of a look-up it is known that it is two spans, so that the server's count says how many there are.

Then user instructions of a journey and of a look-up, counted by callgrind as in Benchmarks/work.py: of the threads with the
sockets of the phones, of the main thread, and of the thread that exports.

    Benchmarks/spans.py [--binary PROGRAM] [--seconds S] [--only LOAD,...]

Prints JSON.
"""

import argparse
import contextlib
import dataclasses
import http.server
import itertools
import json
import pathlib
import subprocess
import tempfile
import threading
import typing

import live
import work
from common import BINARY, ended

CLOSED = live.Load("closed400", 400)
LOOKUPS = live.Load("lookups", 400, rate=5_200, is_lookup=True)
# The root, and the request.
SPANS_OF_LOOKUP = 2


class Collector(http.server.BaseHTTPRequestHandler):
    """Counts the spans of OTLP over HTTP and JSON."""

    protocol_version = "HTTP/1.1"
    spans = 0
    answers = threading.Event()
    counting = threading.Lock()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answers.wait()
        if self.path.endswith("/traces"):
            with self.counting:
                Collector.spans += body.count(b'"spanId"')
        # A run whose spans were not taken has given up.
        with contextlib.suppress(ConnectionError):
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def instructions(measured, folder):
    """Of one journey by thread."""
    def threads(load):
        counts, profiles = work.threads_of("ours", load, folder / load.name)
        # The linker gives code that threads share the name of one of them: only a function of its own says which it is.
        export = sum(one.instructions for one in profiles[1:] if any("OTLPWriter" in name for name in one.functions))
        main = profiles[0].instructions
        return counts | {"main": main, "export": export,
                         "load": sum(one.instructions for one in profiles) - main - export}

    folder.mkdir()
    many, few = threads(measured.many), threads(measured.few)
    return {thread: round(work.rise(many, few, thread, "journeys")) for thread in ("load", "main", "export")}


def journeys(seconds, folder):
    """A closed loop, all of it."""
    server = live.Server(CLOSED, folder)
    Collector.spans = 0
    try:
        client = live.Ours(CLOSED, server, seconds, folder)
        ended(client.process, (0, 98), client.output.read_text)
    finally:
        counts = server.end()
    figures = {"journeysASecond": round(counts["journeys"] / seconds, 1)}
    if otlp := exported(client.folder):
        figures |= {"spansASecond": round((otlp["exported"] + otlp["dropped"]) / seconds)} | otlp
        live.check("ours", CLOSED, figures, otlp["received"] == otlp["exported"])
    return figures


def lookups(seconds, folder):
    """An open load, of which a second is one of a window inside of it; the spans are those of all of it."""
    Collector.spans = 0
    figures = live.measured("ours", LOOKUPS, seconds, folder)
    if otlp := exported(folder / "ours"):
        figures |= {"spansASecond": round(figures["journeysASecond"] * SPANS_OF_LOOKUP)} | otlp
        live.check("ours", LOOKUPS, figures, otlp["received"] == otlp["exported"]
                   and otlp["exported"] + otlp["dropped"] == figures["journeys"] * SPANS_OF_LOOKUP)
    return figures


def exported(folder):
    """What became of the spans of a run; nothing without `--otlp`."""
    otlp = json.loads((folder / "summary.json").read_text()).get("otlp")
    return otlp and {"exported": otlp["spans"], "dropped": otlp["dropped"], "received": Collector.spans}


@dataclasses.dataclass
class Measured:
    # The names of its figures.
    minute: str
    journey: str
    measure: typing.Callable
    # Loads whose instructions are counted: the difference is that of journeys.
    many: live.Load
    few: live.Load


MEASURED = {
    "journeys": Measured("minute", "journey", journeys, work.MANY, work.FEW),
    "lookups": Measured(
        "minuteOfLookups", "lookup", lookups, live.Load("many", 50, rate=200, is_lookup=True),
        live.Load("few", 50, rate=20, is_lookup=True)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, default=BINARY, help="another build of swiftwing-sim")
    parser.add_argument("--seconds", type=int, default=60, help="length of each load (default: 60)")
    parser.add_argument("--only", default=",".join(MEASURED), help="loads, separated by commas")
    options = parser.parse_args()
    names = options.only.split(",")
    if unknown := set(names) - set(MEASURED):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; loads are {', '.join(MEASURED)}")
    wanted = [MEASURED[name] for name in names]
    live.build()
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    collector.daemon_threads = True
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    export = ("--otlp", f"http://127.0.0.1:{collector.server_port}")
    cases = {"without": (), "with": export}
    figures = {}
    with tempfile.TemporaryDirectory() as path:
        live.Ours.binary = options.binary.resolve()
        for load, case in itertools.product(wanted, [*cases, "no answer"]):
            live.Ours.options = cases.get(case, export)
            (Collector.answers.clear if case == "no answer" else Collector.answers.set)()
            folder = pathlib.Path(path) / f"{load.minute}-{case}"
            folder.mkdir()
            figures.setdefault(load.minute, {})[case] = load.measure(options.seconds, folder)
        Collector.answers.set()
        stripped = pathlib.Path(path) / "swiftwing-sim"
        # callgrind cannot read the debug sections of a large Swift program.
        subprocess.run(["strip", "-S", live.Ours.binary, "-o", stripped], check=True)
        live.Ours.binary = stripped
        for load, case in itertools.product(wanted, cases):
            live.Ours.options = cases[case]
            folder = pathlib.Path(path) / f"{load.journey}-{case}"
            figures.setdefault(load.journey, {})[case] = instructions(load, folder)
    print(json.dumps({"benchmark": "spans", **figures}, indent=2))


if __name__ == "__main__":
    main()
