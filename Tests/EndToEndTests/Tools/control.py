"""Controls a run by its dashboard, and prints each answer as JSON: its step, status and body.

usage: control.py URL STEP...

URL is the address that the run has printed, with the token. A step is an order such as pause or phones?by=-3, an order behind a
+ to give it as soon as the run has begun, =SECONDS to wait, page to read the page, end to read the stream of events to its end, or
guard to try what must be refused.
"""

import http.client
import json
import sys
import time
import urllib.parse


def ask(port, method, path, headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=40)
    connection.putrequest(method, path, skip_host=True)
    for name, value in headers.items():
        if value is not None:
            connection.putheader(name, value)
    connection.putheader("Content-Length", "0")
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read().decode()
    try:
        body = json.loads(body)
    except ValueError:
        pass
    return answer.status, body


def main(url, steps):
    parts = urllib.parse.urlsplit(url)
    port, host = parts.port, parts.netloc
    token = urllib.parse.parse_qs(parts.query)["control"][0]
    own = {"Host": host, "X-Control-Token": token}
    found = []

    def order(name, method="POST", path="stop", **headers):
        changed = dict(own)
        changed.update({key.replace("_", "-"): value for key, value in headers.items()})
        status, body = ask(port, method, "/control/" + path, changed)
        found.append({"step": name, "status": status, "body": json.dumps(body)})

    for step in steps:
        if step.startswith("="):
            time.sleep(float(step[1:]))
        elif step == "page":
            status, body = ask(port, "GET", "/", {"Host": host})
            found.append({"step": step, "status": status, "body": body})
        elif step == "end":
            status, body = ask(port, "GET", "/events", {"Host": host})
            found.append({"step": step, "status": status, "body": body})
        elif step == "guard":
            order("no token", X_Control_Token=None)
            order("wrong token", X_Control_Token="0" * len(token))
            order("token in the query alone", path="stop?control=" + token, X_Control_Token=None)
            order("name of another", Host="evil.example:%d" % port)
            order("other port", Host="127.0.0.1:%d" % (port ^ 1))
            order("no name", Host=None)
            order("page of another", Origin="https://evil.example")
            order("page without an origin", Origin="null")
            order("cross-site", Sec_Fetch_Site="cross-site")
            for method in ("GET", "HEAD", "PUT", "OPTIONS"):
                order(method, method=method)
        elif step.startswith("+"):
            order(step, path=step[1:])
            while "the run has not begun" in found[-1]["body"]:
                time.sleep(0.1)
                found.pop()
                order(step, path=step[1:])
        else:
            order(step, path=step)
    print(json.dumps(found))


main(sys.argv[1], sys.argv[2:])
