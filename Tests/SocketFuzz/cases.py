"""What a case is in each mode: how it is made from a generator, and what is checked while and after it runs.

A case is a dictionary that JSON can hold. `make` is a function of its generator; `run` starts the program, plays the other
side, and gives the failures.
"""

import json
import os
import random
import time

import client
import damage
import delivery
import grammar
import program
import server
import socket_cases
import socket_grammar

PHONES = 8
RUN_SECONDS = 60
SERVER_SECONDS = 40
PHOTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Images/shelves/shelf-5-tall-hazy.jpg")

RUN_SCENARIO = """scenario: 1
name: socket-fuzz
description: Phones that lose no time, against a hostile server.
drain: %(drain)s
fleet:
  phones: {%(group)sdevices: %(phones)d, profile: contract, network: perfect, scans: 1, arrivals: 60/s, photos: fuzz,
           idle-timeout: 500ms, request-timeout: 500ms}
%(faults)s"""

SERVE_SCENARIO = """scenario: 1
name: socket-fuzz
description: A backend whose jobs take no time.
fleet:
  phones: {%(group)sdevices: 1, scans: 1, arrivals: 1/s, photos: fuzz}
server: %(server)s
%(faults)s"""
SERVER = "{job-time: 20ms..60ms}"
# Jobs that are still followed when what is sent has come.
SOCKET_SERVER = "{job-time: 300ms..600ms, ping: 100ms, rate-limit: off}"


def with_faults(scenario, faults, **values):
    lines = "\n".join("  - " + fault for fault in faults)
    return scenario % {"faults": "faults:\n%s\n" % lines if faults else "", **values}


def lay_out(folder, scenario):
    """The scenario and its photograph."""
    photos = os.path.join(folder, "Images/fuzz")
    os.makedirs(photos, exist_ok=True)
    link = os.path.join(photos, "photo.jpg")
    if not os.path.lexists(link):
        os.symlink(PHOTO, link)
    with open(os.path.join(folder, "fuzz.scenario"), "w") as file:
        file.write(scenario)


class Failures(list):
    def add(self, watched):
        self.extend("%s: %s" % (watched.name, failure) for failure in watched.failures)

    def note(self, who, what):
        if what:
            self.append("%s: %s" % (who, what))


# run --target


def make_run(r):
    theme = damage.weighted(r, [("upload", 5), ("stream", 8), ("results", 4), ("cleanup", 3), ("all", 2), ("probe", 1)])
    flooded = r.sample(range(PHONES), r.choice([1, 2, PHONES])) if r.random() < 0.06 else []
    answers = {}
    for operation in grammar.OPERATIONS + ["probe"]:
        is_hostile = theme in (operation, "all") and (operation != "probe" or theme == "probe")
        answers[operation] = [
            answer_steps(operation, r, is_hostile and r.random() < 0.85, theme, phone in flooded)
            for phone in range(1 if operation == "probe" else PHONES)]
    # Afterwards the server is a good one; in some cases it never is.
    return {
        "answers": answers, "attempts": r.choice([1, 1, 2, 3, 1_000]), "faults": grammar.faults(r) if r.random() < 0.4 else [],
        # A backend that gives every phone the same job.
        "one_job": r.random() < 0.04}


def answer_steps(operation, r, is_hostile, theme, flood=False):
    message = grammar.answer(operation, r, with_books=theme != "results")
    if is_hostile and r.random() < 0.2:
        message = grammar.any_problem(r)
    if is_hostile:
        steps = damage.delivery(message, r, damage.STATUS_LINES, flood)
        return [["early"], *steps] if r.random() < 0.05 else steps
    return delivery.whole(message)


def run_run(case, binary, folder):
    failures = Failures()
    answers, attempts = case["answers"], case.get("attempts", 1)

    def choose(operation, device, attempt, _):
        choices = answers.get(operation) or [None]
        return choices[device % len(choices)] if attempt <= attempts else None

    hostile = server.HostileServer(choose, RUN_SECONDS, case.get("one_job", False), kept_in(case))
    lay_out(folder, with_faults(
        RUN_SCENARIO, case.get("faults", []), drain=case.get("drain", "2s"), phones=case.get("phones", PHONES),
        group=case.get("group", "")))
    try:
        run = program.Program(
            binary, ["run", "fuzz.scenario", "--target", "http://127.0.0.1:%d" % hostile.port, "--output", "report"],
            folder, RUN_SECONDS, "run")
        code = run.wait()
    finally:
        hostile.close()
    failures.add(run)
    case["given"] = hostile.given[:40]
    if failures:
        return failures, code
    failures.note("run", unlikely_exit(code, case))
    failures.note("summary", wrong_summary(os.path.join(folder, "report/summary.json"), code))
    if os.path.exists(os.path.join(folder, "report")):
        again = program.Program(binary, ["report", "report", "--output", "again"], folder, RUN_SECONDS, "report")
        repeated = again.wait()
        failures.add(again)
        if not failures and repeated != code:
            failures.append("report: exit %d, the run's was %d" % (repeated, code))
    return failures, code


def kept_in(case):
    """What gives the steps of an answer that keeps the contract."""
    return socket_grammar.kept if case.get("group") else None


def unlikely_exit(code, case):
    allowed = {0, 69, 97, 98, 99} if case.get("attempts", 1) > 1 or "probe" in case["answers"] else {0, 97, 98, 99}
    return None if code in allowed else "exit: %d is not a server's doing" % code


def wrong_summary(path, code):
    """Every captured scan has one end, and 0 means that all of them were completed."""
    try:
        with open(path) as file:
            counters = json.load(file)["counters"]
    except FileNotFoundError:
        return None if code == 69 else "missing, after exit %d" % code
    except (ValueError, KeyError) as error:
        return "unreadable: %r" % error
    scans = {end: counters["scans." + end] for end in ("captured", "completed", "refused", "waiting", "lost")}
    scans["discarded"] = counters.get("scans.discarded", 0)
    if scans["captured"] != sum(count for end, count in scans.items() if end != "captured"):
        return "totals do not agree: %r" % scans
    if scans["lost"]:
        return "scans lost: %r" % scans
    explained = scans["refused"] - counters.get("scans.refused.unexplained", scans["refused"])  # By a fault of the scenario.
    if code == 0 and scans["completed"] + explained != scans["captured"]:
        return "passed without having completed all: %r" % scans
    return None


# proxy


def make_proxy(r):
    connections, exchanges = [], []
    for _ in range(6):
        steps = []
        for _ in range(r.choice([1, 1, 2, 3])):
            operation = r.choice(grammar.OPERATIONS + ["other"])
            request = grammar.request(operation, r)
            request.fields.append(["X-Fuzz", str(len(exchanges))])
            sent = [["send", request.bytes().decode("latin-1")]]
            if r.random() < 0.15:
                sent = damage.delivery(request, r, damage.REQUEST_LINES)
            exchanges.append(answer_steps("cleanup" if operation == "other" else operation, r, r.random() < 0.7, None, r.random() < 0.02))
            steps += sent + [["read", 0.5]]
        connections.append(steps)
    return {"connections": connections, "exchanges": exchanges, "faults": grammar.faults(r), "record": r.random() < 0.5}


def run_proxy(case, binary, folder):
    exchanges = case["exchanges"]

    def choose(operation, device, attempt, exchange):
        return exchanges[exchange] if exchange is not None and exchange < len(exchanges) else None

    hostile = server.HostileServer(choose, SERVER_SECONDS, kept=kept_in(case))
    arguments = ["proxy", "fuzz.scenario", "--upstream", "http://127.0.0.1:%d" % hostile.port]
    arguments += ["--record", "recording.ndjson"] if case.get("record") else []
    try:
        failures, code = serve(case, binary, folder, arguments, "proxy")
    finally:
        hostile.close()
    return replayed(case, binary, folder) if case.get("record") and not failures else (failures, code)


# serve, and serve --record


def make_serve(r):
    connections = []
    for _ in range(8):
        steps = []
        for _ in range(r.choice([1, 1, 2, 4])):
            request = grammar.request(r.choice(grammar.OPERATIONS + ["other"]), r)
            act = r.random()
            if act < 0.6:
                steps += damage.delivery(request, r, damage.REQUEST_LINES, flood=r.random() < 0.03)
            else:
                steps += split(damage.message(request, r, damage.REQUEST_LINES) if act < 0.8 else request.bytes(), r)
            if steps[-1][0] not in ("close", "reset") and r.random() < 0.8:
                steps.append(["read", r.choice([0.05, 0.3])])
        if r.random() < 0.1:
            steps.append(["half"])
            steps.append(["read", 0.2])
        connections.append(steps)
    return {"connections": connections, "faults": grammar.faults(r)}


def split(request, r):
    """The head, a look at what comes back, then the body whatever that was."""
    head, mark, body = request.partition(b"\r\n\r\n")
    if not body or r.random() < 0.3:
        return [["send", request.decode("latin-1")]]
    cut = r.choice([0, 0, 100, 130, len(body) - 1])
    return [
        ["send", (head + mark + body[:cut]).decode("latin-1")], ["read", r.choice([0.02, 0.1])],
        ["send", body[cut:].decode("latin-1")]]


def make_record(r):
    return {**make_serve(r), "record": True}


def run_serve(case, binary, folder):
    arguments = ["serve", "fuzz.scenario"] + (["--record", "recording.ndjson"] if case.get("record") else [])
    failures, code = serve(case, binary, folder, arguments, "serve")
    return replayed(case, binary, folder) if case.get("record") and not failures else (failures, code)


# serve --replay


def make_replay(r):
    lines = damage.recording(grammar.recording(r), r)
    return {"recording": lines, "connections": follow(r)}


def follow(r=None):
    """The requests that a recording answers."""
    r = r or random.Random(5)
    sent = {operation: [["send", grammar.request(operation, r).bytes().decode("latin-1")]] for operation in grammar.OPERATIONS}
    upload = sent["upload"] + [["read", 0.4]]
    return [upload + sent["stream"] + [["read", 0.4]]] + [
        [["wait", 0.3], *sent[operation], ["read", 0.3]] for operation in ["results", "cleanup", "stream"]]


def run_replay(case, binary, folder):
    lines = case["recording"]
    with open(os.path.join(folder, "recording.ndjson"), "w", encoding="utf-8", errors="surrogatepass") as file:
        file.write("\n".join(lines) + "\n")
    return replay(binary, folder, case["connections"], is_damaged=True)


def replayed(case, binary, folder):
    """What the program recorded it can play, to the same clients if they have WebSockets."""
    if not case.get("group"):
        return replay(binary, folder, follow())
    return replay(binary, folder, case["connections"], case["jobs"])


def replay(binary, folder, connections, jobs=0, is_damaged=False):
    """A recording that cannot be played is refused; one that is played leaves the server well."""
    watched = program.Program(binary, ["serve", "--replay", "recording.ndjson"], folder, SERVER_SECONDS, "replay")
    port = watched.port()
    failures = Failures()
    if port is None:
        code = watched.wait()
        failures.add(watched)
        # Only a damaged one may be refused.
        if not failures and (code != 65 or not is_damaged):
            failures.append("replay: exit: %d for %s recording" % (code, "a damaged" if is_damaged else "its own"))
        return failures, code
    given = [job for job in (first_job(port, True) for _ in range(jobs)) if job]
    client.run(port, connections, 8, given or [("00000000-0000-4000-8000-000000000000", "0" * 64)])
    if watched.is_alive():
        failures.note("replay", client.status(port))
    return ended(watched, failures)


# Servers


def serve(case, binary, folder, arguments, name):
    failures = Failures()
    is_socket = bool(case.get("group"))
    lay_out(folder, with_faults(
        SERVE_SCENARIO, case.get("faults", []), group=case.get("group", ""), server=SOCKET_SERVER if is_socket else SERVER))
    watched = program.Program(binary, arguments, folder, SERVER_SECONDS, name)
    port = watched.port()
    if port is None:
        watched.wait()
        failures.add(watched)
        failures.append("%s: did not start" % name)
        return failures, watched.code
    given = [job for job in (first_job(port, is_socket) for _ in range(case.get("jobs", 1))) if job]
    descriptors = watched.descriptors()
    came = client.run(port, case["connections"], 8, given)
    case["came"] = [bytes_[:300].decode("latin-1") for bytes_ in came]
    if watched.is_alive():
        failures.note(name, client.status(port))
    if watched.is_alive() and not case.get("faults"):
        failures.note(name + ", a healthy client", client.journey(port, is_socket))
        # A proxy keeps connections to its upstream.
        failures.note(name, keeps(watched, descriptors) if name == "serve" else None)
    if watched.is_alive():
        failures.note(name, spins(watched))
    return ended(watched, failures)


def first_job(port, is_socket):
    """For requests that want a job. Under faults there may be none."""
    try:
        job = client.upload(port, is_socket)
        return job[:2] if job else None
    except (OSError, ValueError, KeyError, client.http.client.HTTPException):
        return None


def keeps(watched, before):
    """Whether descriptors stay open when nobody is connected any more."""
    until = time.monotonic() + 6
    while (now := watched.descriptors()) > before and watched.is_alive():
        if time.monotonic() > until:
            return "descriptors: %d, before there were %d" % (now, before)
        time.sleep(0.03)
    return None


def spins(watched):
    """With nobody connected there is nothing to do. What spins wants to run at every look, however busy the machine is."""
    for pause in (0, 1.5):
        time.sleep(pause)
        for _ in range(8):
            time.sleep(0.03)
            if not watched.wants_to_run():
                return None
    return "spins with nobody connected"


def ended(watched, failures):
    code = watched.stop()
    # That a dead server did not answer says nothing more.
    if watched.failures:
        failures.clear()
    failures.add(watched)
    if not failures and code != 0:
        failures.append("%s: exit: %d after an interrupt" % (watched.name, code))
    return failures, code


MODES = {
    "run": (make_run, run_run), "proxy": (make_proxy, run_proxy), "serve": (make_serve, run_serve),
    "record": (make_record, run_serve), "replay": (make_replay, run_replay), "socket-run": (socket_cases.make_run, run_run),
    "socket-proxy": (socket_cases.make_proxy, run_proxy), "socket-serve": (socket_cases.make_serve, run_serve),
}
