"""Runs: a server for each dialect, and jobs whose streams the clients follow."""

import collections
import hashlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../.."))
PACKAGES = os.path.join(ROOT, ".build/clients")
PHOTO = os.path.join(ROOT, "Images/shelves/shelf-1-landscape-normal.jpg")

sys.path.insert(0, os.path.join(HERE, "drivers"))
import stream

# The device of the second stream of each job.
WITNESS = "00000000-0000-4000-8000-000000000001"
# Sent by the server whose streams are cut: no client has this wait by default.
RETRY = 2.0
# A job whose books come one after another in its last two seconds.
JOB = ["books=5..5", "job-time=5s", "ping=700ms", "rate-limit=100000 per 1s"]
# A stream is cut with the event that tells how many books there are.
CUT = re.compile("Identified|Enriching [0-9]|Reading")
# After the end of a job. The longest wait of a client that opens its stream again is twice that of `retry:`, or twice 5 s.
WATCHED = 12
TERMINAL = ("completed", "complete", "error", "failed")


# The server


class Server:
    """`swiftwing-sim serve` with a recording, or `proxy`."""

    def __init__(self, binary, arguments, command="serve"):
        self.folder = tempfile.TemporaryDirectory()
        self.record = os.path.join(self.folder.name, "recording.ndjson")
        recording = [] if "--replay" in arguments or command == "proxy" else ["--record", self.record]
        self.process = subprocess.Popen(
            [binary, command, "--quiet", *arguments, *recording], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening "):
            raise SystemExit("clients: the server did not start: " + line)
        self.base = line.removeprefix("listening ").strip()

    @classmethod
    def of(cls, binary, dialect, options, settings=()):
        settings = ["dialect=" + dialect, *JOB, *settings]
        return cls(binary, [*options, *(word for setting in settings for word in ("--set", "server." + setting))])

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)

    def request(self, method, path, headers={}, body=None):
        address = urllib.parse.urlsplit(self.base)
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, data

    def upload(self, device, part):
        """The members of the job: its id, the path of its stream, and its token if the dialect has one."""
        with open(PHOTO, "rb") as file:
            photo = file.read()
        boundary = uuid.uuid4().hex
        head = '--%s\r\nContent-Disposition: form-data; name="%s"; filename="shelf.jpg"\r\nContent-Type: image/jpeg\r\n\r\n'
        body = (head % (boundary, part)).encode() + photo + ("\r\n--%s--\r\n" % boundary).encode()
        status, data = self.request(
            "POST", "/v3/jobs/scans", {"X-Device-ID": device, "Content-Type": "multipart/form-data; boundary=" + boundary}, body)
        if status != 202:
            raise SystemExit("clients: an upload got %d %s" % (status, data.decode()))
        answer = json.loads(data)
        job = answer.get("data", answer)
        address = urllib.parse.urljoin(self.base, job.get("sseUrl") or job["streamUrl"])
        return Job(job["jobId"], address, job.get("authToken") or job.get("token"), device)

    def cut(self, device):
        token = json.loads(self.request("GET", "/_sim", {"Accept": "application/json"})[1])["controlToken"]
        return self.request("POST", "/_sim/faults?do=cut-streams&device=" + device, {"X-Sim-Token": token})


class Job:
    def __init__(self, id, address, token, device):
        self.id, self.address, self.token, self.device = id, address, token, device

    def headers(self, device=None):
        headers = {"X-Device-ID": device or self.device}
        return headers | ({"Authorization": "Bearer " + self.token} if self.token else {})

    def access(self, client):
        """The URL and the headers for a client. `--browser` takes the token from the query of one that sends no headers."""
        if client.has_headers:
            return self.address, self.headers()
        return "%s?%s" % (self.address, urllib.parse.urlencode({"token": self.token or "none", "device": self.device})), {}


# The clients


class Follower:
    """A driver with its client."""

    def __init__(self, client):
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=os.path.join(PACKAGES, client.name),
                           PYTHONWARNINGS="ignore")
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "drivers", client.driver + ".py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=environment, start_new_session=True)
        self.told = []
        self.changed = threading.Condition()
        line = self.process.stdout.readline()
        if '"ready"' not in line:
            raise SystemExit("clients: the driver of %s does not start: is `.ci/packages clients` done?" % client.name)

    def follow(self, address, headers, again):
        order = {"url": address, "headers": headers, "again": again}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            try:
                told = json.loads(line)
            except ValueError:
                # What a client prints itself.
                continue
            with self.changed:
                self.told.append(told)
                self.changed.notify_all()

    def wait(self, condition, seconds):
        with self.changed:
            return self.changed.wait_for(lambda: condition(self.told), seconds)

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            pass
        # A curl of the driver may be left.
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        return self.told


def events(told):
    """Without those that say nothing."""
    return [one for one in told if one["what"] == "event" and one["data"]]


def is_terminal(one):
    return (one["event"] or "").strip() in TERMINAL


def has_ended(told):
    return any(one["what"] in ("end", "failed") for one in told)


class Witness(threading.Thread):
    """The whole stream of a job, from its first event on."""

    def __init__(self, server, job):
        super().__init__(daemon=True)
        headers = job.headers(WITNESS) | {"Accept": "text/event-stream", "Last-Event-ID": "1-progress"}
        words = [word for header in headers.items() for word in ("-H", "%s: %s" % header)]
        self.curl = subprocess.Popen(["curl", "-sN", *words, job.address], stdout=subprocess.DEVNULL)
        self.start()

    def run(self):
        self.curl.wait()


def device(client, *words):
    """The same in every run: the books of a job follow from it."""
    return str(uuid.UUID(bytes=hashlib.sha256(repr((client.name, *words)).encode()).digest()[:16], version=4)).upper()


def part(dialect):
    """The name of the part that is the photo."""
    return "image" if dialect == "wingtip" else "photos[]"


Run = collections.namedtuple("Run", "job told results cleanup")


def follow(server, dialect, client, is_cut):
    """One job: a stream that is read beyond its end, or one that is cut after its first events and opened again."""
    follower = Follower(client)
    try:
        job = server.upload(device(client, dialect, is_cut), part(dialect))
        follower.follow(*job.access(client), again=is_cut)
        if is_cut:
            # The cut is one of all streams of the job.
            follower.wait(lambda told: any(CUT.search(one["data"]) for one in events(told)), 10)
            server.cut(job.device)
        Witness(server, job).join(60)
        if is_cut:
            follower.wait(lambda told: any(is_terminal(one) for one in events(told)), WATCHED)
            time.sleep(1)
        elif client.reopens:
            time.sleep(WATCHED)
        else:
            follower.wait(has_ended, WATCHED)
        results = server.request("GET", "/v3/jobs/scans/%s/results?format=lite" % job.id, job.headers())
        cleanup, _ = server.request("DELETE", "/v3/jobs/scans/%s/cleanup" % job.id, job.headers())
    finally:
        told = follower.end()
    return Run(job, told, results, cleanup)


def refused(server, dialect, client):
    """What a client without headers gets where no token may stand in the URL: the failure that its driver told."""
    follower = Follower(client)
    try:
        job = server.upload(device(client, dialect), part(dialect))
        follower.follow(job.address, {}, again=False)
        follower.wait(lambda told: len(told) > 0, 10)
    finally:
        told = follower.end()
    return told[0] if told else None


# What the server sent


Opened = collections.namedtuple("Opened", "at last status ended how events comments retry")


def recorded(path):
    """The streams in a recording by their jobs: those of the client, and that of the witness."""
    exchanges = {}
    with open(path) as file:
        next(file)
        for line in file:
            line = json.loads(line)
            exchange = exchanges.setdefault(line["exchange"], {"body": b"", "end": "left", "t": 0, "head": None, "ended": 0})
            if "request" in line:
                exchange["request"], exchange["t"] = line["request"], line["t"]
            elif "head" in line:
                exchange["head"] = line["head"]["status"]
            elif "end" in line:
                exchange["end"], exchange["ended"] = line["end"], line["t"]
            else:
                exchange["body"] += bytes.fromhex(line["hex"]) if "hex" in line else line["body"].encode()
    streams = collections.defaultdict(lambda: ([], []))
    for exchange in exchanges.values():
        path = exchange["request"]["path"].split("/")
        if path[-1] != "stream":
            continue
        reader = stream.Reader()
        found = reader.read(exchange["body"]) if exchange["head"] == 200 else []
        isWitness = exchange["request"].get("device") == WITNESS
        streams[path[-2]][isWitness].append(Opened(
            exchange["t"] / 1e9, exchange["request"].get("lastEventID"), exchange["head"], exchange["ended"] / 1e9, exchange["end"],
            found, reader.comments, reader.retry))
    return streams


Outcome = collections.namedtuple("Outcome", "run opened whole")


class Seen:
    """Outcomes by dialect, client and kind of run."""

    def __init__(self):
        self.outcomes = {}
        self.refused = {}

    def add(self, other):
        outcomes, refused = other
        self.outcomes |= outcomes
        self.refused |= refused

    def plain(self):
        return {
            "outcomes": [[*key, outcome.run.told, outcome.run.cleanup, [one._asdict() for one in outcome.opened],
                          outcome.whole] for key, outcome in self.outcomes.items()],
            "refused": [[*key, told] for key, told in self.refused.items()]}


def against(binary, dialect, clients, pool):
    outcomes, refusals = {}, {}
    for is_cut in (False, True):
        settings = ["retry=%dms" % (RETRY * 1000)] if is_cut else []
        server = Server.of(binary, dialect, ["--browser"], settings)
        try:
            futures = {(dialect, client.name, is_cut): pool.submit(follow, server, dialect, client, is_cut) for client in clients}
            runs = {key: future.result() for key, future in futures.items()}
        finally:
            server.end()
        streams = recorded(server.record)
        for key, run in runs.items():
            opened, witness = streams[run.job.id]
            outcomes[key] = Outcome(run, opened, witness[0].events)
    # Without `?token=`.
    server = Server.of(binary, dialect, [])
    try:
        for client in clients:
            if not client.has_headers:
                refusals[(dialect, client.name)] = refused(server, dialect, client)
    finally:
        server.end()
    return outcomes, refusals


# The format


FORMS = {
    "comments": b": hello\n\nid: 1-a\nevent: progress\ndata: {\"n\":1}\n: inside\n\n:\n\nid: 2-b\n:\nevent: progress\ndata: {\"n\":2}\n\n",
    "retry alone": b"retry: 100\n\nid: 1-a\nevent: progress\ndata: {\"n\":1}\n\n",
    "several lines": b"id: 1-a\nevent: progress\ndata: {\"n\":\ndata: 1}\n\n",
    "no space": b"id:1-a\nevent:progress\ndata:{\"n\":1}\n\n",
    "no name": b"id: 1-a\nevent: progress\ndata: {\"n\":1}\n\nid: 2-b\ndata: {\"n\":2}\n\n",
    "unknown field": b"id: 1-a\nevent: progress\nfoo: bar\nfoo\ndata: {\"n\":1}\n\n",
    "id alone": b"id: 1-a\nevent: progress\ndata: {\"n\":1}\n\nid: 2-b\n\nevent: progress\ndata: {\"n\":2}\n\n",
    "empty data": b"id: 1-a\nevent: progress\ndata\n\nid: 2-b\nevent: progress\ndata: {\"n\":2}\n\n",
    "no data": b"id: 1-a\nevent: progress\n\nid: 2-b\nevent: progress\ndata: {\"n\":2}\n\n",
    "U+2028": "id: 1-a\nevent: progress\ndata: {\"n\":\"a\u2028b\u0085c\"}\n\n".encode(),
    "CRLF": b"id: 1-a\r\nevent: progress\r\ndata: {\"n\":1}\r\n\r\nid: 2-b\r\nevent: progress\r\ndata: {\"n\":2}\r\n\r\n",
    "CR": b"id: 1-a\revent: progress\rdata: {\"n\":1}\r\rid: 2-b\revent: progress\rdata: {\"n\":2}\r\r",
    "3 bytes at a time": "id: 1-a\nevent: progress\ndata: {\"n\":\"Brontë 📚\"}\n\nid: 2-b\nevent: progress\ndata: {\"n\":2}\n\n".encode(),
    "CRLF, 3 bytes at a time": b"id: 1-a\r\nevent: progress\r\ndata: {\"n\":1}\r\n\r\nid: 2-b\r\nevent: progress\r\ndata: {\"n\":2}\r\n\r\n",
    "200 KB": b"id: 1-a\nevent: progress\ndata: {\"n\":\"" + b"x" * 200_000 + b"\"}\n\nid: 2-b\nevent: progress\ndata: {\"n\":2}\n\n",
    "unfinished": b"id: 1-a\nevent: progress\ndata: {\"n\":1}\n\nid: 2-b\nevent: progress\ndata: {\"n\":2}\n",
}


def recording(forms):
    """A recording in which the n-th job has the n-th form as its stream."""
    lines = [{"began": "2026-02-03T00:00:00Z", "by": "clients", "recording": 1}]
    exchange = 0

    def add(at, **what):
        lines.append(dict(what, exchange=exchange, t=int(at * 1e9)))

    for number, (name, body) in enumerate(forms.items()):
        begin = number * 10.0
        path = "/v3/jobs/scans/00000000-0000-4000-8000-%012d" % number
        exchange += 1
        add(begin, request={"device": WITNESS, "method": "POST", "path": "/v3/jobs/scans"})
        answer = json.dumps({"success": True, "data": {
            "jobId": path.rpartition("/")[2], "sseUrl": path + "/stream", "statusUrl": path, "authToken": "0" * 64}})
        add(begin, head={"headers": [["Content-Type", "application/json"]], "length": len(answer), "status": 202})
        add(begin, body=answer)
        add(begin, end="complete")
        exchange += 1
        add(begin + 1, request={"device": WITNESS, "method": "GET", "path": path + "/stream"})
        add(begin + 1, head={"headers": [["Content-Type", "text/event-stream"]], "status": 200})
        size = 3 if name.endswith("at a time") else len(body)
        for index in range(0, len(body), size):
            add(begin + 1 + 0.002 * (index // size), hex=body[index:index + size].hex())
        add(begin + 2, end="complete")
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def form(server, client):
    follower = Follower(client)
    try:
        job = server.upload(device(client), part("contract"))
        follower.follow(*job.access(client), again=False)
        if client.reopens:
            time.sleep(2.5)
        else:
            follower.wait(has_ended, 10)
    finally:
        told = follower.end()
    return told


def forms(binary, clients, pool):
    """What each client told of each form: a server for each, since the n-th upload gets the n-th recorded job."""
    told = {}
    with tempfile.TemporaryDirectory() as folder:
        futures = {}
        servers = []
        for name, body in FORMS.items():
            path = os.path.join(folder, "%d.ndjson" % len(servers))
            with open(path, "w") as file:
                file.write(recording({name: body}))
            server = Server(binary, ["--browser", "--replay", path])
            servers.append(server)
            for client in clients:
                futures[(name, client.name)] = pool.submit(form, server, client)
        try:
            for key, future in futures.items():
                told.setdefault(key[0], {})[key[1]] = future.result()
        finally:
            for server in servers:
                server.end()
    return told
