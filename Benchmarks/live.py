#!/usr/bin/env python3
"""The live fleet beside other clients: the same journeys against the same server, in one run, by turns.

The journey is an upload of a photo of 233 KB, a stream of six events 20 ms apart that ends without books, the results, and
the cleanup. The server is Benchmarks/reference/server.c. The clients are

    ours      swiftwing-sim run --target
    c         Benchmarks/reference/client.c, on the same libcurl
    locust    Benchmarks/reference/locustfile.py, FastHttpUser
    k6        Benchmarks/reference/k6.js: its streams are read at their end, and it writes no line for a job

Each client has one processor, the server another. Loads:

    closed100 .. closed4000   so many phones, each beginning again at once
    open500                   500 journeys a second, Poisson, whether or not the earlier ones are over
    half                      the same at half of the journeys a second that ours reaches with 400 phones
    events                    400 streams of 2,000 events 10 ms apart
    idle                      19,500 phones, or as many as the descriptors allow, each with an open stream without events
    one                       one phone with an open stream, whose memory is subtracted from that of the others
    threads1, threads2        400 journeys a second of ours with one thread and with two, on all processors

    Benchmarks/live.py [--rounds N] [--seconds S] [--only LOAD,...] [--programs ours,c,locust,k6]
                       [--binary PROGRAM]

Processor time a journey is that of the client's process in a window without the beginning and the end of the run, divided
by the journeys that the server counted in the same window; `wholeCpuMs` is that of the whole process by all its journeys.
The error of a latency is what the client says of a job, from its scheduled moment to its results, minus what the server saw
of the same job, from the first byte of the upload to the results written. Every program has to count what the server counted,
without an error. Prints JSON: medians of the rounds, the figures, each the median of those of the rounds, and every round.

A time counts only if other processes, and other machines on the same host (steal), took less than 2 % of the processors in its
window: the same two programs differ by half otherwise. Where no round was quiet, a figure is null: not measured.
"""

import argparse
import dataclasses
import json
import mmap
import os
import pathlib
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from common import BINARY, ROOT, Others, ended, listening, on, percentiles, processor_seconds, processors

REFERENCE = ROOT / "Benchmarks/reference"
BUILT = ROOT / ".build/bench"
INSTALLED = {name: BUILT / "venv/bin" / name for name in ("locust", "k6")}
# Prepared for upload, it has 233 KB.
PHOTO = "shelves/shelf-3-landscape-dark.jpg"
CLIENT_CORE, SERVER_CORE = 0, 1
WARMUP_SECONDS = 3
START_SECONDS_MAX = 120
# The scenario must name a bound of its scans; no client here reaches it.
JOURNEYS_A_SECOND_MAX = 10_000
COUNTS = ("start", "uploads", "streams", "events", "results", "journeys", "errors", "connections", "streams_open",
          "unknown_jobs")

# Of all processors, in a window whose times count.
FOREIGN_MAX = 0.02


@dataclasses.dataclass
class Load:
    name: str
    phones: int
    programs: tuple = ("ours", "c")
    rate: float = 0
    events: int = 6
    gap_ms: int = 20
    # Phones of a closed load that begin in a second.
    ramp: int = 2_000
    is_idle: bool = False
    # Whether a journey is the look-up of a single book: one request, without a photo or a job.
    is_lookup: bool = False
    # How long phones begin journeys; None: for the warm-up, the window and a second more.
    begins: float = None
    # The window opens when so many streams are open.
    streams: int = 0
    threads: int = 1
    # Whether the client has all processors, that of the server included.
    is_spread: bool = False

    @property
    def cores(self):
        return range(processors()) if self.is_spread else [CLIENT_CORE]


ALL = ("ours", "c", "locust", "k6")


def loads(half_rate):
    """`half_rate`: journeys a second of the load `half`."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    # Above 80 % of the descriptors ours closes connections that are not needed: what is left is enough for 19,500.
    idle = min(19_500, int(hard * 0.975))
    return [
        Load("closed100", 100, ALL),
        Load("closed400", 400, ALL),
        Load("closed2000", 2_000),
        Load("closed4000", 4_000),
        Load("open500", 400, ALL, rate=500),
        Load("half", 400, ALL, rate=half_rate),
        Load("threads1", 400, ("ours",), rate=400, threads=1, is_spread=True),
        Load("threads2", 400, ("ours",), rate=400, threads=2, is_spread=True),
        Load("events", 400, events=2_000, gap_ms=10, begins=1, streams=400),
        Load("one", 1, events=0, is_idle=True, streams=1),
        # Slowly, so that memory of uploads at the same time is not counted.
        Load("idle", idle, events=0, is_idle=True, streams=idle, ramp=500),
    ]


class Server:
    """The reference server, its counters, and what it knows of each job."""

    def __init__(self, load, folder):
        counts, self.jobs_path = folder / "counts", folder / "server.tsv"
        words = ["--gap-us", str(load.gap_ms * 1000), "--events", str(load.events), "--ping-ms", "10000"]
        self.process, self.url = listening(
            [BUILT / "server", *words, "--counts", counts, "--jobs", self.jobs_path], SERVER_CORE)
        with counts.open("rb") as file:
            self.memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)

    @property
    def port(self):
        return self.url.rsplit(":", 1)[1]

    def counts(self):
        return dict(zip(COUNTS, struct.unpack(f"{len(COUNTS)}Q", self.memory[:8 * len(COUNTS)])))

    def end(self):
        self.process.terminate()
        ended(self.process)
        return self.counts()

    def jobs(self):
        """Of each job, when its first byte came and when its results were written, in ns of CLOCK_MONOTONIC."""
        with self.jobs_path.open() as lines:
            start = int(next(lines).split()[-1])
            next(lines)
            fields = (line.split("\t") for line in lines)
            return {job[0]: (start + int(job[1]), start + int(job[5])) for job in fields if job[5] != "0"}


class Ours:
    binary = BINARY
    # What the program runs under, such as a profiler.
    under = ()
    # More options.
    options = ()
    spacing = "poisson"

    def __init__(self, load, server, seconds, folder):
        self.folder, self.output = folder / "ours", folder / "ours.txt"
        self.journeys = "scans.completed" if load.is_lookup else "jobs.cleaned"
        scans = 1 if load.is_idle else int(JOURNEYS_A_SECOND_MAX * seconds / load.phones) + 1
        start = max(1, round(load.phones * 1000 / load.ramp))
        model = f"arrivals: {load.rate}/s, spacing: {self.spacing}" if load.rate else f"think: 0s, start: 0ms..{start}ms"
        journey = "journey: book-enrichment" if load.is_lookup else f"photos: [{PHOTO}], preprocess: once"
        scenario = folder / "live.scenario"
        scenario.write_text(
            "scenario: 1\nname: live\ndrain: 60s\ntrial: {judge: off, probes: off, witness: off}\n"
            f"fleet: {{phones: {{phones: {load.phones}, network: perfect, scans: {scans}, {model}, "
            f"{journey}, idle-timeout: 10m}}}}\n")
        duration = [] if load.is_idle else ["--duration", f"{round(seconds * 1000)}ms"]
        # With a processor that has no rest, timers are late, and the run says so by its exit code.
        self.exits = (0,) if load.rate or load.is_idle else (0, 98)
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [*self.under, self.binary, "run", scenario, "--target", server.url, "--threads", str(load.threads), *duration,
                 "--output", self.folder, "--quiet", "--no-color", *self.options],
                cwd=ROOT, stdout=output, preexec_fn=on(*load.cores))

    def counted(self):
        counters = json.loads((self.folder / "summary.json").read_text())["counters"]
        return {
            "journeys": counters[self.journeys], "events": counters["sse.events"],
            "errors": counters["contract.findings"] + counters["scans.captured"] - counters["scans.completed"],
        }

    def latencies(self):
        """Of each job, the milliseconds from the scheduled moment of its scan to its decoded results."""
        scheduled, found = {}, {}
        with (self.folder / "events.ndjson").open() as lines:
            for line in lines:
                if '"what":"captured"' in line:
                    event = json.loads(line)
                    scheduled[event["device"], event["scan"]] = event["scheduled_ns"]
                elif '"what":"results-decoded"' in line:
                    event = json.loads(line)
                    found[event["job"]] = (event["t"] - scheduled[event["device"], event["scan"]]) / 1e6
        return found


class WithJobs:
    """A client that writes its counts as JSON, and a line for each job with its times."""

    exits = (0,)
    under = ()
    spacing = "poisson"

    def counted(self):
        return json.loads(self.output.read_text().splitlines()[-1])

    def latencies(self):
        with self.jobs_path.open() as lines:
            next(lines)
            fields = (line.split("\t") for line in lines)
            return {job[0]: (int(job[3]) - int(job[1])) / 1e6 for job in fields if job[3].strip() != "0"}


class C(WithJobs):
    def __init__(self, load, server, seconds, folder):
        self.output, self.jobs_path = folder / "c.json", folder / "c.tsv"
        words = ["--port", server.port, "--photo", BUILT / "photo.jpg", "--phones", str(load.phones),
                 "--seconds", str(seconds), "--ramp", str(load.ramp), "--jobs", self.jobs_path]
        words += ["--rate", str(load.rate), "--spacing", self.spacing] if load.rate else []
        words += ["--idle", "1"] if load.is_idle else []
        with self.output.open("w") as output:
            self.process = subprocess.Popen([*self.under, BUILT / "client", *words], stdout=output, preexec_fn=on(*load.cores))


class Locust(WithJobs):
    def __init__(self, load, server, seconds, folder):
        self.output, self.jobs_path = folder / "locust.json", folder / "locust.tsv"
        settings = {"PHOTO": BUILT / "photo.jpg", "JOBS": self.jobs_path, "COUNTS": self.output, "RATE": load.rate,
                    "SECONDS": seconds}
        self.process = subprocess.Popen(
            [INSTALLED["locust"], "-f", REFERENCE / "locustfile.py", "--headless", "--only-summary",
             "--host", server.url, "-u", str(load.phones), "-r", str(load.phones), "-t", f"{round(seconds + 60)}s",
             "--stop-timeout", "60"],
            env=os.environ | {name: str(value) for name, value in settings.items()},
            stdout=subprocess.DEVNULL, stderr=(folder / "locust.log").open("w"), preexec_fn=on(*load.cores))


class K6(WithJobs):
    def __init__(self, load, server, seconds, folder):
        self.output = folder / "k6.json"
        settings = {"BASE": server.url, "PHOTO": BUILT / "photo.jpg", "COUNTS": self.output, "PHONES": load.phones,
                    "RATE": load.rate, "SECONDS": round(seconds)}
        self.process = subprocess.Popen(
            [INSTALLED["k6"], "run", "--quiet", "--no-usage-report", REFERENCE / "k6.js"],
            env=os.environ | {name: str(value) for name, value in settings.items()},
            stdout=subprocess.DEVNULL, stderr=(folder / "k6.log").open("w"), preexec_fn=on(*load.cores))

    def latencies(self):
        return {}


PROGRAMS = {"ours": Ours, "c": C, "locust": Locust, "k6": K6}


def resident_bytes(process):
    return int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def await_load(client, server, load, has_begun):
    limit = time.monotonic() + START_SECONDS_MAX
    while not has_begun(server.counts()):
        if client.process.poll() is not None:
            sys.exit(f"{load.name}: {client.process.args[0]} ended with {client.process.returncode} before the load began")
        if time.monotonic() > limit:
            sys.exit(f"{load.name}: {client.process.args[0]} did not begin: {server.counts()}")
        time.sleep(0.01)


class Sample:
    def __init__(self, client, server):
        self.at, self.cpu, self.counts = time.monotonic_ns(), processor_seconds(client.process), server.counts()


def is_quiet(figures):
    return figures.get("foreign", 0) <= FOREIGN_MAX


def measured(program, load, seconds, folder):
    server = Server(load, folder)
    client = None
    try:
        client = PROGRAMS[program](load, server, load.begins or WARMUP_SECONDS + seconds + 1, folder)
        if load.streams:
            await_load(client, server, load, lambda counts: counts["streams_open"] >= load.streams)
        else:
            await_load(client, server, load, lambda counts: counts["uploads"] > 0)
        time.sleep(WARMUP_SECONDS)
        others, first = Others(client.process, server.process), Sample(client, server)
        time.sleep(seconds)
        foreign, last = others.cores() / os.cpu_count(), Sample(client, server)
        figures = {"residentKb": resident_bytes(client.process) // 1024}
        if load.is_idle:
            check(program, load, last.counts, last.counts["streams_open"] == load.phones)
            client.process.kill()
            client.process.wait()
            return figures
        usage = ended(client.process, client.exits, client.output.read_text)
    finally:
        if client and client.process.returncode is None:
            client.process.kill()
            client.process.wait()
        counts = server.end() if server.process.returncode is None else server.counts()
    return figures | counted(program, load, client, counts, usage) | inside(load, first, last) | {
        "foreign": round(foreign, 4)} | latency(
        program, client, server, first.at, last.at)


def check(program, load, said, holds):
    if not holds:
        sys.exit(f"{load.name}: {program} did not do the journeys: {said}")


def counted(program, load, client, counts, usage):
    """The whole process, if client and server have counted the same without an error."""
    own = client.counted()
    agrees = all(own[name] == counts[name] for name in ("journeys", "events"))
    check(program, load, {"client": own, "server": counts}, agrees and own["errors"] == counts["errors"] == 0)
    return {"journeys": own["journeys"], "wholeCpuMs": round((usage.ru_utime + usage.ru_stime) * 1000 / own["journeys"], 4)}


def inside(load, first, last):
    """The window."""
    elapsed, cpu = (last.at - first.at) / 1e9, last.cpu - first.cpu
    journeys, events = (last.counts[name] - first.counts[name] for name in ("journeys", "events"))
    figures = {"busy": round(cpu / elapsed, 3)}
    if load.events > 6:
        return figures | {"eventsASecond": round(events / elapsed), "cpuUsAnEvent": round(cpu * 1e6 / events, 3)}
    return figures | {"journeysASecond": round(journeys / elapsed, 1), "cpuMs": round(cpu * 1000 / journeys, 4)}


def latency(program, client, server, since, until):
    """Milliseconds of the jobs that began and ended inside of the window; nothing where there are few."""
    said, errors = [], []
    seen = server.jobs()
    for job, took in client.latencies().items():
        began, ended_at = seen.get(job, (0, 0))
        if since <= began and ended_at <= until:
            said.append(took)
            errors.append(took - (ended_at - began) / 1e6)
    if len(said) < 100:
        return {}
    return {
        "latencyMs": percentiles(said, 50, 99), "errorMs": percentiles(errors, 50, 99), "matched": len(said)}


def build():
    """The two C programs, and the photo as ours uploads it."""
    BUILT.mkdir(parents=True, exist_ok=True)
    flags = ["-O2", "-Wall", "-Wextra", "-Werror"]
    for name, libraries in {"server": [], "client": ["-lcurl", "-lm"]}.items():
        subprocess.run(["cc", *flags, REFERENCE / f"{name}.c", "-o", BUILT / name, *libraries], check=True)
    subprocess.run(
        [Ours.binary, "preprocess", ROOT / "Images" / PHOTO, BUILT / "photo.jpg"], check=True, stdout=subprocess.DEVNULL)


def median_of(rounds, figure):
    values = [value for value in map(figure, rounds) if value is not None]
    return round(statistics.median(values), 4) if values else None


def medians(runs):
    """Of each figure of several runs; a figure may have parts."""
    names = {name for run in runs for name in run}
    found = {}
    for name in sorted(names):
        values = [run[name] for run in runs if name in run]
        found[name] = medians(values) if isinstance(values[0], dict) else round(statistics.median(values), 4)
    return found


def ratios(rounds, phones):
    """`rounds`: of each, the figures of each load and program."""
    def figure(load, program, *path):
        def of(one):
            value = one.get(load, {}).get(program)
            if value and not is_quiet(value):
                return None
            for name in path:
                value = value and value.get(name)
            return value
        return of

    def share(own, other, combine=lambda a, b: a / b):
        return median_of(rounds, lambda one: None if None in (own(one), other(one)) else combine(own(one), other(one)))

    def minus(a, b):
        return a - b

    def memory(program, load):
        return share(figure(load, program, "residentKb"), figure("one", program, "residentKb"),
                     lambda a, b: (a - b) / phones[load])

    found = {
        "ours.open500/closed400": share(figure("open500", "ours", "cpuMs"), figure("closed400", "ours", "cpuMs")),
        "ours.closed4000/closed400": share(figure("closed4000", "ours", "cpuMs"), figure("closed400", "ours", "cpuMs")),
        "c.closed4000/closed400": share(figure("closed4000", "c", "cpuMs"), figure("closed400", "c", "cpuMs")),
        "events.ours/c": share(figure("events", "ours", "cpuUsAnEvent"), figure("events", "c", "cpuUsAnEvent")),
    }
    for load in ("closed100", "closed400", "closed2000", "closed4000", "open500", "half"):
        for other in ("c", "locust", "k6"):
            found[f"{load}.ours/{other}"] = share(figure(load, "ours", "cpuMs"), figure(load, other, "cpuMs"))
    for load in ("half", "open500"):
        for other in ("c", "locust"):
            found[f"{load}.p99ErrorMs.ours-{other}"] = share(
                figure(load, "ours", "errorMs", "p99"), figure(load, other, "errorMs", "p99"), minus)
    found["ours.threads2/threads1"] = share(figure("threads2", "ours", "cpuMs"), figure("threads1", "ours", "cpuMs"))
    for load in ("idle", "closed4000"):
        for program in ("ours", "c"):
            found[f"{load}.{program}.kbAPhone"] = memory(program, load)
    return found


def half_of_what_ours_reaches(rounds, seconds):
    """Measured once, and the same for every program and round."""
    known = [one["closed400"]["ours"]["journeysASecond"] for one in rounds if "ours" in one.get("closed400", {})]
    if known:
        return round(known[0] / 2)
    with tempfile.TemporaryDirectory() as folder:
        return round(measured("ours", Load("closed400", 400), seconds, pathlib.Path(folder))["journeysASecond"] / 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10, help="of each window (10)")
    parser.add_argument("--only", help="loads, separated by commas")
    parser.add_argument("--programs", default=",".join(ALL), help="separated by commas")
    parser.add_argument("--binary", type=pathlib.Path, default=BINARY, help="another build of swiftwing-sim")
    options = parser.parse_args()
    Ours.binary = options.binary.resolve()
    programs = options.programs.split(",")
    names = [load.name for load in loads(0)]
    wanted = options.only.split(",") if options.only else names
    if unknown := set(wanted) - set(names) | set(programs) - set(ALL):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; loads are {', '.join(names)}")
    for name, path in INSTALLED.items():
        if name in programs and not path.exists():
            parser.error(f"{name} is not installed: run `.ci/packages bench`, or use --programs ours,c")
    build()
    rounds, half_rate = [], None
    for number in range(options.rounds):
        one = {}
        rounds.append(one)
        for name in (name for name in names if name in wanted):
            if name == "half" and half_rate is None:
                half_rate = half_of_what_ours_reaches(rounds, options.seconds)
            load = next(load for load in loads(half_rate or 0) if load.name == name)
            turn = [program for program in load.programs if program in programs]
            # What comes first in one round comes last in the next.
            for program in turn if number % 2 == 0 else reversed(turn):
                with tempfile.TemporaryDirectory() as folder:
                    one.setdefault(name, {})[program] = measured(program, load, options.seconds, pathlib.Path(folder))
                print(f"round {number + 1}: {name} {program} {one[name][program]}", file=sys.stderr)
    phones = {load.name: load.phones for load in loads(0)}
    found = ratios(rounds, phones)
    print(json.dumps({
        "benchmark": "live",
        "processors": "one for the client, another for the server" if processors() > 1 else "client and server share one",
        "rounds": options.rounds,
        "seconds": options.seconds,
        "halfRate": half_rate,
        "phones": phones,
        "loads": {
            name: {program: medians([one[name][program] for one in rounds]) for program in rounds[0][name]}
            for name in rounds[0]
        },
        "figures": found,
        "everyRound": rounds,
    }, indent=2))


if __name__ == "__main__":
    main()
