"""A client of the v2 endpoints of Talaria: CSV imports, enrichment of one or many books, and shelf scans.

    python3 v2_client.py --base http://127.0.0.1:8080 import books.csv
    python3 v2_client.py --base http://127.0.0.1:8080 import books.csv --cancel-after 2
    python3 v2_client.py --base http://127.0.0.1:8080 enrich 9780439064873 --key scan_9780439064873
    python3 v2_client.py --base http://127.0.0.1:8080 batch --barcodes 9780439064873,9780141439518
    python3 v2_client.py --base http://127.0.0.1:8080 batch --books books.json
    python3 v2_client.py --base http://127.0.0.1:8080 scan shelf-1.jpg shelf-2.jpg
    python3 v2_client.py --base http://127.0.0.1:8080 scan shelf-1.jpg --cancel-after 0.5
    python3 v2_client.py --base http://127.0.0.1:8080 limits 9780439064873

Each command makes the whole journey: it starts the job, follows its event stream, fetches the results and checks that
nothing is missing. FILE.json is an array of {"title", "author", "isbn"}; author and isbn may be left out. "enrich" asks
for the book again, with the same key, with another and with none. "limits" asks for what the contract refuses.

It prints one JSON object. "ok" is true, and the exit code 0, if the journey was complete and the counts add up;
otherwise the exit code is 1 and "reasons" says why. "warnings" are oddities that lost nothing. A wrong command line
exits with 2. Tokens are never printed.
"""

import argparse
import csv
import http.client
import io
import json
import pathlib
import re
import socket
import sys
import threading
import time
import urllib.parse
import uuid

MAX_RETRIES = 3
MAX_RECONNECTS = 5
MAX_RECONNECT_DELAY = 30
RATE_LIMIT_WAIT = 60
MAX_CSV_BYTES = 10_000_000
MAX_BATCH = 100
MAX_TITLE, MAX_AUTHOR, MAX_ISBN = 500, 300, 17

CODES = {"NOT_FOUND": 404, "INVALID_REQUEST": 400, "RATE_LIMIT_EXCEEDED": 429, "CIRCUIT_OPEN": 503, "API_ERROR": 502,
         "NETWORK_ERROR": 504, "INTERNAL_ERROR": 500}

POST_TIMEOUT = 30
UPLOAD_TIMEOUT = 120
GET_TIMEOUT = 30
DELETE_TIMEOUT = 15
HEARTBEAT_SECONDS = 30
# By then, two heartbeats were missed.
STREAM_TIMEOUT = 70
# How long a stream may stay open after its job was canceled.
CANCELED_STREAM_SECONDS = 5

# `timeout` says that the stream was idle, not that the job has ended.
EVENTS = {"initialized", "processing", "completed", "failed", "error", "timeout"}
EVENT_ID = re.compile(r"(\d+)-(initial|progress|final)")


class JourneyError(Exception):
    """The journey cannot go on."""


class Refused(JourneyError):
    """The server answered with an error."""

    def __init__(self, what, status, error):
        super().__init__(f"{what}: {status} {error.get('code')}: {error.get('message')}")
        self.status = status
        self.error = error


def retry_delay(error, retry_after, retries):
    """The seconds to wait before a retry, or None if the request must not be retried."""
    if retries >= MAX_RETRIES or error.get("retryable") is not True:
        return None
    if error.get("code") == "RATE_LIMIT_EXCEEDED":
        return RATE_LIMIT_WAIT if retry_after is None else retry_after
    details = error.get("details")
    milliseconds = details.get("retryAfterMs") if isinstance(details, dict) else None
    if error.get("code") == "CIRCUIT_OPEN" and is_number(milliseconds):
        return milliseconds / 1000
    return 2 ** retries


def retry_after_seconds(headers, body):
    header = (headers.get("Retry-After") or "").strip()
    if header.isascii() and header.isdigit():
        return int(header)
    seconds = body.get("retryAfter")
    return seconds if is_number(seconds) else None


def error_of(body, status):
    """The error of a body, nested as in v2 or flat as in RFC 9457."""
    nested = body.get("error")
    if isinstance(nested, dict):
        return nested
    return {
        "code": body.get("code") or (nested if isinstance(nested, str) else f"HTTP_{status}"),
        "message": body.get("message") or body.get("detail") or body.get("title"),
        "retryable": body.get("retryable"),
        "details": {"retryAfterMs": body.get("retryAfterMs")},
    }


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def count(value):
    """A count of the results, or None if it is not one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def first_list(data, *names):
    for name in names:
        if isinstance(data.get(name), list):
            return data[name]
    return None


class EventParser:
    """Splits the bytes of an event stream into events, comments and retry fields."""

    def __init__(self):
        self.rest = b""
        self.at_start = True
        self.reset()

    def reset(self):
        self.name, self.data, self.id = "", [], None

    def feed(self, received):
        """Yields ("comment", text), ("retry", ms) and ("event", (name, data, id or None))."""
        self.rest += received
        # A CR at the very end may be half of a CRLF.
        complete = self.rest[:-1] if self.rest.endswith(b"\r") else self.rest
        lines = re.split(b"\r\n|\r|\n", complete)
        self.rest = lines.pop() + self.rest[len(complete):]
        for line in lines:
            text = line.decode("utf-8", "replace")
            if self.at_start:
                text, self.at_start = text.removeprefix("\ufeff"), False
            yield from self.line(text)

    def line(self, text):
        if not text:
            if self.data or self.id is not None:
                yield "event", (self.name or "message", "\n".join(self.data) if self.data else None, self.id)
            self.reset()
            return
        field, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if not field:
            yield "comment", value
        elif field == "event":
            self.name = value
        elif field == "data":
            self.data.append(value)
        elif field == "id" and "\0" not in value:
            self.id = value
        elif field == "retry" and value.isascii() and value.isdigit():
            yield "retry", int(value)


class Client:
    """The HTTP side of a journey, and the record of it."""

    def __init__(self, base, device):
        self.base = base.rstrip("/") + "/"
        self.device = device
        self.token = None
        # Of the last success.
        self.metadata = {}
        self.reasons = []
        self.warnings = []
        self.requests = []

    def fail(self, reason):
        if reason not in self.reasons:
            self.reasons.append(reason)

    def warn(self, warning):
        if warning not in self.warnings:
            self.warnings.append(warning)

    def open(self, method, url, body=None, headers=None, timeout=GET_TIMEOUT):
        """Sends a request. Returns its socket, which outlives its connection object, and the response."""
        url = urllib.parse.urljoin(self.base, url)
        parts = urllib.parse.urlsplit(url)
        base = urllib.parse.urlsplit(self.base)
        kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
        if parts.scheme not in kinds or not parts.hostname:
            raise JourneyError(f"{method} {url}: not an http URL")
        all_headers = {"X-Device-ID": self.device, "Accept": "application/json", **(headers or {})}
        if self.token:
            if (parts.scheme, parts.netloc) == (base.scheme, base.netloc):
                all_headers["Authorization"] = f"Bearer {self.token}"
            else:
                self.warn(f"{url} is not at the base, so that it did not get the token")
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection = kinds[parts.scheme](parts.hostname, parts.port, timeout=timeout)
        try:
            connection.connect()
            sock = connection.sock
            connection.request(method, target, body, all_headers)
            return connection, sock, connection.getresponse()
        except BaseException:
            connection.close()
            raise

    def once(self, method, url, body, headers, timeout):
        """One request without a retry. Returns the status, the headers and the JSON object of the body."""
        record = {"method": method, "url": url}
        self.requests.append(record)
        started = time.monotonic()
        try:
            connection, _, response = self.open(method, url, body, headers, timeout)
            try:
                received = response.read()
            finally:
                connection.close()
        except (OSError, http.client.HTTPException) as problem:
            record["error"] = repr(problem)
            raise JourneyError(f"{method} {url}: {problem!r}") from problem
        record["status"] = response.status
        record["seconds"] = round(time.monotonic() - started, 3)
        try:
            value = json.loads(received)
        except ValueError:
            value = None
        return response.status, response.headers, value

    def call(self, method, url, body=None, headers=None, timeout=GET_TIMEOUT, envelope=True):
        """A request with the retries that its errors allow. Returns the data of the success envelope.

        Without `envelope`, a success may also be a bare object.
        """
        what = f"{method} {url}"
        retries = 0
        while True:
            status, answer_headers, value = self.once(method, url, body, headers, timeout)
            answer = value if isinstance(value, dict) else {}
            success = answer.get("success")
            good = 200 <= status < 300
            if good and success is True and isinstance(answer.get("data"), dict):
                self.metadata = answer.get("metadata")
                if not isinstance(self.metadata, dict) or not isinstance(self.metadata.get("timestamp"), str):
                    self.fail(f"{what}: {status} without metadata and a timestamp")
                    self.metadata = {}
                return answer["data"]
            if good and not envelope and success is not False and isinstance(value, dict):
                return answer
            if good and success is not False:
                raise JourneyError(f"{what}: {status} without success true and data")
            error = error_of(answer, status)
            self.requests[-1]["code"] = error.get("code")
            self.check_error(what, status, answer)
            if good:
                self.warn(f"{what}: {status} with success false")
            delay = retry_delay(error, retry_after_seconds(answer_headers, answer), retries)
            if delay is None:
                raise Refused(what, status, error)
            self.requests[-1]["retried_after"] = delay
            retries += 1
            time.sleep(delay)

    def check_error(self, what, status, answer):
        """An error is {success: false, error {code, message, retryable, details?}}, without data and metadata."""
        error = answer.get("error")
        if answer.get("success") is not False:
            self.fail(f"{what}: {status} without success false")
        if not isinstance(error, dict):
            self.fail(f"{what}: {status} without an error")
            return
        if not isinstance(error.get("message"), str) or not isinstance(error.get("retryable"), bool):
            self.fail(f"{what}: the error of a {status} has no message, or does not say whether to retry")
        if "data" in answer or "metadata" in answer:
            self.fail(f"{what}: a {status} with data or metadata")
        expected = CODES.get(error.get("code"))
        if expected not in (None, status):
            self.fail(f"{what}: {error['code']} with {status} instead of {expected}")

    def expect_refusal(self, what, statuses, method, url, body=None, headers=None):
        """A request that must be refused with one of the statuses. Returns the error."""
        status, _, value = self.once(method, url, body, headers, POST_TIMEOUT)
        answer = value if isinstance(value, dict) else {}
        if status not in statuses:
            self.fail(f"{what}: {status} instead of {' or '.join(map(str, statuses))}")
            return {}
        self.check_error(what, status, answer)
        error = error_of(answer, status)
        if error.get("retryable") is not False:
            self.fail(f"{what}: refused, but to be retried")
        return error

    def post_json(self, url, value, timeout=POST_TIMEOUT):
        return self.call("POST", url, json.dumps(value).encode(), {"Content-Type": "application/json"}, timeout)

    def post_files(self, url, files):
        """Uploads (field, name, type, bytes) as multipart/form-data."""
        boundary = uuid.uuid4().hex
        body = bytearray()
        for field, name, kind, content in files:
            name = re.sub(r'["\r\n]', "_", name)
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n'
            body += f"{head}Content-Type: {kind}\r\n\r\n".encode() + content + b"\r\n"
        body += f"--{boundary}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        return self.call("POST", url, bytes(body), headers, UPLOAD_TIMEOUT)


class Job:
    """A job that the server has accepted: its stream, its results and its cancellation."""

    def __init__(self, client, data, kind):
        self.client = client
        self.id = data.get("jobId")
        if not isinstance(self.id, str) or not self.id:
            raise JourneyError("the job has no jobId")
        both = [data[name] for name in ("authToken", "token") if data.get(name)]
        if any(not isinstance(value, str) for value in both) or len(set(map(str, both))) > 1:
            client.fail("the job has two different tokens, or one that is no string")
        # `token` is deprecated, but older servers send nothing else.
        self.token_field = next((name for name in ("authToken", "token") if data.get(name)), None)
        client.token = data[self.token_field] if self.token_field else None
        if self.token_field != "authToken":
            client.warn("the job has no authToken")
        path = f"/api/v2/{kind}/{urllib.parse.quote(self.id, safe='')}"
        self.sse_url = data.get("sseUrl") or f"{path}/stream"
        self.status_url = data.get("statusUrl")
        # The contract has scans stream under /api/v2/imports, but does not say that their results are there, too.
        beside_stream = re.sub(r"/stream$", "/results", urllib.parse.urlsplit(self.sse_url).path)
        of_any_job = f"/v1/jobs/{urllib.parse.quote(self.id, safe='')}/results"
        found = dict.fromkeys([f"{path}/results", beside_stream, of_any_job])
        self.results_urls = [url for url in found if url.endswith("/results")]

        self.last_event_id = None
        self.newest_id_ms = 0
        self.retry_ms = None
        self.events = []
        self.seen = set()
        self.replayed = self.heartbeats = self.connections = 0
        self.lost = []
        self.terminal = None
        self.last_payload = None
        self.advanced = False

        self.sock = None
        self.followed = threading.Event()
        self.cancel_sent = threading.Event()
        self.canceled = threading.Event()
        self.cancel_answer = None

    def follow(self):
        """Reads the stream until the job has ended, reconnecting when the stream is lost."""
        attempts = 0
        while True:
            self.advanced = False
            lost, wait, final = self.read_stream()
            if self.terminal or self.canceled.is_set():
                return
            self.lost.append(lost)
            if final:
                self.client.fail(f"stream: {lost}")
                return
            attempts = 1 if self.advanced else attempts + 1
            if attempts > MAX_RECONNECTS:
                self.client.fail(f"stream: gave up after {MAX_RECONNECTS} attempts in a row, the last: {lost}")
                return
            first = 1 if self.retry_ms is None else self.retry_ms / 1000
            backoff = min(first * 2 ** (attempts - 1), max(first, MAX_RECONNECT_DELAY))
            if self.canceled.wait(max(backoff, wait)):
                return

    def read_stream(self):
        """Reads one connection. Returns why it ended, the least seconds to wait, and whether not to reconnect."""
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-cache"}
        if self.last_event_id:
            headers["Last-Event-ID"] = self.last_event_id
        self.connections += 1
        started = time.monotonic()
        connection = response = None
        try:
            connection, self.sock, response = self.client.open("GET", self.sse_url, None, headers, STREAM_TIMEOUT)
            kind = response.headers.get("Content-Type") or ""
            if response.status != 200 or not kind.lower().startswith("text/event-stream"):
                return self.refused(response, kind)
            parser = EventParser()
            while received := response.read1(65536):
                for what, value in parser.feed(received):
                    if what == "comment":
                        self.heartbeats += 1
                        # The stream works, but one that only greets and ends does not.
                        self.advanced |= time.monotonic() - started >= HEARTBEAT_SECONDS / 2
                    elif what == "retry":
                        self.retry_ms = value
                    elif ended := self.take(*value):
                        return ended
            return "ended without a terminal event", 0, False
        except (OSError, http.client.HTTPException) as problem:
            return repr(problem), 0, False
        finally:
            self.sock = None
            if response:
                response.close()
            if connection:
                connection.close()

    def refused(self, response, kind):
        if response.status == 200:
            return f"200 with the content type {kind!r}", 0, True
        try:
            body = json.loads(response.read())
        except ValueError:
            body = None
        body = body if isinstance(body, dict) else {}
        error = error_of(body, response.status)
        passing = error.get("retryable") is True or response.status >= 500
        lost = f"{response.status} {error.get('code')}: {error.get('message')}"
        if not passing:
            return lost, 0, True
        return lost, retry_delay(error, retry_after_seconds(response.headers, body), 0) or 0, False

    def take(self, name, data, event_id):
        """Takes in one event. Returns how the stream ended, as read_stream does, or None if it goes on."""
        client = self.client
        if event_id is not None:
            self.last_event_id = event_id
        if data is None:
            return None
        if event_id and (event_id, name) in self.seen:
            self.replayed += 1
            return None
        if event_id:
            self.check_id(event_id, name)
            self.seen.add((event_id, name))
        else:
            client.warn(f"an event {name} has no id")
        try:
            payload = json.loads(data)
        except ValueError:
            payload = None
        if not isinstance(payload, dict):
            client.warn(f"the data of an event {name} is not a JSON object")
            payload = {}
        event = {"id": event_id, "event": name}
        event.update((key, payload[key]) for key in ("status", "progress", "processedCount", "totalCount", "error")
                     if key in payload)
        if self.cancel_sent.is_set():
            event["after_cancel"] = True
        self.events.append(event)
        if name not in EVENTS:
            client.warn(f"unknown event {name}")
            return None
        if payload.get("jobId") not in (None, self.id):
            client.fail(f"stream: an event {name} of another job, {payload['jobId']}")
        if name in ("initialized", "processing"):
            self.check_progress(payload)
        if payload != self.last_payload:
            self.last_payload, self.advanced = payload, True
        if name == "timeout" or (name == "error" and error_of(payload, name).get("retryable") is True):
            # Servers send this right after connecting, too: it is no progress.
            self.advanced = False
            return f"event {name}", 0, False
        if name in ("completed", "failed", "error"):
            self.terminal = (name, payload)
            return name, 0, True
        return None

    def check_id(self, event_id, name):
        form = EVENT_ID.fullmatch(event_id)
        if not form:
            self.client.warn(f"the id {event_id} of an event {name} has an unknown form")
            return
        if int(form[1]) < self.newest_id_ms:
            self.client.warn(f"the id {event_id} of an event {name} is older than the one before")
        self.newest_id_ms = max(self.newest_id_ms, int(form[1]))

    def check_progress(self, payload):
        progress = payload.get("progress")
        if progress is not None and not (is_number(progress) and progress <= 1):
            self.client.fail(f"stream: progress {json.dumps(progress)} is not from 0 to 1")
        before = (self.last_payload or {}).get("processedCount")
        now, total = count(payload.get("processedCount")), count(payload.get("totalCount"))
        if now is not None and count(before) is not None and now < before:
            self.client.warn(f"processedCount went back from {before} to {now}")
        if now is not None and total is not None and now > total:
            self.client.fail(f"stream: processedCount {now} is more than totalCount {total}")

    def check_total(self, asked, things):
        for event in self.events:
            if event["event"] == "processing" and event.get("totalCount", asked) != asked:
                self.client.fail(f"stream: totalCount {event['totalCount']} instead of {asked} {things}")

    def completed(self):
        """The summary of the completed job, or an error if it did not complete."""
        if not self.terminal:
            raise JourneyError("the job has not ended")
        name, payload = self.terminal
        if name != "completed":
            error = error_of(payload, name)
            raise JourneyError(f"the job ended with {name}: {error.get('code')}: {error.get('message')}")
        summary = payload.get("summary")
        missing = [key for key in ("type", "pipeline", "summary", "expiresAt") if not payload.get(key)]
        if missing:
            self.client.warn(f"completed has no {', '.join(missing)}")
        elif payload["type"] != "job_complete":
            self.client.warn(f"completed has the type {json.dumps(payload['type'])}")
        if not isinstance(summary, dict):
            return payload
        total, good, bad = (count(summary.get(key)) for key in ("totalProcessed", "successCount", "failureCount"))
        if None not in (total, good, bad) and total != good + bad:
            self.client.fail(f"completed: totalProcessed {total} is not successCount {good} + failureCount {bad}")
        return summary

    def results(self):
        """The results, from the first address that knows the job."""
        for url in self.results_urls:
            try:
                return self.client.call("GET", url)
            except Refused as refused:
                if refused.status != 404 or url == self.results_urls[-1]:
                    raise
        raise JourneyError("the results have no address")

    def check_status(self):
        """The status must agree with the end of the stream."""
        if not self.status_url or not self.terminal:
            return None
        try:
            status = self.client.call("GET", self.status_url).get("status")
        except JourneyError as problem:
            self.client.fail(str(problem))
            return None
        if status != self.terminal[0] and self.terminal[0] in ("completed", "failed"):
            self.client.fail(f"the stream ended with {self.terminal[0]}, but the status is {json.dumps(status)}")
        return status

    def cancel(self):
        """Cancels the job twice, because that must not be an error, and lets go of a stream that stays open."""
        url = f"/v1/jobs/{urllib.parse.quote(self.id, safe='')}"
        self.cancel_sent.set()
        try:
            self.cancel_answer = self.client.call("DELETE", url, timeout=DELETE_TIMEOUT, envelope=False)
            self.canceled.set()
            self.check_cancel(url, self.cancel_answer)
            self.check_cancel(url, self.client.call("DELETE", url, timeout=DELETE_TIMEOUT, envelope=False))
        except JourneyError as problem:
            again = "again: " if self.canceled.is_set() else ""
            self.client.fail(f"{again}{problem}")
        self.canceled.set()
        deadline = time.monotonic() + CANCELED_STREAM_SECONDS
        while not self.followed.wait(0.05):
            sock = self.sock
            if not sock or time.monotonic() < deadline:
                continue
            self.client.warn(f"the stream was still open {CANCELED_STREAM_SECONDS} s after the job was canceled")
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def check_cancel(self, url, answer):
        """{jobId, status: "canceled", message, cleanup {r2ObjectsDeleted, kvCacheCleared}}, also of a second DELETE."""
        what = f"DELETE {url}"
        if answer.get("jobId") != self.id:
            self.client.fail(f"{what}: the answer is about {json.dumps(answer.get('jobId'))}")
        if answer.get("status") not in ("canceled", "cancelled"):
            self.client.fail(f"{what}: the status is {json.dumps(answer.get('status'))} instead of canceled")
        if not isinstance(answer.get("message"), str):
            self.client.fail(f"{what}: there is no message")
        cleanup = answer.get("cleanup")
        if not isinstance(cleanup, dict) or not {"r2ObjectsDeleted", "kvCacheCleared"} <= cleanup.keys():
            self.client.fail(f"{what}: the cleanup is {json.dumps(cleanup)}")

    def refused_cancels(self):
        """A cancel needs the token of its job, and a job."""
        url = f"/v1/jobs/{urllib.parse.quote(self.id, safe='')}"
        token, self.client.token = self.client.token, None
        try:
            self.client.expect_refusal("DELETE without a token", (401,), "DELETE", url)
            self.client.token = token
            self.client.expect_refusal("DELETE of no job", (404,), "DELETE", url + "0")
        finally:
            self.client.token = token

    def results_after_cancel(self):
        """What the addresses of the results answer after the cancellation: none may serve results."""
        found = {}
        for url in self.results_urls:
            try:
                self.client.call("GET", url)
                found[url] = "served"
                if self.was_canceled():
                    self.client.fail(f"GET {url}: results of a canceled job")
            except Refused as refused:
                found[url] = f"{refused.status} {refused.error.get('code')}"
        return found

    def was_canceled(self):
        return (self.cancel_answer or {}).get("status") in ("canceled", "cancelled")

    def record(self):
        names = [event["event"] for event in self.events]
        return {
            "jobId": self.id,
            "token": self.token_field,
            "sseUrl": self.sse_url,
            "statusUrl": self.status_url,
            "stream": {
                "connections": self.connections,
                "lost": self.lost,
                "heartbeats": self.heartbeats,
                "retryMs": self.retry_ms,
                "replayed": self.replayed,
                "counts": {name: names.count(name) for name in dict.fromkeys(names)},
                "ids": [event["id"] for event in self.events],
                "events": self.events,
                "terminal": self.terminal[0] if self.terminal else None,
            },
        }


def csv_rows(content):
    """The rows after the header. Lines without any field are no rows."""
    text = content.decode("utf-8-sig", "replace")
    csv.field_size_limit(max(len(text), 131_072))
    return max(sum(1 for row in csv.reader(io.StringIO(text, newline="")) if row) - 1, 0)


def import_books(client, arguments, report):
    content = pathlib.Path(arguments.file).read_bytes()
    rows = csv_rows(content)
    report["counts"] = {"rows": rows}
    if len(content) > MAX_CSV_BYTES:
        raise JourneyError(f"the file has more than {MAX_CSV_BYTES} bytes")
    name = pathlib.Path(arguments.file).name
    job = Job(client, client.post_files("/api/v2/imports", [("file", name, "text/csv", content)]), "imports")
    try:
        if arguments.cancel_after is not None:
            cancel_job(job, arguments.cancel_after, report)
            return
        job.follow()
        summary = job.completed()
        report["summary"] = summary
        report["status"] = job.check_status()
        job.check_total(rows, "rows")
        check_import(client, summary, job.results(), rows, report)
    finally:
        report["job"] = job.record()


def cancel_job(job, seconds, report):
    timer = threading.Timer(seconds, job.cancel)
    timer.daemon = True
    timer.start()
    try:
        job.follow()
    finally:
        job.followed.set()
    # A job that ended sooner is canceled all the same, to see what the server makes of it.
    report["endedBeforeCancel"] = job.terminal[0] if job.terminal and not job.cancel_sent.is_set() else None
    timer.join()
    if report["endedBeforeCancel"]:
        job.client.fail(f"the job ended with {report['endedBeforeCancel']} before it was canceled")
    report["cancel"] = job.cancel_answer
    job.refused_cancels()
    report["resultsAfterCancel"] = job.results_after_cancel()


def check_import(client, summary, results, rows, report):
    keys = ("booksCreated", "booksUpdated", "duplicatesSkipped", "enrichmentSucceeded", "enrichmentFailed")
    found = {key: count(results.get(key)) for key in keys}
    errors = first_list(results, "errors")
    books = first_list(results, "books")
    failed = found["enrichmentFailed"] if errors is None else len({json.dumps(row_of(error)) for error in errors})
    report["counts"].update(found, errors=None if errors is None else len(errors), failed=failed,
                            books=None if books is None else len(books))
    report["errors"] = errors
    parts = [found["booksCreated"], found["booksUpdated"], found["duplicatesSkipped"], failed]
    if None in parts:
        client.fail("results: booksCreated, booksUpdated, duplicatesSkipped or the failed rows are missing")
        return
    if sum(parts) != rows:
        created, updated, skipped, _ = parts
        client.fail(f"results: {created} created + {updated} updated + {skipped} skipped + {failed} failed "
                    f"are {sum(parts)} instead of {rows} rows")
    if errors is not None and found["enrichmentFailed"] not in (None, failed):
        client.warn(f"results: enrichmentFailed is {found['enrichmentFailed']}, but errors has {failed} rows")
    if books is not None and len(books) != parts[0] + parts[1]:
        client.warn(f"results: {len(books)} books, but {parts[0]} were created and {parts[1]} updated")
    total = count(summary.get("totalProcessed"))
    if total not in (None, rows):
        client.fail(f"completed: totalProcessed {total} instead of {rows} rows")


def row_of(error):
    row = error.get("row") if isinstance(error, dict) else None
    return row if row is not None else error


def isbn_of(value):
    """An ISBN as 13 digits where possible, so that both forms of one book are equal."""
    text = re.sub(r"[^0-9Xx]", "", value).upper() if isinstance(value, str) else ""
    if len(text) != 10:
        return text
    digits = "978" + text[:9]
    if not digits.isdigit():
        return text
    weighted = sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(digits))
    return digits + str(-weighted % 10)


ENRICH = "/api/v2/books/enrich"


def enrich_book(client, arguments, report):
    key = arguments.key or f"scan_{arguments.isbn}"
    body = {"barcode": arguments.isbn, "vectorize": False, "idempotencyKey": key, "preferProvider": "auto"}
    book = look_up(client, body, arguments.isbn)
    report["book"] = book
    report["cached"] = [client.metadata.get("cached")]
    without_key = {"isbn": arguments.isbn, "vectorize": False}
    for again in (body, {**body, "idempotencyKey": f"{key}-{uuid.uuid4()}"}, without_key):
        what = f"again with {again.get('idempotencyKey', 'no key')}"
        if look_up(client, again, arguments.isbn) != book:
            client.fail(f"{what}: it is another book")
        report["cached"].append(client.metadata.get("cached"))
    # The key makes the second request the first one, whose answer is known. No other request is that.
    first, same, other, none = report["cached"]
    if same is not True or other is True or none is True:
        client.fail(f"cached is {json.dumps(report['cached'])} of the first request, the same key, another and none")
    if first is True:
        client.warn("the first request was answered as an earlier one")


def look_up(client, body, isbn):
    data = client.post_json(ENRICH, body)
    book = data.get("book") if isinstance(data.get("book"), dict) else data
    if not names_isbn(book, isbn_of(isbn)):
        client.fail(f"the book has another ISBN than {isbn}")
    if not isinstance(book.get("title"), str) or not book["title"].strip():
        client.fail("the book has no title")
    authors = book.get("authors") if isinstance(book.get("authors"), list) else [book.get("author")]
    if not authors or not all(isinstance(author, str) and author.strip() for author in authors):
        client.fail("the book has no author")
    return book


def ask_too_much(client, arguments, report):
    """What the contract does not allow is refused, each with its code, and nothing is started."""
    isbn = arguments.isbn
    wrong = isbn[:-1] + str((int(isbn[-1]) + 1) % 10)
    book = {"title": "Emma", "author": "Jane Austen", "isbn": isbn}
    json_type = {"Content-Type": "application/json"}
    requests = [
        ("a wrong check digit", ENRICH, {"barcode": wrong}),
        ("no barcode", ENRICH, {"vectorize": True}),
        ("a barcode that is a number", ENRICH, {"barcode": int(isbn)}),
        ("more books than a batch may have", "/api/batch-enrich", {"barcodes": [isbn] * (MAX_BATCH + 1)}),
        ("no books", "/api/batch-enrich", {"books": []}),
        ("a long title", "/api/batch-enrich", {"books": [{**book, "title": "x" * (MAX_TITLE + 1)}]}),
        ("a long author", "/api/batch-enrich", {"books": [{**book, "author": "x" * (MAX_AUTHOR + 1)}]}),
        ("a long ISBN", "/api/batch-enrich", {"books": [{**book, "isbn": "9" * (MAX_ISBN + 1)}]}),
    ]
    report["refused"] = {}
    for what, url, body in requests:
        error = client.expect_refusal(what, (400,), "POST", url, json.dumps(body).encode(), json_type)
        report["refused"][what] = error.get("code")
        if error and error.get("code") != "INVALID_REQUEST":
            client.fail(f"{what}: {error.get('code')} instead of INVALID_REQUEST")
    # What is just allowed is taken.
    most = [{"title": "x" * MAX_TITLE, "author": "x" * MAX_AUTHOR, "isbn": isbn}] * MAX_BATCH
    job = Job(client, client.post_json("/api/batch-enrich", {"books": most, "jobId": str(uuid.uuid4())}), "enrichments")
    job.cancel_sent.set()
    job.followed.set()
    job.cancel()
    report["job"] = job.record()


def names_isbn(value, isbn):
    """Whether a book, or what it nests, names the ISBN."""
    if isinstance(value, dict):
        named = (value.get(key) for key in ("isbn", "isbn13", "isbn10", "isbns", "barcode"))
        texts = [text for entry in named for text in (entry if isinstance(entry, list) else [entry])]
        nested = (value.get(key) for key in ("enriched", "edition", "book", "requested"))
        return any(isbn_of(text) == isbn for text in texts) or any(names_isbn(entry, isbn) for entry in nested)
    return isinstance(value, str) and isbn_of(value) == isbn


def same_text(one, other):
    return isinstance(one, str) and isinstance(other, str) and one.casefold().split() == other.casefold().split()


def answers(entry, asked):
    """Whether an entry of the results is about a book that was asked for."""
    isbn = isbn_of(asked.get("isbn"))
    if isbn and names_isbn(entry, isbn):
        return True
    if not asked.get("title") or not isinstance(entry, dict) or not same_text(entry.get("title"), asked["title"]):
        return False
    authors = entry.get("authors") if isinstance(entry.get("authors"), list) else [entry.get("author")]
    authors = [author.get("name") if isinstance(author, dict) else author for author in authors]
    authors = [author for author in authors if author]
    return not asked.get("author") or not authors or any(same_text(author, asked["author"]) for author in authors)


def is_failure(entry):
    return isinstance(entry, dict) and (entry.get("success") is False or bool(entry.get("error"))
                                        or entry.get("status") in ("failed", "error", "not_found"))


def start_batch(client, body):
    """The newer address of batch enrichment first, the older one where the server does not know it."""
    try:
        return client.post_json("/api/batch-enrich", body, UPLOAD_TIMEOUT)
    except Refused as refused:
        if refused.status not in (404, 405, 426, 501):
            raise
    client.warn("the server has no /api/batch-enrich")
    return client.post_json("/v1/enrichment/batch", body, UPLOAD_TIMEOUT)


def enrich_batch(client, arguments, report):
    if arguments.barcodes is not None:
        barcodes = [barcode.strip() for barcode in arguments.barcodes.split(",") if barcode.strip()]
        asked = [{"isbn": barcode} for barcode in barcodes]
        body = {"barcodes": barcodes, "vectorize": False}
    else:
        asked = json.loads(pathlib.Path(arguments.books).read_text(encoding="utf-8"))
        if not isinstance(asked, list) or not all(isinstance(book, dict) for book in asked):
            raise JourneyError(f"{arguments.books} is not an array of objects")
        body = {"books": asked, "jobId": str(uuid.uuid4())}
    report["counts"] = {"asked": len(asked)}
    data = start_batch(client, body)
    job = Job(client, data, "enrichments")
    try:
        if body.get("jobId") not in (None, job.id):
            client.warn("the server gave the job another id than the one asked for")
        if (data.get("totalCount"), data.get("processedCount")) != (len(asked), 0):
            client.fail(f"the job has processedCount {json.dumps(data.get('processedCount'))} of totalCount "
                        f"{json.dumps(data.get('totalCount'))} instead of 0 of {len(asked)}")
        if arguments.cancel_after is not None:
            cancel_job(job, arguments.cancel_after, report)
            return
        job.follow()
        report["summary"] = summary = job.completed()
        report["status"] = job.check_status()
        job.check_total(len(asked), "books")
        check_batch(client, summary, job.results(), asked, report)
    finally:
        report["job"] = job.record()


def check_batch(client, summary, results, asked, report):
    entries = first_list(results, "enrichedBooks", "books", "results")
    if entries is None:
        raise JourneyError("results: no list of books")
    errors = (first_list(results, "errors", "failed", "failures") or []) + [e for e in entries if is_failure(e)]
    good = [entry for entry in entries if not is_failure(entry)]
    failed, unaccounted = 0, []
    for book in asked:
        if any(answers(entry, book) for entry in good):
            continue
        if any(answers(entry, book) for entry in errors):
            failed += 1
        else:
            unaccounted.append(book)
    stated = [count(results.get(key)) for key in ("enrichmentFailed", "failureCount", "failedCount")]
    stated.append(count(summary.get("failureCount")))
    stated = next((value for value in stated if value is not None), None)
    report["counts"].update(enriched=len(asked) - failed - len(unaccounted), failed=failed, failedStated=stated,
                            unaccounted=len(unaccounted), entries=len(entries))
    report["errors"] = errors
    if unaccounted and stated == failed + len(unaccounted):
        # Servers that only count the failures account for them, too, though not by name.
        client.warn(f"results: the {len(unaccounted)} books that are not in them are only counted as failed")
    elif unaccounted:
        client.fail(f"results: neither there nor failed: {json.dumps(unaccounted, ensure_ascii=False)}")
    elif stated not in (None, failed):
        client.fail(f"results: {stated} failures are counted, but {failed} books failed")
    nameless = [entry for entry in good if not isinstance(entry.get("title"), str) or not entry["title"].strip()]
    if nameless:
        client.fail(f"results: {len(nameless)} books without a title")
    numbers = [isbn_of(entry.get("isbn")) for entry in good if entry.get("isbn")]
    if len(numbers) != len(set(numbers)) and len({isbn_of(book.get("isbn")) for book in asked}) == len(asked):
        client.fail("results: a book is there twice")
    strangers = [entry for entry in good if not any(answers(entry, book) for book in asked)]
    if strangers:
        client.warn(f"results: {len(strangers)} books were not asked for")
    total = count(summary.get("totalProcessed"))
    if total not in (None, len(asked)):
        client.fail(f"completed: totalProcessed {total} instead of {len(asked)} books")


def scan_photos(client, arguments, report):
    files = []
    for path in map(pathlib.Path, arguments.photos):
        content = path.read_bytes()
        kind = "image/png" if content.startswith(b"\x89PNG") else "image/jpeg"
        files.append(("photos", path.name, kind, content))
    report["counts"] = {"photos": len(files)}
    data = client.post_files("/api/batch-scan", files)
    job = Job(client, data, "scans")
    try:
        if data.get("totalPhotos", len(files)) != len(files):
            client.fail(f"the job has totalPhotos {data['totalPhotos']} instead of {len(files)}")
        if arguments.cancel_after is not None:
            cancel_job(job, arguments.cancel_after, report)
            return
        job.follow()
        report["summary"] = summary = job.completed()
        report["status"] = job.check_status()
        address = job.terminal[1].get("resultsUrl")
        if isinstance(address, str) and address:
            job.results_urls = list(dict.fromkeys([address, *job.results_urls]))
        check_scan(client, summary, job.results(), len(files), report)
    finally:
        report["job"] = job.record()


def check_scan(client, summary, results, photos, report):
    books = first_list(results, "books", "results", "detectedBooks")
    if books is None:
        raise JourneyError("results: no list of books")
    keys = ("photosProcessed", "booksDetected", "booksUnique", "booksEnriched")
    found = {key: count(summary.get(key)) for key in keys}
    report["counts"].update(found, books=len(books))
    if found["photosProcessed"] not in (None, photos):
        client.fail(f"completed: photosProcessed {found['photosProcessed']} instead of {photos}")
    for more, fewer in zip(keys[1:], keys[2:]):
        if None not in (found[more], found[fewer]) and found[more] < found[fewer]:
            client.fail(f"completed: {more} {found[more]} is less than {fewer} {found[fewer]}")
    unique = found["booksDetected"] if found["booksUnique"] is None else found["booksUnique"]
    if unique is None:
        client.warn("completed: the summary does not count the books")
    elif len(books) == unique:
        pass
    elif len(books) == found["booksDetected"]:
        client.warn(f"results: all {len(books)} detected books instead of the {unique} unique ones")
    else:
        client.fail(f"results: {len(books)} books instead of {unique}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--base", required=True, metavar="URL", help="the address of the server")
    parser.add_argument("--device", default=str(uuid.uuid4()), metavar="UUID", help="X-Device-ID (default: a new one)")
    commands = parser.add_subparsers(dest="command", required=True)
    cancel = argparse.ArgumentParser(add_help=False)
    cancel.add_argument("--cancel-after", type=float, metavar="SECONDS",
                        help="cancel the job this long after the upload")
    command = commands.add_parser("import", parents=[cancel],
                                  help="import a CSV file with the columns Title, Author and ISBN")
    command.add_argument("file", metavar="FILE.csv")
    command.set_defaults(run=import_books)
    command = commands.add_parser("enrich", help="enrich one book")
    command.add_argument("isbn", metavar="ISBN")
    command.add_argument("--key", help="the idempotency key (default: scan_ISBN)")
    command.set_defaults(run=enrich_book)
    command = commands.add_parser("limits", help="ask for what the contract refuses")
    command.add_argument("isbn", metavar="ISBN")
    command.set_defaults(run=ask_too_much)
    command = commands.add_parser("batch", parents=[cancel], help="enrich many books")
    asked = command.add_mutually_exclusive_group(required=True)
    asked.add_argument("--barcodes", metavar="A,B,...")
    asked.add_argument("--books", metavar="FILE.json")
    command.set_defaults(run=enrich_batch)
    command = commands.add_parser("scan", parents=[cancel], help="find the books in photos")
    command.add_argument("photos", nargs="+", metavar="PHOTO.jpg")
    command.set_defaults(run=scan_photos)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    client = Client(arguments.base, arguments.device)
    report = {"ok": False, "command": arguments.command, "base": arguments.base, "device": arguments.device}
    try:
        arguments.run(client, arguments, report)
    except JourneyError as problem:
        client.fail(str(problem))
    except (OSError, ValueError, csv.Error) as problem:
        client.fail(f"{type(problem).__name__}: {problem}")
    report.update(ok=not client.reasons, reasons=client.reasons, warnings=client.warnings, requests=client.requests)
    print(json.dumps(report, ensure_ascii=False, indent=2))
    return 0 if report["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
