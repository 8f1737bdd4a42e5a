"""A client of `serve` on the `websockets` library: uploads by HTTP, follows each job by WebSocket.

    websocket_client.py URL [TOKENS]

Prints one JSON object per check. TOKENS: the token lifetime of the server is within the window of a refresh.
"""

import json
import sys
import time
import urllib.error
import urllib.request

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

BASE = sys.argv[1]
SOCKET = "ws" + BASE[4:] + "/ws/progress"
PHOTO = b"\xff\xd8\xff\xe0" + b"x" * 2000 + b"\xff\xd9"


def post(path, body, kind):
    request = urllib.request.Request(BASE + path, data=body, headers={"Content-Type": kind}, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def scan():
    body = (
        b'--b\r\nContent-Disposition: form-data; name="photos"; filename="a.jpg"\r\n'
        b"Content-Type: image/jpeg\r\n\r\n" + PHOTO + b"\r\n--b--\r\n"
    )
    status, answer = post("/api/batch-scan", body, "multipart/form-data; boundary=b")
    assert status == 202, (status, answer)
    return answer["data"]


def opened(job, query="", **options):
    options.setdefault("subprotocols", ["bookstrack-auth." + job["authToken"]])
    return connect(f"{SOCKET}?jobId={job['jobId']}{query}", open_timeout=5, close_timeout=5, **options)


def ready(socket):
    socket.send(json.dumps({"type": "ready", "timestamp": int(time.time() * 1000)}))


def followed(socket):
    types = []
    try:
        while True:
            types.append(json.loads(socket.recv(timeout=20))["type"])
    except ConnectionClosed as end:
        return types, end.rcvd.code if end.rcvd else 1006


def refused(job, query="", **options):
    try:
        with opened(job, query, **options):
            return 101
    except InvalidStatus as error:
        return error.response.status_code


def closed(frames):
    """The code with which the server answers what breaks the protocol."""
    job = scan()
    with opened(job) as socket:
        ready(socket)
        socket.recv(timeout=5)
        socket.socket.sendall(frames)
        try:
            while True:
                socket.recv(timeout=10)
        except ConnectionClosed as end:
            return end.rcvd.code if end.rcvd else 1006


def main():
    job = scan()
    with opened(job) as socket:
        assert socket.subprotocol == "bookstrack-auth." + job["authToken"]
        ready(socket)
        types, code = followed(socket)
    print(json.dumps({"check": "followed", "types": types, "code": code}))
    job = scan()
    print(json.dumps({"check": "fragments", **fragments(job)}))
    print(json.dumps({"check": "used", "status": refused(job)}))
    with opened(job, "&reconnect=true") as socket:
        ready(socket)
        types, code = followed(socket)
    print(json.dumps({"check": "reconnected", "types": types, "code": code}))
    wrong = dict(job, authToken="0" * 64)
    print(json.dumps({"check": "wrong", "status": refused(wrong)}))
    print(json.dumps({"check": "none", "status": refused(job, subprotocols=None)}))
    request = urllib.request.Request(f"{BASE}/ws/progress?jobId={job['jobId']}")
    try:
        urllib.request.urlopen(request, timeout=5)
    except urllib.error.HTTPError as error:
        print(json.dumps({"check": "plain", "status": error.code, "upgrade": error.headers["Upgrade"]}))
    # Unmasked; a reserved bit; a continuation of nothing; text that is not UTF-8; a close with a code of no frame.
    masked = bytes([1, 2, 3, 4])
    flaws = {
        "unmasked": bytes([0x81, 0x02]) + b"{}",
        "reserved": bytes([0xC1, 0x80]) + masked,
        "continuation": bytes([0x80, 0x80]) + masked,
        "not-utf8": bytes([0x81, 0x81]) + masked + bytes([0xFF ^ 1]),
        "binary": bytes([0x82, 0x80]) + masked,
        "bad-code": bytes([0x88, 0x82]) + masked + bytes([0x03 ^ 1, 0xED ^ 2]),
        "too-long": bytes([0x81, 0xFE, 0x28, 0x01]) + masked,
    }
    print(json.dumps({"check": "flaws", **{name: closed(frames) for name, frames in flaws.items()}}))
    status, answer = post(
        "/api/token/refresh", json.dumps({"jobId": job["jobId"], "oldToken": job["authToken"]}).encode(), "application/json"
    )
    print(json.dumps({"check": "refresh", "status": status, "token": answer.get("data", {}).get("token") is not None}))


def fragments(job):
    """`ready` in three fragments with a ping between them; the connection is then left without a close frame."""
    socket = opened(job)
    text = json.dumps({"type": "ready"})
    socket.send(iter([text[:3], text[3:6], text[6:]]))
    pong = socket.ping()
    first = json.loads(socket.recv(timeout=5))["type"]
    answered = pong.wait(5)
    socket.socket.close()
    return {"first": first, "pong": answered}


main()
