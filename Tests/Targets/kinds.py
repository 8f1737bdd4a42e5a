"""The scenarios of targets.py, with what must come of each."""

import collections

# The backends by name: a program of this folder with its options.
BACKENDS = {
    "contract": "talaria.py",
    "flat": "talaria.py --enrichment flat",
    "without-texts": "talaria.py --enrichment off",
    "books": "books.py",
    "progressive": "progressive.py",
    "canceling": "progressive.py --cancel 3",
}
FAULT = "injected"  # the id of the fault of a run
DRAIN = "180s"  # A phone gives up an upload after its request-timeout and the time that its bytes take at 8 kB/s.
SHORT_DRAIN = "8s"  # where nothing is to be finished

# What a run must lose: the classes of scans in which some end, with the exit code and its reasons.
Loss = collections.namedtuple("Loss", "classes exit reasons why", defaults=(0, [], ""))
MISREAD = Loss([], 99, ["objective-failed"], "the answer has not the form that the phones read, and they keep what they have read")
CANCELED = Loss(["refused", "refused_unexplained"], 99, ["objective-failed"], "the backend has canceled these jobs")

# A kind of scenario: its groups, the faults that are a part of it, whose ids are its own, its backend, what a run of it must lose, and
# the counters that are as many as the scans or the books. `extends` is a shipped scenario, whose faults are its own.
Kind = collections.namedtuple("Kind", "fleet faults backend loss counts extends", defaults=([], "contract", Loss([]), {}, None))


def shipped(name, backend, *unjudged):
    """A shipped scenario. A target cannot be judged by the objectives in `unjudged`."""
    slo = "".join("  %s: {expect: %s, not-judged: pass}\n" % objective for objective in unjudged)
    return Kind("slo:\n" + slo if slo else "", backend=backend, extends=name)


BOOKS = ("books.missing", "count == 0")
TEXTS = ("reconcile.wrong", "rate < 5%")
READERS = """
  readers: {phones: 6, journey: text-enrichment, scans: 2, arrivals: 4/s, regions: 2..4, reader: {time: 50ms..150ms}%s}
"""
KINDS = {
    # v3
    "open": Kind("""
  phones: {phones: 8, scans: 2, arrivals: 4/s, idle-timeout: 4s, request-timeout: 4s}
  shelves: {phones: 3, scans: 2, arrivals: 2/s, photos-per-scan: 2..3, idle-timeout: 4s, request-timeout: 4s}
"""),
    "killed": Kind("""
  phones: {phones: 6, scans: 2, think: 200ms..800ms, network: wifi}
  fetching: {phones: 4, scans: 2, think: 200ms..800ms, network: wifi, inline-books: off}
""", ["{do: kill, id: killed, at: 500ms..4s, for: 500ms, scope: 50% of phones}"]),
    "canceled": Kind("""
  phones: {phones: 10, scans: 2, think: 200ms..800ms, cancel: {chance: 50%, after: 200ms..1500ms}}
"""),
    "polling": Kind("""
  pollers: {phones: 6, scans: 2, think: 200ms..800ms, status-polling: always, request-timeout: 4s}
  switchers: {phones: 4, scans: 2, think: 200ms..800ms, status-polling: after-loss, request-timeout: 4s}
"""),
    "fetching": Kind("""
  phones: {phones: 8, scans: 2, arrivals: 4/s, inline-books: off, request-timeout: 4s}
"""),
    # Several scans a moment: errors of one phone come between the requests of another.
    "crowd": Kind("""
  phones: {phones: 30, scans: 1, arrivals: 30/s, request-timeout: 4s}
"""),
    # v2
    "imports": Kind("""
  readers: {phones: 8, journey: csv-import, library: {rows: 10..80}, scans: 2, think: 200ms..800ms}
  undecided: {phones: 4, journey: csv-import, library: {rows: 10..80}, scans: 1, think: 200ms..800ms, cancel: {chance: 70%, after: 200ms..1s}}
"""),
    "shelves": Kind("""
  readers: {phones: 8, journey: bookshelf-scan, photos-per-scan: 1..3, scans: 2, arrivals: 4/s}
"""),
    "batches": Kind("""
  readers: {phones: 6, journey: batch-enrichment, scans: 2, think: 200ms..800ms}
  barcodes: {phones: 6, journey: batch-enrichment, batch-form: barcodes, scans: 2, think: 200ms..800ms}
"""),
    "look-ups": Kind("""
  scanners: {phones: 10, journey: book-enrichment, scans: 4, repeats: 20%, arrivals: 8/s}
"""),
    # What a phone has read on spines
    "texts": Kind(READERS % "", counts={"texts.enriched": "captured"}),
    "flat-texts": Kind(READERS % ", enrichment-answer: flat", backend="flat", counts={"texts.enriched": "captured"}),
    "nested-for-flat": Kind(READERS % ", enrichment-answer: flat", loss=MISREAD, counts={"texts.kept": "captured"}),
    "flat-for-nested": Kind(READERS % "", backend="flat", loss=MISREAD, counts={"texts.kept": "captured"}),
    "photos-for-texts": Kind(READERS % "", backend="without-texts", counts={"texts.photos": "captured"}),
    # Forms of plans
    "books": Kind("""
  shelves: {phones: 4, journey: bookshelf-scan, photos-per-scan: 1..3, scans: 2, arrivals: 4/s}
  batches: {phones: 4, journey: batch-enrichment, scans: 2, think: 200ms..800ms}
  barcodes: {phones: 4, journey: batch-enrichment, batch-form: barcodes, scans: 2, think: 200ms..800ms}
  importers: {phones: 4, journey: csv-import, library: {rows: 10..80}, scans: 2, think: 200ms..800ms}
""", backend="books"),
    "book-look-ups": Kind("""
  scanners: {phones: 10, journey: book-enrichment, scans: 4, repeats: 20%, arrivals: 8/s}
""", backend="books"),
    "progressive": Kind("""
  phones: {phones: 8, scans: 2, arrivals: 4/s, idle-timeout: 4s, request-timeout: 4s}
""", backend="progressive", counts={"shown": "received"}),
    "resumed-previews": Kind("""
  phones: {phones: 8, scans: 2, arrivals: 4/s, network: wifi}
""", [
        "{do: reset, id: within, on: stream, after: 100KiB, chance: 30%}",
        "{do: reset, id: behind, on: stream, after: 6..12 events, chance: 30%}",
    ], backend="progressive"),
    "old-phones": Kind("""
  phones: {phones: 8, scans: 2, arrivals: 4/s, result-events: ignored}
""", backend="progressive"),
    "canceling": Kind("""
  phones: {phones: 9, scans: 1, arrivals: 6/s}
""", backend="canceling", loss=CANCELED),
    # Shipped scenarios
    "staging-smoke": shipped("staging-smoke", "progressive"),
    "text-enrichment": shipped("text-enrichment", "contract", BOOKS, TEXTS),
    "hybrid-low-confidence": shipped("hybrid-low-confidence", "progressive", BOOKS, TEXTS),
    "progressive-results": shipped("progressive-results", "progressive", BOOKS),
}

REFUSED = Loss(["refused"], why="the answer is final, and the user is shown it")
NO_ROOM = Loss(["refused"], why="a photo that cannot be stored is refused visibly")
REMOVED = Loss(["discarded"], why="the scans of an app that is removed are gone with it")
WAITING = Loss(["waiting"], 99, ["objective-failed"], "no attempt succeeds, so the scans wait on the phone")
NOT_DELETED = Loss([], 99, ["objective-failed"], "no DELETE succeeds, so the jobs stay")

# A run with a fault: the kind of scenario, the keys of the fault behind `do` and `id`, what it loses, and the time to finish.
Variant = collections.namedtuple("Variant", "kind keys loss drain", defaults=(None, DRAIN))
VARIANTS = {
    "rate-limit": [Variant("open", "quota: 1 per 2s, retry-after: 1s"), Variant("texts", "quota: 3 per 2s, retry-after: 1s")],
    "http-error": [
        Variant("open", "on: upload, status: 503, retry-after: 1s, chance: 50%"),
        Variant("open", "on: stream, status: 429, retry-after: 1s, chance: 50%"),
        Variant("fetching", "on: results, status: 502, chance: 50%"),
        Variant("open", "on: cleanup, status: 500, chance: 50%"),
        Variant("polling", "on: status, status: 503, chance: 50%"),
        Variant("open", "on: upload, status: 413, chance: 30%", REFUSED),
        Variant("open", "on: upload, status: 503, count: 50, chance: 30%", WAITING, SHORT_DRAIN),
        Variant("open", "on: cleanup, status: 500, count: each-attempt, chance: 30%", NOT_DELETED, SHORT_DRAIN),
        Variant("look-ups", "on: upload, status: 503, code: CIRCUIT_OPEN, retry-after: 1s, chance: 30%"),
        Variant("texts", "on: upload, status: 503, chance: 30%"),
    ],
    "strip-books": [Variant("open", "as: empty, chance: 50%"), Variant("open", "as: renamed, chance: 50%")],
    "truncate-results": [Variant("fetching", "chance: 50%"), Variant("imports", "chance: 50%"),
                         Variant("fetching", "count: 50, chance: 30%", WAITING, SHORT_DRAIN)],
    "reorder-results": [Variant("fetching", "chance: 50%"), Variant("batches", "chance: 50%")],
    "expire-token": [Variant("open", "after: 500ms, chance: 40%"), Variant("crowd", "after: 50ms, chance: 60%"),
                     Variant("polling", "on: status, chance: 40%")],
    "job-gone": [
        Variant("open", "on: stream, status: 404, chance: 30%"),
        Variant("crowd", "on: stream, status: 404, chance: 60%"),
        Variant("fetching", "on: results, status: 410, chance: 30%"),
        Variant("polling", "on: status, chance: 30%"),
    ],
    "retryable-error": [Variant("open", "after: 2 events, chance: 30%"), Variant("imports", "after: 2 events, chance: 30%")],
    "final-error": [Variant("open", "after: 1 events, chance: 20%", REFUSED), Variant("batches", "after: 1 events, chance: 20%", REFUSED),
                    Variant("crowd", "after: 1 events, chance: 60%", REFUSED)],
    "degraded": [Variant("open", "books: 50%, chance: 50%")],
    "slow-stage": [Variant("open", "stage: identifying, by: 500ms..1s, chance: 50%")],
    "unknown-event": [Variant("open", "after: 1 events, chance: 50%"), Variant("shelves", "after: 1 events, chance: 50%")],
    "bad-json": [
        Variant("open", "in: completed, chance: 50%"),
        Variant("batches", "in: progress, chance: 50%"),
        Variant("open", "in: extra, chance: 50%"),
    ],
    "no-message": [Variant("open", "chance: 50%")],
    "split-data": [Variant("open", "chance: 50%"), Variant("shelves", "chance: 50%")],
    "late-ping": [Variant("open", "by: 400ms, chance: 80%")],
    "no-ping": [Variant("open", "chance: 50%")],
    "two-terminals": [Variant("open", "chance: 50%"), Variant("shelves", "chance: 50%")],
    "end-without-terminal": [Variant("open", "chance: 40%"), Variant("shelves", "chance: 40%")],
    "ignore-last-event-id": [],  # below, with a fault that makes phones resume
    "forget-events": [],
    "reset": [
        Variant("open", "on: stream, after: 1..4 events, cut: inside-event, chance: 50%"),
        Variant("open", "on: upload, side: request, after: 4KiB, chance: 40%"),
        Variant("open", "on: upload, side: reply, after: 40 bytes, chance: 40%"),
        Variant("fetching", "on: results, after: 100 bytes, chance: 50%"),
        Variant("open", "on: cleanup, after: 10 bytes, chance: 50%"),
        Variant("polling", "on: status, after: 40 bytes, chance: 40%"),
        Variant("killed", "on: stream, after: 1..4 events, chance: 40%"),
        Variant("canceled", "on: cleanup, after: 10 bytes, chance: 50%"),
        Variant("shelves", "on: stream, after: 2 events, chance: 40%"),
        Variant("imports", "on: upload, side: reply, after: 40 bytes, chance: 40%"),
        Variant("batches", "on: stream, after: 2 events, chance: 40%"),
        Variant("look-ups", "on: upload, side: reply, after: 40 bytes, chance: 40%"),
        Variant("texts", "on: upload, side: reply, after: 40 bytes, chance: 40%"),
    ],
    "close": [Variant("open", "on: upload, side: request, after: 4KiB, chance: 40%"), Variant("open", "on: stream, after: 3 events, chance: 40%")],
    "end-cleanly": [Variant("open", "after: 1..4 events, chance: 50%"), Variant("imports", "after: 2 events, chance: 50%")],
    "silence": [Variant("open", "on: stream, after: 2 events, chance: 30%"), Variant("open", "on: upload, after: 0 bytes, chance: 20%")],
    "slice": [Variant("open", "on: stream, bytes: 1..7, chance: 50%")],
    "delay": [Variant("open", "on: link, by: 50ms..200ms")],
    "bandwidth": [Variant("open", "on: upload, rate: 8Mbps, chance: 50%")],
    "loss": [Variant("open", "on: link, share: 2%")],
    "refuse": [Variant("open", "on: upload, chance: 40%"), Variant("open", "on: stream, chance: 40%")],
    "offline": [Variant("open", "scope: 50% of phones, at: 1s..2s, for: 1500ms")],
    "handover": [Variant("open", "at: 1s..3s")],
    "background": [Variant("open", "scope: 50% of phones, at: 1s..3s, for: 1s")],
    "kill": [
        Variant("open", "scope: 50% of phones, at: 1s..3s, for: 500ms"),
        Variant("open", "after: accepted, scope: 50% of phones, for: 500ms"),
        Variant("imports", "scope: 50% of phones, at: 1s..3s, for: 500ms"),
    ],
    "reinstall": [Variant("open", "scope: 40% of phones, at: 1s..3s, for: 500ms", REMOVED)],
    "clock-skew": [Variant("open", "by: -5m, scope: 50% of phones")],
    "storage-full": [Variant("open", "scope: 50% of phones, at: 1s..2s, for: 1s", NO_ROOM)],
}
RESUMING = "{do: reset, id: cut, on: stream, after: 3 events, chance: 60%}"
WITH_RESUMES = {
    "ignore-last-event-id": [Variant("open", "chance: 80%"), Variant("shelves", "chance: 80%")],
    "forget-events": [Variant("open", "after: 2 events, chance: 80%")],
}

# Errors and findings that are the doing of a healthy target, by kind of scenario.
UNKNOWN_BARCODE = {"upload: HTTP 404": "no provider has the book", "scan refused: NOT_FOUND": "the look-up of such a book"}
UNKNOWN = "%s: expected a field of the contract, was an unknown field"
MISSING = "upload %s: expected %s, was missing"
RESULT = "stream event: expected an event of the contract, was result"
TRUE_OF_TARGETS = {
    "look-ups": UNKNOWN_BARCODE,
    "book-look-ups": UNKNOWN_BARCODE
    | {UNKNOWN % f"upload data.{name}": "S1" for name in ("work", "edition", "publisher", "publishedDate")},
    "flat-for-nested": {UNKNOWN % f"upload {name}": "the flat form" for name in
                        ("coverUrl", "publisher", "publicationYear", "verifiedTitle", "verifiedAuthor", "genre")}
    | {MISSING % (name, "a string"): "the flat form" for name in ("jobId", "source")},
    "books": {UNKNOWN % f"results data.{books}[].{name}": "S1" for books in ("books", "enrichedBooks") for name in ("work", "edition")},
}
# Those of them that a report must have.
REQUIRED = {
    "nested-for-flat": [MISSING % ("verifiedTitle", "a string"), MISSING % ("verifiedAuthor", "a string"), "upload: undecodable"],
    "flat-for-nested": [MISSING % ("enrichment", "an object"), "upload: undecodable"],
    "photos-for-texts": ["upload: HTTP 404"],
    "old-phones": [RESULT],
    "progressive-results": [RESULT],
    "canceling": ["scan refused: CANCELED"],
}
