#!/usr/bin/env python3
"""What the export of spans (`--otlp`) costs a live load, beside the same load without it.

User instructions of a journey, counted by callgrind as in Benchmarks/work.py: of the threads with the sockets of the phones, of
the main thread, and of the thread that exports. Then a minute of 400 phones in a closed loop as fast as one processor allows,
whose exporter has another one with the server and a collector: journeys and spans a second, and what became of the spans, with a
collector that takes all and with one that does not answer. Every span is exported or counted as dropped.

    Benchmarks/spans.py [--binary PROGRAM] [--seconds S]

Prints JSON.
"""

import argparse
import http.server
import json
import pathlib
import subprocess
import tempfile
import threading

import live
import work
from common import BINARY, ended

CLOSED = live.Load("closed400", 400)


class Collector(http.server.BaseHTTPRequestHandler):
    """Counts the spans of OTLP over HTTP and JSON."""

    protocol_version = "HTTP/1.1"
    spans = 0
    answers = threading.Event()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answers.wait()
        if self.path.endswith("/traces"):
            Collector.spans += body.count(b'"spanId"')
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def journey(folder):
    """Instructions of one journey by thread."""
    def threads(load):
        counts, profiles = work.threads_of("ours", load, folder / load.name)
        # The linker gives code that threads share the name of one of them: only a function of its own says which it is.
        export = sum(one.instructions for one in profiles[1:] if any("OTLPWriter" in name for name in one.functions))
        main = profiles[0].instructions
        return counts | {"main": main, "export": export,
                         "load": sum(one.instructions for one in profiles) - main - export}

    folder.mkdir()
    many, few = threads(work.MANY), threads(work.FEW)
    return {name: round(work.rise(many, few, name, "journeys")) for name in ("load", "main", "export")}


def minute(seconds, folder):
    folder.mkdir()
    server = live.Server(CLOSED, folder)
    Collector.spans = 0
    try:
        client = live.Ours(CLOSED, server, seconds, folder)
        ended(client.process, (0, 98), client.output.read_text)
    finally:
        counts = server.end()
    summary = json.loads((client.folder / "summary.json").read_text())
    figures = {"journeysASecond": round(counts["journeys"] / seconds, 1)}
    if otlp := summary.get("otlp"):
        figures |= {"spansASecond": round((otlp["spans"] + otlp["dropped"]) / seconds), "exported": otlp["spans"],
                    "dropped": otlp["dropped"], "received": Collector.spans}
        live.check("ours", CLOSED, figures, Collector.spans == otlp["spans"])
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, default=BINARY, help="another build of swiftwing-sim")
    parser.add_argument("--seconds", type=int, default=60, help="length of the closed loop (default: 60)")
    options = parser.parse_args()
    live.build()
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    collector.daemon_threads = True
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    export = ("--otlp", f"http://127.0.0.1:{collector.server_port}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        figures = {"minute": {}, "journey": {}}
        live.Ours.binary = options.binary.resolve()
        Collector.answers.set()
        for case, words in [("without", ()), ("with", export)]:
            live.Ours.options = words
            figures["minute"][case] = minute(options.seconds, folder / case)
        Collector.answers.clear()
        figures["minute"]["no answer"] = minute(options.seconds, folder / "no-answer")
        Collector.answers.set()
        stripped = folder / "swiftwing-sim"
        # callgrind cannot read the debug sections of a large Swift program.
        subprocess.run(["strip", "-S", live.Ours.binary, "-o", stripped], check=True)
        live.Ours.binary = stripped
        for case, words in [("without", ()), ("with", export)]:
            live.Ours.options = words
            figures["journey"][case] = journey(folder / f"journey-{case}")
    print(json.dumps({"benchmark": "spans", **figures}, indent=2))


if __name__ == "__main__":
    main()
