"""Clients of `serve` and `proxy`: one that does what a case says, and a healthy one that must be answered as ever."""

import http.client
import json
import random
import socket
import threading
import time

import delivery
import grammar

PATIENCE = 10


def connect(port):
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def run(port, connections, seconds, values=None):
    """All connections at once; gives what came back on each."""
    answers = [bytearray() for _ in connections]
    until = time.monotonic() + seconds
    job, token = values or ("00000000-0000-4000-8000-000000000001", "0" * 64)

    def fill(text):
        return text.replace(grammar.JOB.encode(), job.encode()).replace(grammar.TOKEN.encode(), token.encode())

    def one(steps, received):
        try:
            with connect(port) as connection:
                delivery.carry_out(steps, connection, fill, until, received)
        except (delivery.Over, OSError):
            pass

    threads = [
        threading.Thread(target=one, args=pair, daemon=True) for pair in zip(connections, answers)]
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


def upload(port, more=None):
    """A job for later requests: its id and token, or None."""
    message = grammar.request("upload", random.Random(3))
    fields = {name: value for name, value in message.fields if name not in ("Host", "Expect")}
    status, body = ask(port, "POST", grammar.BASE, message.body, {**fields, **(more or {})})
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


def journey(port):
    """What is wrong with a whole journey; None when nothing is."""
    at = "upload"
    try:
        job = upload(port)
        if not job or not job[1]:
            return "upload refused"
        headers = {"X-Device-ID": job[2], "Authorization": "Bearer " + job[1]}
        for at, method, rest, wanted in [
            ("stream", "GET", "/stream", [200]), ("results", "GET", "/results?format=lite", [200]),
            ("cleanup", "DELETE", "/cleanup", [200, 204])]:
            code, body = ask(port, method, "%s/%s%s" % (grammar.BASE, job[0], rest), None, headers)
            if code not in wanted or at == "stream" and b"event: completed" not in body:
                return "%s answers %d %r" % (at, code, body[-200:])
        return None
    except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
        return "%s: %r" % (at, error)
