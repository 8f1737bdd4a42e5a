"""Plants each failure that the fuzzers look for in place of the program, and wants it found by the check that is for it."""

import concurrent.futures
import os
import stat
import sys
import tempfile

import cases
import client
import program

# What the stand-in does as which command, and what must be said of it.
PLANTED = [
    ("run", "os.kill(os.getpid(), 11)", "signal: SIGSEGV"),
    ("run", "os.kill(os.getpid(), 4)", "signal: SIGILL"),
    ("run", "sys.exit(139)", "exit: 139 is not documented"),
    ("run", "sys.exit(70)", "exit: 70 is not a server's doing"),
    ("run", "time.sleep(60)", "hang"),
    ("run", "held = b'x' * (450 << 20); time.sleep(1)", "memory"),
    ("run", "open('much', 'wb').write(b'x' * (110 << 20)); time.sleep(1)", "disk"),
    ("run", "print('\\x1b[31mred'); summary(0)", "control character"),
    ("run", "sys.stdout.buffer.write(b'\\xff'); summary(0)", "not UTF-8"),
    ("run", "summary(0, completed=7, waiting=1)", "passed without"),
    ("run", "summary(99, completed=6, waiting=1)", "do not agree"),
    ("run", "summary(99, completed=7, lost=1)", "scans lost"),
    ("run", "sys.exit(0)", "summary: missing"),
    ("run", "summary(98)", None),
    ("serve", "os.kill(os.getpid(), 6)", "signal: SIGABRT"),
    ("serve", "listen(); serve()", "a healthy client"),
    ("serve", "listen(); serve(status=500)", "/_sim answers 500"),
    ("serve", "listen(); serve(hangs_up=True)", "/_sim: RemoteDisconnected"),
    ("serve", "listen(); signal.signal(2, signal.SIG_IGN); serve()", "hang"),
    ("serve", "listen(); serve(spins=True)", "spins"),
    ("proxy", "listen(); serve(dies=True)", "signal: SIGABRT"),
    ("record", "listen(); serve(dies=True)", "signal: SIGABRT"),
    ("replay", "sys.exit(70)", "exit: 70 for a damaged recording"),
    ("replay", "listen(); os.kill(os.getpid(), 4)", "signal: SIGILL"),
]

STAND_IN = """#!%s
import json, os, select, signal, socket, sys, threading, time
signal.signal(2, lambda *_: os._exit(0))
def summary(code, **counts):
    scans = {"captured": 8, "completed": 8, "refused": 0, "waiting": 0, "lost": 0, "discarded": 0, **counts}
    os.makedirs(sys.argv[-1])
    with open(sys.argv[-1] + "/summary.json", "w") as file:
        json.dump({"counters": {"scans." + end: count for end, count in scans.items()}}, file)
    sys.exit(code)
def listen():
    global listener
    listener = socket.create_server(("127.0.0.1", 0))
    print("listening http://127.0.0.1:%%d" %% listener.getsockname()[1], flush=True)
def serve(status=200, hangs_up=False, dies=False, spins=False):
    body = b'{"uptimeMs":1}'
    while True:
        if not select.select([listener], [], [], 0 if spins else 9)[0]:
            continue
        connection, _ = listener.accept()
        if dies:
            os.abort()
        connection.settimeout(1)
        try:
            connection.recv(1 << 16)
            if not hangs_up:
                connection.sendall(b"HTTP/1.1 %%d X\\r\\nContent-Length: %%d\\r\\nConnection: close\\r\\n\\r\\n%%s" %% (status, len(body), body))
        except OSError:
            pass
        connection.close()
if sys.argv[1] == "report":
    sys.exit(%d)
%s
"""


def run():
    cases.RUN_SECONDS = cases.SERVER_SECONDS = 6
    client.PATIENCE = 2
    with tempfile.TemporaryDirectory() as folder:
        # All are written before any is started: a file that another process still has open for writing cannot be.
        binaries = [stand_in(folder, number, *planted) for number, planted in enumerate(PLANTED)]
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            missed = sum(not is_found for is_found in pool.map(finds, PLANTED, binaries))
    print("%d planted, %d missed" % (len(PLANTED), missed))
    return 1 if missed else 0


def stand_in(folder, number, mode, act, expected):
    binary = os.path.join(folder, "stand-in-%d" % number)
    repeated = 98 if expected is None else 0
    with open(binary, "w") as file:
        file.write(STAND_IN % (sys.executable, repeated, act))
    os.chmod(binary, stat.S_IRWXU)
    return binary


def finds(planted, binary):
    mode, act, expected = planted
    if mode == "run":
        case = {"mode": "run", "answers": {}, "attempts": 1}
    else:
        connections = [[["send", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"], ["read", 0.1]]]
        case = {"mode": mode, "connections": connections, "exchanges": [], "recording": ["{}"]}
    with tempfile.TemporaryDirectory() as work:
        found, _ = cases.MODES[mode][1](case, binary, work)
    if found == [] if expected is None else any(expected in failure for failure in found):
        return True
    print("MISSED %s: %s: expected %r, found %r" % (mode, act, expected, found))
    return False
