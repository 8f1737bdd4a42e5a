"""An app that scans twice with a server that judges it, and what the server says at the end.

usage: judged_app.py BINARY serve|proxy BUG [ARGUMENT...]

BUG is none, or one of the ways to be wrong in `App`. `nobody` sends no request. The arguments are those of the judging server.
Prints one JSON object: the exit code of the server, its output, and the state that it showed before.
"""

import http.client
import json
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid

SECONDS_MAX = 20
JOB_TIME = ["--set", "server.job-time=600ms"]
PHOTO = b"\xff\xd8\xff\xe0"


class Server:
    """A server of the program, from its first line to its end."""

    def __init__(self, *words):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.base = self.process.stdout.readline().split()[-1]

    def state(self):
        with urllib.request.urlopen(self.base + "/_sim/json", timeout=SECONDS_MAX) as answer:
            return json.load(answer)

    def switch(self, fault, to):
        query = f"do=switch&fault={fault}&to={to}&token={self.state()['controlToken']}"
        urllib.request.urlopen(
            urllib.request.Request(f"{self.base}/_sim/faults?{query}", data=b"", method="POST"), timeout=SECONDS_MAX
        ).close()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        output, _ = self.process.communicate(timeout=SECONDS_MAX)
        self.log.seek(0)
        return self.process.returncode, output, self.log.read()


class App:
    """One phone. `bug`: what it does wrong."""

    def __init__(self, base, bug):
        self.host = base.removeprefix("http://")
        self.bug = bug
        self.device = str(uuid.uuid4())

    def request(self, method, path, token=None, body=None, headers=None):
        connection = http.client.HTTPConnection(self.host, timeout=SECONDS_MAX)
        sent = {"X-Device-ID": self.device} | (headers or {})
        if token:
            sent["Authorization"] = "Bearer " + token
        connection.request(method, path, body=body, headers=sent)
        return connection, connection.getresponse()

    def scan(self, number):
        name = "image" if self.bug == "part" else "photos[]"
        photo = PHOTO + bytes([number]) * 100
        body = (
            f'--b\r\nContent-Disposition: form-data; name="{name}"; filename="a.jpg"\r\n\r\n'.encode()
            + photo + b"\r\n--b--\r\n"
        )
        connection, answer = self.request(
            "POST", "/v3/jobs/scans", body=body, headers={"Content-Type": "multipart/form-data; boundary=b"})
        text = answer.read()
        connection.close()
        if answer.status != 202:
            return
        job = json.loads(text)["data"]
        path, token = f"/v3/jobs/scans/{job['jobId']}", job["authToken"]
        self.follow(path, token)
        if self.bug == "results":
            self.request("GET", path + "/results", token)[1].read()
        if self.bug != "delete":
            self.request("DELETE", path + "/cleanup", token)[1].read()

    def follow(self, path, token):
        last = None
        while True:
            headers = {"Accept": "text/event-stream"}
            if last and self.bug != "last-event-id":
                headers["Last-Event-ID"] = last
            connection, answer = self.request("GET", path + "/stream", token, headers=headers)
            try:
                for line in answer:
                    if line.startswith(b"id: "):
                        last = line[4:].strip().decode()
                    if line.startswith(b"event: completed"):
                        answer.read()
                        return
            except (http.client.HTTPException, OSError):
                pass
            finally:
                connection.close()
            time.sleep(0.2)


def main(binary, edge, bug, *arguments):
    servers = []
    if edge == "proxy":
        servers.append(Server(binary, "serve", "--port", "0", "--quiet", *JOB_TIME))
    own = ["--upstream", servers[0].base] if servers else JOB_TIME
    judge = Server(binary, edge, "--port", "0", *own, *arguments)
    if bug != "nobody":
        app = App(judge.base, bug)
        judge.switch("demand.cut-after-event", "on")
        app.scan(1)
        judge.switch("demand.cut-after-event", "off")
        time.sleep(1.2)
        app.scan(2)
    state = judge.state()
    code, output, log = judge.end()
    for server in servers:
        server.end()
    print(json.dumps({"code": code, "output": output, "log": log, "verdict": state["clients"]["verdict"]}))


main(*sys.argv[1:])
