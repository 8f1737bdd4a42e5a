"""Clients of `serve` and `proxy`: one that does what a case says, and a healthy one that must be answered as ever."""

import http.client
import json
import random
import socket
import threading
import time

import delivery
import grammar
import socket_grammar

PATIENCE = 10
# What a healthy client asks of a job, and the answers that it wants.
JOURNEY = [
    ("stream", "GET", grammar.BASE + "/%s/stream", [200]), ("results", "GET", grammar.BASE + "/%s/results?format=lite", [200]),
    ("cleanup", "DELETE", grammar.BASE + "/%s/cleanup", [200, 204])]
SOCKET_JOURNEY = [
    ("results", "GET", "/api/v2/enrichments/%s/results", [200]), ("cleanup", "DELETE", "/v1/jobs/%s", [200])]


def connect(port):
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def filled(text, job, token):
    return text.replace(grammar.JOB.encode(), job.encode()).replace(grammar.TOKEN.encode(), token.encode())


def run(port, connections, seconds, jobs=None):
    """All connections at once, with these jobs in turn; gives what came back on each."""
    answers = [bytearray() for _ in connections]
    until = time.monotonic() + seconds
    jobs = jobs or [("00000000-0000-4000-8000-000000000001", "0" * 64)]

    def one(number, steps, received):
        job = jobs[number % len(jobs)]
        try:
            with connect(port) as connection:
                delivery.carry_out(steps, connection, lambda text: filled(text, *job), until, received)
        except (delivery.Over, OSError):
            pass

    threads = [
        threading.Thread(target=one, args=three, daemon=True)
        for three in zip(range(len(connections)), connections, answers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0, until - time.monotonic()) + 1)
    return [bytes(answer) for answer in answers]


def ask(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.read(1 << 20)
    finally:
        connection.close()


def upload(port, is_socket=False):
    """A job for later requests: its id, token and device, or None."""
    message = socket_grammar.upload() if is_socket else grammar.request("upload", random.Random(3))
    fields = {name: value for name, value in message.fields if name not in ("Host", "Expect")}
    status, body = ask(port, "POST", message.start.split(" ")[1], message.body, fields)
    if status != 202:
        return None
    data = json.loads(body)["data"]
    return data["jobId"], data.get("authToken") or data.get("token") or "", fields["X-Device-ID"]


def status(port):
    """What is wrong with the page of the server's state; None when nothing is."""
    try:
        code, body = ask(port, "GET", "/_sim")
        return None if code == 200 and "uptimeMs" in json.loads(body) else "/_sim answers %d %r" % (code, body[:200])
    except (OSError, ValueError, http.client.HTTPException) as error:
        return "/_sim: %r" % error


def journey(port, is_socket=False):
    """What is wrong with a whole journey; None when nothing is."""
    at = "upload"
    try:
        job = upload(port, is_socket)
        if not job or not job[1]:
            return "upload refused"
        headers = {"X-Device-ID": job[2], "Authorization": "Bearer " + job[1]}
        at = "socket"
        if is_socket and (wrong := followed(port, job)):
            return "socket: " + wrong
        for at, method, path, wanted in SOCKET_JOURNEY if is_socket else JOURNEY:
            code, body = ask(port, method, path % job[0], None, headers)
            if code not in wanted or at == "stream" and b"event: completed" not in body:
                return "%s answers %d %r" % (at, code, body[-200:])
        return None
    except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
        return "%s: %r" % (at, error)


def followed(port, job):
    """What is wrong with the WebSocket of a job up to its close; None when nothing is."""
    r, types, answer = random.Random(3), [], b""
    with connect(port) as connection, connection.makefile("rb") as incoming:
        connection.sendall(filled(socket_grammar.upgrade(r).bytes(), *job[:2]))
        while not answer.endswith(b"\r\n\r\n"):
            answer += incoming.readline() or b"\r\n\r\n"
        if not answer.startswith(b"HTTP/1.1 101 ") or socket_grammar.accept(socket_grammar.KEY.encode()) not in answer:
            return "answers %r" % answer[:300]
        connection.sendall(socket_grammar.in_frames([socket_grammar.message("ready", 1)], r, bytes(4))[0].bytes())
        while True:
            opcode, payload = one_frame(incoming)
            if opcode == socket_grammar.CLOSE:
                is_whole = types[:1] == ["ready_ack"] and types[-1] == "job_complete" and payload == socket_grammar.NORMAL
                return None if is_whole else "closed with %r after %r" % (payload, types)
            if opcode == socket_grammar.TEXT:
                types.append(json.loads(payload)["type"])
            if types[-1:] == ["job_complete"]:
                connection.sendall(socket_grammar.Frame(socket_grammar.CLOSE, socket_grammar.NORMAL, bytes(4)).bytes())


def one_frame(incoming):
    """The opcode and the payload of a frame that is whole and not masked."""
    first, size = incoming.read(2)
    if not first & socket_grammar.FINAL or size > 127:
        raise ValueError("a frame begins with %02x %02x" % (first, size))
    if size > 125:
        size = int.from_bytes(incoming.read(2 if size == 126 else 8), "big")
    return first & 15, incoming.read(size)
