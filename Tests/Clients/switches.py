#!/usr/bin/env python3
"""Reads what `serve` sends with each switch of `server`, and compares it with Docs/manual/scenario.md and Docs/as-built.md.

The client is `requests` with `sseclient-py`. Each check starts a server with its settings, and fails if the switch does nothing.

  switches.py                                      every check
  switches.py --check limits --check preview       these
  switches.py --proxy                              each through `swiftwing-sim proxy`

The exit code is 1 if a check fails.
"""

import argparse
import base64
import collections
import concurrent.futures
import io
import json
import os
import sys
import traceback
import uuid

import PIL.Image
import requests
import sseclient

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import runs

SECONDS_MAX = 30
SCANS, TEXTS = "/v3/jobs/scans", "/v3/jobs/enrich"
QUICK = ["job-time=300ms", "rate-limit=off"]
LITE = {"title", "author", "isbn", "confidence", "enrichmentStatus", "coverUrl"}
FULL = {"publisher", "publishedDate", "pageCount", "format"}
STATUSES = ["pending", "success", "not_found", "error", "circuit_open", "review_needed"]
WITHOUT_COVER = {"pending", "not_found", "error", "circuit_open"}
TERMINAL = {"completed", "error", "canceled"}
EARLY = {"segmented", "book_progress", "result"}
READING = {"text": "MIDDLEMARCH George Eliot", "title": "Middlemarch", "author": "George Eliot", "isbn": "9780141439549"}
Event = collections.namedtuple("Event", "name id data")


class Client:
    """A device and its connection."""

    def __init__(self, base, device=None):
        self.base = base
        self.session = requests.Session()
        self.session.trust_env = False  # No proxy stands between this and loopback.
        self.session.headers["X-Device-ID"] = device or str(uuid.uuid4()).upper()

    def request(self, method, path, job=None, **more):
        headers = {"Authorization": "Bearer " + job["authToken"]} if job else {}
        headers |= more.pop("headers", {})
        return self.session.request(method, self.base + path, headers=headers, timeout=SECONDS_MAX, **more)

    def upload(self, path=SCANS, part="photos[]"):
        with open(runs.PHOTO, "rb") as file:
            return self.request("POST", path, files=[(part, ("spine.jpg", file, "image/jpeg"))])

    def job(self):
        answer = self.upload()
        assert answer.status_code == 202, (answer.status_code, answer.text)
        return answer.json()["data"]

    def events(self, job, last=None):
        """The events of a stream as they come, pings left out. Without `last`, from the first one that is kept."""
        headers = {"Accept": "text/event-stream", "Last-Event-ID": last or "1-progress"}
        with self.request("GET", job["sseUrl"], job, headers=headers, stream=True) as answer:
            assert answer.status_code == 200, (answer.status_code, answer.text)
            assert answer.headers["Content-Type"].split(";")[0] == "text/event-stream"
            for event in sseclient.SSEClient(answer.iter_content(None)).events():
                if event.event != "ping":
                    yield Event(event.event, event.id, json.loads(event.data))

    def whole(self):
        """A new job and all events of it."""
        job = self.job()
        return job, list(self.events(job))

    @classmethod
    def shelves(cls, base, count):
        """The inline books of so many jobs, each of a device of its own."""
        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            jobs = pool.map(lambda _: cls(base).whole(), range(count))
            return [book for _, events in jobs for book in events[-1].data["books"]]

    def books(self, job, form):
        answer = self.request("GET", job["statusUrl"] + "/results", job, params={"format": form})
        assert answer.status_code == 200, (answer.status_code, answer.text)
        return answer.json()["data"]["results"]

    def text(self, **members):
        return self.request("POST", TEXTS, json=members)


def named(events, name):
    return [event for event in events if event.name == name]


def expect(found, expected, what):
    assert found == expected, f"{what}: {found!r}, expected {expected!r}"


def refused(answer, status, code):
    """The problem document of an answer (Docs/contract.md section 1.7)."""
    expect(answer.status_code, status, answer.request.url)
    expect(answer.headers["Content-Type"].split(";")[0], "application/problem+json", "content type")
    body = answer.json()
    expect((body["success"], body["status"], body["code"]), (False, status, code), "problem")
    assert {"type", "title", "detail", "retryable", "metadata"} <= set(body), body
    return body


def status(client):
    """The first status of a new job: another one of the same job would be too soon."""
    device = Client(client.base)
    job = device.job()
    return client.request("GET", job["statusUrl"], job)


# What a limit can count, with the status of the answer to each.
COUNTED = {
    "status": (200, status),
    "scan": (202, Client.upload),
    "bookshelf-scan": (202, lambda client: client.upload("/api/batch-scan", "photos")),
    "batch-enrichment": (202, lambda client: client.request("POST", "/api/batch-enrich", json={"barcodes": [READING["isbn"]]})),
    "csv-import": (202, lambda client: client.request(
        "POST", "/api/v2/imports", files={"file": ("books.csv", "Title,Author,ISBN\nEmma,Jane Austen,\n", "text/csv")})),
    "book-enrichment": (200, lambda client: client.request("POST", "/api/v2/books/enrich", json={"barcode": READING["isbn"]})),
    "text-enrichment": (200, lambda client: client.text(**READING)),
}


# Each check has its servers: the settings of each, by name.

CHECKS = {}


def check(name, **servers):
    def keep(function):
        CHECKS[name] = (function, servers)
        return function
    return keep


@check("progressive", on=["progressive=on", "preview=20kB"], off=[])
def progressive(on, off):
    """Events before the end of a job, and none where they are off."""
    _, events = Client(off).whole()
    expect({event.name for event in events}, {"progress", "completed"}, "events without progressive")
    client = Client(on)
    job, events = client.whole()
    books = events[-1].data["books"]
    expect([book for book in (event.data for event in named(events, "result"))], books, "books shown")
    expect(len(named(events, "segmented")), 1, "previews")
    expect(named(events, "segmented")[0].data["totalBooks"], len(books), "totalBooks")
    steps = [(event.data["current"], event.data["total"]) for event in named(events, "book_progress")]
    expect(steps, [(number + 1, len(books)) for number in range(len(books))], "steps")
    order = [event.name for event in events if event.name in EARLY | TERMINAL]
    expect(order, ["segmented"] + ["book_progress", "result"] * len(books) + ["completed"], "order")
    expect(len({event.id for event in events}), len(events), "ids")
    for place, event in enumerate(events[:-1]):
        expect(list(client.events(job, event.id)), events[place + 1 :], f"resumed behind {event.id}")
    expect(client.books(job, "lite"), books, "results")


@check("preview", smallest=["progressive=on", "preview=200kB"], largest=["progressive=on", "preview=1MB"],
       drawn=["progressive=on", "preview=50kB..300kB"])
def preview(smallest, largest, drawn):
    """The size of a preview, and that it is a picture."""
    def sizes(base, jobs):
        found = []
        for _ in range(jobs):
            client = Client(base)
            job, events = client.whole()
            text = named(events, "segmented")[0].data["image"]
            image = base64.b64decode(text, validate=True)
            PIL.Image.open(io.BytesIO(image)).load()
            expect(named(client.events(job), "segmented")[0].data["image"], text, "the preview of a second stream")
            found.append(len(image))
        return found

    expect(sizes(smallest, 1), [200_000], "preview=200kB")
    expect(sizes(largest, 1), [1_000_000], "preview=1MB")
    found = sizes(drawn, 8)
    assert all(50_000 <= size <= 300_000 for size in found) and len(set(found)) > 4, found


@check("cancel-event", on=["cancel-event=on", "progressive=on", "job-time=20s"], off=["job-time=20s"])
def cancel_event(on, off):
    """How the stream of a canceled job ends."""
    def end(base):
        client = Client(base)
        job = client.job()
        events = client.events(job)
        first = next(events)
        expect(client.request("DELETE", job["statusUrl"], job).status_code, 200, "DELETE")
        last = list(events)[-1]
        expect(list(client.events(job, last.id)), [last], "the end again")
        assert client.request("GET", job["statusUrl"] + "/results", job).status_code in (404, 410)
        assert first.name == "progress", first
        return job["jobId"], last

    job, last = end(on)
    expect((last.name, last.data), ("canceled", {"jobId": job, "type": "canceled"}), "cancel-event: on")
    job, last = end(off)
    expect((last.name, last.data["code"], last.data["retryable"], last.data["jobId"]), ("error", "CANCELED", False, job), "off")


ONE_STATUS = {status: ["statuses={%s: 100%%}" % status, "progressive=on", "preview=1kB"] for status in STATUSES}


@check("statuses", mixed=["statuses={success: 80%, review_needed: 15%, not_found: 5%}", "books=8"], **ONE_STATUS)
def statuses(mixed, **single):
    """The shares of the statuses, and what comes with each."""
    for status, base in single.items():
        client = Client(base)
        job, events = client.whole()
        books = events[-1].data["books"]
        expect({book["enrichmentStatus"] for book in books}, {status}, "status")
        expect([event.data for event in named(events, "result")], books, "books shown")
        expect(client.books(job, "lite"), books, "results")
        # A book without an ISBN has no cover either, and a shelf may have no other.
        covers = {bool(book.get("coverUrl")) for book in books + list(Client.shelves(base, 4))}
        assert covers == {False} if status in WITHOUT_COVER else True in covers, (status, books)
        degraded = named(events, "enrichment_degraded")
        expect([event.data["title"] for event in degraded], [book["title"] for book in books] if status == "circuit_open" else [], status)
        for event in degraded:
            assert {"type", "jobId", "title", "reason", "fallbackSource", "timestamp"} <= set(event.data), event
    counts = collections.Counter(book["enrichmentStatus"] for book in Client.shelves(mixed, 40))
    total = counts.total()
    expect(total, 320, "books")
    # Within four standard deviations.
    for status, share in {"success": 0.8, "review_needed": 0.15, "not_found": 0.05}.items():
        assert abs(counts.pop(status, 0) - share * total) < 4 * (share * (1 - share) * total) ** 0.5, (status, counts, total)
    expect(counts, {}, "other statuses")


@check("confidence", one=["confidence=0.5"], drawn=["confidence=0.3..0.99", "books=8"], auto=["books=8"])
def confidence(one, drawn, auto):
    def values(base, jobs):
        return [book["confidence"] for book in Client.shelves(base, jobs)]

    expect(set(values(one, 2)), {0.5}, "confidence=0.5")
    found = values(drawn, 10)
    assert all(0.3 <= value <= 0.99 and round(value, 3) == value for value in found) and len(set(found)) > 40, found
    assert min(found) < 0.45 and max(found) > 0.85, found
    assert all(0 <= value <= 1 for value in values(auto, 4))


@check("inline", lite=["inline=lite"], full=["inline=full"], many=["inline=full", "books=500"], lean=["inline=lite", "books=500"])
def inline(lite, full, many, lean):
    """The members of inline books, and that 500 full ones do not fit into an event."""
    for base, more in ((lite, set()), (full, FULL)):
        client = Client(base)
        job, events = client.whole()
        books = events[-1].data["books"]
        expect(books, client.books(job, "full" if more else "lite"), "results of the same form")
        for short, long in zip(client.books(job, "lite"), client.books(job, "full"), strict=True):
            assert set(short) <= LITE and LITE & set(long) == set(short), (short, long)
            expect(set(long) - LITE, FULL if short.get("coverUrl") else set(), "members of format=full")
        expect({name for book in books for name in book} - LITE, more, "members of inline books")
    client = Client(many)
    job, events = client.whole()
    assert "books" not in events[-1].data, "500 full books in an event"
    found = client.request("GET", events[-1].data["resultsUrl"], job, params={"format": "full"}).json()["data"]["results"]
    expect(len(found), 500, "results")
    expect(len(Client(lean).whole()[1][-1].data["books"]), 500, "lean inline books")


def limited(*limits):
    return ["limits=[%s]" % ", ".join("{quota: %s, per: %s, of: %s}" % limit for limit in limits)]


@check("limits", device=limited(("2 per 1m", "device", "scan")), address=limited(("2 per 1m", "address", "uploads")),
       everyone=limited(("2 per 1m", "all", "text-enrichment"), ("3 per 1m", "all", "bookshelf-scan")),
       each=limited(*(("1 per 1m", "device", kind) for kind in COUNTED)))
def limits(device, address, everyone, each):
    """Who shares a quota, what counts for it, and what a client reads of it."""
    one, other = Client(device), Client(device)
    expect([one.upload().status_code for _ in range(3)], [202, 202, 429], "per device")
    expect(other.upload().status_code, 202, "another device")
    expect(one.text(**READING).status_code, 200, "an upload of another journey")
    body = refused(one.upload(), 429, "RATE_LIMIT_EXCEEDED")
    assert body["retryable"] is True and 50_000 < body["retryAfterMs"] <= 60_000, body
    answer = one.upload()
    assert 50 < int(answer.headers["Retry-After"]) <= 60 and answer.headers["X-RateLimit-Remaining"] == "0", answer.headers

    clients = [Client(address) for _ in range(4)]
    answers = [clients[0].upload(), clients[1].text(**READING), clients[2].upload(), clients[3].text(**READING)]
    expect([answer.status_code for answer in answers], [202, 200, 429, 429], "per address")
    expect([answer.headers["X-RateLimit-Remaining"] for answer in answers[:2]], ["1", "0"], "X-RateLimit-Remaining")

    expect([Client(everyone).text(**READING).status_code for _ in range(3)], [200, 200, 429], "of texts, per all")
    expect([Client(everyone).upload("/api/batch-scan", "photos").status_code for _ in range(4)], [202, 202, 202, 429], "of shelves, per all")
    answer = Client(everyone).upload("/api/batch-scan", "photos")
    error = answer.json()["error"]
    expect((answer.json()["success"], error["code"], error["retryable"]), (False, "RATE_LIMIT_EXCEEDED", True), "a 429 of v2")
    assert 50 < answer.json()["retryAfter"] <= 60 and 50 < int(answer.headers["Retry-After"]) <= 60, answer.json()
    expect(Client(everyone).upload().status_code, 202, "a scan of v3")

    one = Client(each)
    for name, (status, request) in COUNTED.items():
        expect([request(one).status_code for _ in range(2)], [status, 429], f"of {name}")


@check("enrichment-body", nested=[], flat=["enrichment-body=flat"], rationed=["rate-limit=2 per 1m"])
def enrichment_body(nested, flat, rationed):
    """Look-ups by text: both forms of the answer (section 7, C24), what is refused, and the quota."""
    client = Client(nested)
    answer = client.text(**READING)
    body = answer.json()
    expect((answer.status_code, set(body)), (200, {"jobId", "enrichment", "source", "confidence"}), "nested")
    found = body["enrichment"]
    expect((found["verifiedTitle"], found["verifiedAuthor"], body["source"]), ("Middlemarch", "George Eliot", "talaria"), "nested")
    assert 0 <= body["confidence"] <= 1 and body["jobId"] and isinstance(body["jobId"], str), body
    plain = Client(flat).text(**READING).json()
    expect(plain, found | {"confidence": body["confidence"]}, "flat")

    expect(client.text(text="x" * 10_000).status_code, 200, "10,000 characters")
    for members, status, code in [
        ({}, 400, "INVALID_REQUEST"), ({"text": 1984}, 400, "INVALID_REQUEST"), ({"text": "x" * 10_001}, 400, "INVALID_REQUEST"),
        ({"text": "a", "title": "x" * 1_001}, 400, "INVALID_REQUEST"), ({"text": "a", "other": "x" * 66_000}, 413, "FILE_TOO_LARGE"),
    ]:
        refused(client.text(**members), status, code)
    refused(client.request("POST", TEXTS, data="{", headers={"Content-Type": "application/json"}), 400, "INVALID_REQUEST")
    refused(client.request("GET", TEXTS), 405, "METHOD_NOT_ALLOWED")
    refused(requests.post(nested + TEXTS, json=READING, timeout=SECONDS_MAX), 400, "MISSING_PARAMETER")
    refused(Client(nested, "42").text(**READING), 400, "INVALID_REQUEST")

    client = Client(rationed)
    expect([client.text(**READING).status_code for _ in range(2)], [200, 200], "within the quota")
    assert refused(client.text(**READING), 429, "RATE_LIMIT_EXCEEDED")["retryAfterMs"] > 50_000


# Runs


def attempt(binary, name, is_proxied):
    """What is wrong with a check, or None."""
    function, servers = CHECKS[name]
    started = []
    try:
        bases = {}
        for server, settings in servers.items():
            words = [word for setting in QUICK + settings for word in ("--set", "server." + setting)]
            started.append(runs.Server(binary, words))
            if is_proxied:
                started.append(runs.Server(binary, ["--upstream", started[-1].base], command="proxy"))
            bases[server] = started[-1].base
        function(**bases)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)
        line = next(frame.lineno for frame in reversed(place) if frame.filename == __file__)
        return f"{type(error).__name__}, line {line}: {str(error)[:2000]}"
    finally:
        for server in reversed(started):
            server.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(runs.ROOT, ".build/release/swiftwing-sim"))
    parser.add_argument("--check", action="append", choices=list(CHECKS), help="only this one (repeatable)")
    parser.add_argument("--proxy", action="store_true", help="read everything through the gateway")
    options = parser.parse_args()
    failed = 0
    for name in options.check or CHECKS:
        wrong = attempt(options.binary, name, options.proxy)
        failed += wrong is not None
        print(f"{name}: {wrong or 'as documented'}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
