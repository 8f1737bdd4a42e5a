"""Drives workers of swiftwing-sim with a Locust master.

    SWIFTWING_SCENARIO=Scenarios/flaky-network.scenario locust -f Distributed/locustfile.py --master --headless \
        --expect-workers 2 -u 200 -r 20 -t 5m --host http://127.0.0.1:8080
    swiftwing-sim worker --master 127.0.0.1:5557        (on each machine, as often as wanted)

Only the master reads this file. The users of a class are the phones of the scenario's group with its name. The manual is in
Docs/manual/locust.md. Environment:

    SWIFTWING_SIM        the program (default: swiftwing-sim)
    SWIFTWING_SCENARIO   the scenario, a name or a file
    SWIFTWING_OUTPUT     the folder of the merged report (default: a new one in Reports)
    SWIFTWING_BASELINE   the folder of an earlier run to compare the merged run with, as with --baseline
    SWIFTWING_REPORT_SECONDS
                         the time that workers have for their reports, beyond the drain of the scenario (default: 60)
    SWIFTWING_SAME_DEVICES
                         the `device_salt` of an earlier run whose device ids the phones have (default: new ids for each test)
"""

import contextlib
import json
import logging
import os
import secrets
import sys
import time
import uuid
import zlib

import gevent
from gevent import subprocess
from locust import User, events, task
from locust.runners import MasterRunner

logger = logging.getLogger("swiftwing")

# The exit code of a measurement that cannot be trusted (Docs/design.md section 4).
UNTRUSTWORTHY = 98
# A fleet has no more phones than this.
PHONES_MAX = 1_000_000
# The time that workers have for their reports, beyond the drain of the scenario.
REPORT_SECONDS_DEFAULT = 60
REPORT_SECONDS_MAX = 86_400
# Heartbeats come every second. A worker that has sent none for so long at the end of a test is not waited for.
GONE_SECONDS = 5
# One that judges its run and writes its reports sends none meanwhile.
SILENCE_SECONDS = 30
# What a worker hands over; other names are not written.
EVIDENCE = ("run.json", "scenario.resolved", "summary.json", "series.ndjson", "latency.hlog", "scans.ndjson")
EVIDENCE_BYTES_MAX = 256 << 20


def program():
    return os.environ.get("SWIFTWING_SIM", "swiftwing-sim")


def read_plan():
    """The scenario, as `swiftwing-sim plan --json` prints it."""
    scenario = os.environ.get("SWIFTWING_SCENARIO")
    if not scenario:
        sys.exit("swiftwing: set SWIFTWING_SCENARIO to the name or the file of a scenario")
    try:
        done = subprocess.run([program(), "plan", scenario, "--json"], stdout=subprocess.PIPE)
    except OSError as error:
        sys.exit(f"swiftwing: cannot start {program()}: {error}; set SWIFTWING_SIM to the program")
    if done.returncode != 0:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def read_report_seconds():
    text = os.environ.get("SWIFTWING_REPORT_SECONDS") or str(REPORT_SECONDS_DEFAULT)
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 1 <= seconds <= REPORT_SECONDS_MAX:
        sys.exit(f"swiftwing: SWIFTWING_REPORT_SECONDS is a number of seconds from 1 to {REPORT_SECONDS_MAX}, not '{text}'")
    return seconds


def command():
    """The words that make such a test again, for the report."""
    return ["env", f"SWIFTWING_SCENARIO={os.environ['SWIFTWING_SCENARIO']}", "locust", *sys.argv[1:]]


def read_salt():
    """The salt that was given, as 16 hexadecimal digits; nothing for a new one."""
    text = os.environ.get("SWIFTWING_SAME_DEVICES", "")
    try:
        return f"{int(text, 16):016x}"[-16:] if text else ""
    except ValueError:
        sys.exit(f"swiftwing: SWIFTWING_SAME_DEVICES is the device_salt of a run.json, not '{text}'")


REPORT_SECONDS = read_report_seconds()
SALT_GIVEN = read_salt()
PLAN = read_plan()


def user_class(group):
    def journey(self):
        raise RuntimeError("phones run in `swiftwing-sim worker --master HOST:PORT`, not in Locust's own workers")

    members = {"weight": group["devices"], "journey": task(journey), "__doc__": f"Phones of the group {group['name']}."}
    return type(group["name"], (User,), members)


for _group in PLAN["groups"]:
    globals()[_group["name"]] = user_class(_group)


class Numbers:
    """The numbers of the phones of one group. Locust sends counts; which phone a worker runs is decided here."""

    def __init__(self, first, count):
        self.next = first
        self.end = first + count
        # Those that were returned, with their last scans. Fresh ones come first: they have no past.
        self.returned = []

    def lease(self, count):
        phones = []
        while len(phones) < count and self.next < self.end:
            phones.append([self.next, 0])
            self.next += 1
        while len(phones) < count and self.returned:
            phones.append(self.returned.pop(0))
        return phones


class Worker:
    """What a worker has of a test."""

    def __init__(self):
        # Every phone that it was ever given: all of them are lost with its evidence.
        self.phones = set()
        self.running = {}
        self.files = {}
        self.bytes = 0
        self.complete = None
        # Says of one that was waited for in vain how long that was.
        self.lateness = ""
        # That of Locust, once the worker has begun again; None until then.
        self.index = None

    def take(self, part):
        name = part["file"]
        if name not in EVIDENCE:
            return
        content = self.files.setdefault(name, bytearray())
        # A piece that comes twice, as evidence that is handed over again, is there already.
        if part["offset"] != len(content):
            return
        piece = zlib.decompress(part["bytes"])
        self.bytes += len(piece)
        if self.bytes <= EVIDENCE_BYTES_MAX:
            content.extend(piece)

    @property
    def has_evidence(self):
        sizes = (self.complete or {}).get("files") or {}
        return set(sizes) == set(EVIDENCE) and all(len(self.files.get(name, b"")) == size for name, size in sizes.items())


class Test:
    """One test, from start to stop."""

    def __init__(self, users):
        self.id = time.strftime("%Y%m%d-%H%M%S") + "-" + uuid.uuid4().hex[:6]
        self.started = int(time.time() * 1000)
        self.salt = SALT_GIVEN or secrets.token_hex(8)
        self.workers = {}
        # Users of each group that got no phone.
        self.denied = {}
        weights = sum(group["devices"] for group in PLAN["groups"])
        self.sizes = {}
        self.numbers = {}
        first = 0
        for group in PLAN["groups"]:
            # A stopped phone's number comes back late and a dead worker's never, so there are more numbers than users.
            expected = -(-users * group["devices"] // weights)
            size = max(1, min(2 * expected + 20, PHONES_MAX * group["devices"] // weights))
            self.sizes[group["name"]] = size
            self.numbers[group["name"]] = Numbers(first, size)
            first += size

    def begin(self):
        return {
            "test": self.id,
            "started_ms": self.started,
            "device_salt": self.salt,
            "new_devices": not SALT_GIVEN,
            "groups": self.sizes,
            "command": command(),
        }

    def worker(self, client_id):
        return self.workers.setdefault(client_id, Worker())

    def lease(self, client_id, counts):
        """The answer to what a worker lacks (`LeasedPhones.ask`)."""
        worker = self.worker(client_id)
        leased = {}
        for name, count in counts.items():
            phones = self.numbers[name].lease(count) if name in self.numbers else []
            leased[name] = phones
            for phone in phones:
                worker.phones.add(phone[0])
                worker.running[phone[0]] = name
            if len(phones) < count:
                self.denied[name] = self.denied.get(name, 0) + count - len(phones)
                logger.error("no phone numbers are left in %s: start the test with more users", name)
        return leased

    def begin_again(self, client_id, index):
        """A worker that lost its master and found it again runs other phones in another run. The first one is not handed over."""
        worker = self.workers.get(client_id)
        if worker is None or not worker.phones:
            return
        worker.index = index
        del self.workers[client_id]
        self.workers[f"{client_id}, run {len(self.workers)}"] = worker

    def take_back(self, client_id, phones):
        worker = self.worker(client_id)
        for number, scan in phones:
            name = worker.running.pop(number, None)
            if name is not None:
                self.numbers[name].returned.append([number, scan])


def ranges(numbers):
    """`0-4, 7`."""
    parts, run = [], []
    for number in sorted(numbers):
        if run and number == run[-1] + 1:
            run.append(number)
            continue
        if run:
            parts.append(run)
        run = [number]
    if run:
        parts.append(run)
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


class Coordinator:
    """What the master does beside Locust: one test after another."""

    def __init__(self, environment):
        self.environment = environment
        self.runner = environment.runner
        self.test = None
        self.heartbeats = {}
        for name, handler in (
            ("swiftwing.hello", self.on_hello),
            ("swiftwing.lease", self.on_lease),
            ("swiftwing.returned", self.on_returned),
            ("swiftwing.evidence", self.on_evidence),
            ("swiftwing.evidence_complete", self.on_evidence_complete),
        ):
            self.runner.register_message(name, handler)
        environment.events.test_start.add_listener(self.on_test_start)
        environment.events.test_stopping.add_listener(self.on_test_stopping)
        environment.events.worker_connect.add_listener(self.on_worker_connect)
        environment.events.heartbeat_sent.add_listener(self.on_heartbeat)

    # Messages of the workers.

    def on_hello(self, environment, msg, **_):
        # What another version finds cannot be merged at the end.
        if (tool := msg.data.get("tool")) != PLAN["tool"]:
            reason = f"it is {tool or 'of an unknown version'}, and the master merges with {PLAN['tool']}"
            logger.error("refused worker %s: %s", msg.node_id, reason)
            self.runner.send_message("swiftwing.refused", {"reason": reason}, client_id=msg.node_id)
            return
        offer = {"name": PLAN["name"], "text": PLAN["resolved"], "tool": PLAN["tool"]}
        self.runner.send_message("swiftwing.scenario", offer, client_id=msg.node_id)

    def on_lease(self, environment, msg, **_):
        test = self.current(msg)
        phones = test.lease(msg.node_id, msg.data["groups"]) if test else {}
        answer = {"test": msg.data["test"], "phones": phones}
        self.runner.send_message("swiftwing.leased", answer, client_id=msg.node_id)

    def on_returned(self, environment, msg, **_):
        if test := self.current(msg):
            test.take_back(msg.node_id, msg.data["phones"])

    def on_evidence(self, environment, msg, **_):
        if test := self.current(msg):
            test.worker(msg.node_id).take(msg.data)

    def on_evidence_complete(self, environment, msg, **_):
        if test := self.current(msg):
            test.worker(msg.node_id).complete = msg.data

    def current(self, msg):
        return self.test if self.test and msg.data.get("test") == self.test.id else None

    # Events of Locust.

    def on_test_start(self, environment, **_):
        self.test = Test(self.runner.target_user_count)
        # Until there is a verdict, and where none can be made.
        environment.process_exit_code = UNTRUSTWORTHY
        logger.info("test %s: %s, seed %s", self.test.id, PLAN["name"], PLAN["seed"])
        self.runner.send_message("swiftwing.begin", self.test.begin())

    def on_heartbeat(self, client_id, **_):
        # This event is fired when the master answers a heartbeat of a worker.
        self.heartbeats[client_id] = time.monotonic()

    def on_worker_connect(self, client_id, **_):
        # One that joins while a test is on gets its users next.
        if self.test:
            self.test.begin_again(client_id, self.runner.get_worker_index(client_id))
            self.runner.send_message("swiftwing.begin", self.test.begin(), client_id=client_id)

    def on_test_stopping(self, environment, **_):
        """Without this the master of a headless run would have the workers quit before their scans are settled."""
        test = self.test
        if test is None:
            return
        gone = {name for name in test.workers if self.silence(name) > GONE_SECONDS}
        self.runner.send_message("swiftwing.finish", {"test": test.id})
        seconds = PLAN["drain_ms"] / 1000 + REPORT_SECONDS
        deadline = time.monotonic() + seconds
        while (late := self.awaited(test, gone)) and time.monotonic() < deadline:
            gevent.sleep(0.1)
        for name in late:
            test.workers[name].lateness = f", whose report did not come within {seconds:g} s"
        if late:
            logger.error("%d reports did not come within %g s: set SWIFTWING_REPORT_SECONDS to more", len(late), seconds)
        self.test = None
        environment.process_exit_code = self.judge(test)
        # The files of --csv have the last reports of the workers only after their next turn.
        gevent.sleep(1.2 if environment.parsed_options and environment.parsed_options.csv_prefix else 0)

    def silence(self, name):
        """The seconds since a worker was heard of."""
        return time.monotonic() - self.heartbeats.get(name, 0)

    def awaited(self, test, gone):
        """Workers whose evidence may still come."""
        return [
            name
            for name, worker in test.workers.items()
            if worker.complete is None and name not in gone and self.silence(name) < SILENCE_SECONDS
        ]

    # The verdict.

    def judge(self, test):
        """Merges the evidence and prints the verdict. Returns the exit code."""
        output = os.environ.get("SWIFTWING_OUTPUT") or os.path.join("Reports", f"{test.id}-locust")
        folders = []
        missing = [f"{count} users of {name}, for whom there were no phones" for name, count in test.denied.items()]
        for name, worker in sorted(test.workers.items()):
            if not worker.phones:
                continue
            index = worker.index if worker.index is not None else self.runner.get_worker_index(name)
            if worker.index is not None or not worker.has_evidence:
                # A report names no host.
                missing.append(f"worker {index}: phones {ranges(worker.phones)}{worker.lateness}")
                logger.error("no evidence of worker %s", name)
                continue
            folder = os.path.join(output, "workers", str(index))
            os.makedirs(folder, exist_ok=True)
            # Of an earlier test in the same folder.
            for file in EVIDENCE:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(os.path.join(folder, file))
            for file in worker.complete["files"]:
                with open(os.path.join(folder, file), "wb") as stream:
                    stream.write(worker.files[file])
            folders.append(folder)
        if not folders:
            logger.error("there is no verdict, because there is no evidence: %s", "; ".join(missing) or "no phones ran")
            return UNTRUSTWORTHY
        words = [program(), "report", *folders, "--output", output]
        for text in missing:
            words += ["--missing", text]
        if os.environ.get("SWIFTWING_BASELINE"):
            words += ["--baseline", os.environ["SWIFTWING_BASELINE"]]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(done.stdout.decode("utf-8", "replace"), flush=True)
        logger.info("merged report of %d workers: %s", len(folders), output)
        return done.returncode


@events.init.add_listener
def on_init(environment, **_):
    if not isinstance(environment.runner, MasterRunner):
        logger.error("swiftwing: start Locust with --master, and the phones with `swiftwing-sim worker --master HOST:PORT`")
        sys.exit(64)
    Coordinator(environment)
