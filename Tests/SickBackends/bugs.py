"""The table of switches: each is one bug that a backend engineer could make."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

ALWAYS, LOAD = "always", "under load"
RESUME, RETRY, DELETE = "after a resume", "after a retry", "after a DELETE"
MANY, ODD, HTTP = "many books", "odd characters", "HTTP"


@dataclass(frozen=True)
class Switch:
    """One bug: its name, the dialect that has it, when it shows, and what it does."""

    name: str
    dialect: str
    when: str
    what: str


ROWS = (
    # The answer to an upload.
    Switch("upload-201", "v3", ALWAYS, "An upload is answered with 201 in place of 202."),
    Switch("upload-flat", "v3", ALWAYS, "The body of the 202 is not wrapped in `success` and `data`."),
    Switch("upload-internal-host", "both", ALWAYS,
           "The links of the 202 name a host that only the data center knows."),
    Switch("upload-job-id-number", "v3", ALWAYS,
           "`jobId` of the 202 is a number, and another id than that of the links."),
    Switch("upload-no-token", "v3", ALWAYS, "The 202 has no `authToken`, but the job needs one."),
    Switch("upload-stream-url-key", "v3", ALWAYS,
           "The 202 names the stream `streamUrl` in place of `sseUrl`."),
    Switch("upload-success-words", "v3", ALWAYS, "`success` of the 202 is the word \"true\"."),
    # Races, caches and queues.
    Switch("load-id-clock", "both", LOAD,
           "Job ids come from a clock of half a second, so that two uploads share one."),
    Switch("load-lost-update", "both", LOAD,
           "The list of finished jobs is written back whole; results of some stay 404."),
    Switch("load-cache-device", "v3", LOAD, "Results are cached for a second without the job in the key."),
    Switch("load-latency", "both", LOAD, "Every request takes 10 ms longer for each job that was ever made."),
    Switch("load-misrouted", "both", LOAD,
           "Every fifth event is replaced by the last event of another running job."),
    Switch("load-scratch", "both", LOAD, "Jobs at work share one variable for their books."),
    Switch("load-token-swap", "v3", LOAD,
           "The 202 reads its token from a variable that later uploads overwrite."),
    Switch("load-foreign-progress", "both", LOAD,
           "Progress events have the `jobId` and the counts of another job."),
    Switch("load-four-streams", "both", LOAD,
           "A fifth stream that is open at the same time gets pings only."),
    Switch("load-one-worker", "both", LOAD, "One worker does all jobs, one after another."),
    Switch("load-503", "both", LOAD,
           "With three jobs at work, uploads get 503 without a wait, not retryable."),
    # Resumed streams.
    Switch("resume-ignored", "both", RESUME,
           "Last-Event-ID is ignored: a resumed stream begins with the last event."),
    Switch("resume-live-only", "both", RESUME, "A resumed stream has only what happens after it was opened."),
    Switch("resume-one-early", "both", RESUME, "A resumed stream repeats the event of Last-Event-ID."),
    Switch("resume-one-late", "both", RESUME,
           "A resumed stream leaves out the first event after Last-Event-ID."),
    Switch("resume-from-start", "both", RESUME, "A resumed stream begins with the first event of the job."),
    Switch("resume-changed-data", "both", RESUME,
           "Replayed events keep their ids, but have other counts and titles."),
    Switch("resume-half-books", "v3", RESUME, "A replayed `completed` has every second book only."),
    Switch("resume-never-ends", "both", RESUME, "A resumed stream stays open behind the terminal event."),
    Switch("resume-no-terminal", "both", RESUME, "A resumed stream ends without its terminal event."),
    Switch("resume-ids-restart", "both", RESUME, "The ids of replayed events are 1, 2, 3."),
    Switch("resume-no-ids", "both", RESUME, "Replayed events have no ids."),
    Switch("resume-newest-first", "both", RESUME, "Events are replayed in reverse order."),
    Switch("resume-unknown-id-500", "both", RESUME, "A Last-Event-ID that is not in the buffer gets 500."),
    Switch("resume-404", "both", RESUME, "A resumed stream gets 404, as if another instance had the job."),
    Switch("resume-204", "both", RESUME,
           "Resuming the stream of a job that is over gets 204 without events."),
    Switch("token-once", "both", RESUME, "The token opens one stream; the next one gets 401."),
    # The same photo again.
    Switch("retry-first-photo", "both", RETRY,
           "Every later upload of a device finds the books of its first photo."),
    Switch("retry-dead-job", "v3", RETRY,
           "The same photo again gets the job of the first upload, even if it is removed."),
    Switch("retry-doubles-books", "both", RETRY, "The same photo again has every book twice."),
    Switch("retry-no-books", "both", RETRY, "The same photo again has no books."),
    Switch("retry-conflict", "both", RETRY, "The same photo again gets 409."),
    Switch("retry-kills-first", "both", RETRY,
           "An upload stops the jobs of the device that are at work, without an event."),
    Switch("retry-refused-counts", "both", RETRY,
           "A refused upload counts too, so that the wait begins anew."),
    # Removal.
    Switch("delete-nothing", "both", DELETE, "DELETE answers with success and removes nothing."),
    Switch("delete-stream-open", "both", DELETE, "DELETE of a running job leaves its streams open for ever."),
    Switch("delete-results-stay", "v3", DELETE, "Results are still 200 after DELETE."),
    Switch("delete-again-500", "both", DELETE, "A second DELETE gets 500."),
    Switch("delete-again-401", "v3", DELETE, "A second DELETE gets 401, because the token is gone."),
    Switch("delete-405", "v3", DELETE, "DELETE of `/cleanup` is not allowed."),
    Switch("delete-500-but-done", "v3", DELETE, "DELETE gets 500 although the job is removed."),
    Switch("delete-slow", "v3", DELETE, "DELETE takes six seconds."),
    Switch("delete-all-of-device", "both", DELETE,
           "DELETE removes all jobs of the device, also those not read yet."),
    Switch("delete-on-end", "both", DELETE,
           "The job is removed with its terminal event, before its results are read."),
    Switch("delete-leaks-worker", "both", DELETE,
           "Each DELETE loses a worker; after four of them new jobs do nothing."),
    # Many books.
    Switch("many-20", "both", MANY, "Of more than 20 books only 20 are shown; the totals are right."),
    Switch("many-inline-20", "v3", MANY, "`completed` has 20 books at most; the results have all."),
    Switch("many-page-lost", "both", MANY,
           "The second page of ten is missing in results with more than 20 books."),
    Switch("many-page-overlap", "both", MANY,
           "The pages of ten overlap in results, so that books come twice."),
    Switch("many-last-page-short", "both", MANY, "The last page is lost if it has fewer than ten books."),
    Switch("many-line-split", "v3", MANY, "A data line is broken after 4096 bytes without a new `data:`."),
    Switch("many-stalls", "both", MANY, "A job with more than 20 books never goes on."),
    # Characters.
    Switch("odd-mojibake", "both", ODD, "Titles in UTF-8 are read as Latin-1."),
    Switch("odd-mojibake-results", "both", ODD, "Titles in UTF-8 are read as Latin-1, in results alone."),
    Switch("odd-nfd-results", "both", ODD, "Results have decomposed characters (NFD), events composed ones."),
    Switch("odd-html", "both", ODD, "Titles have HTML escapes such as `&amp;`."),
    Switch("odd-surrogate-cut", "both", ODD, "Titles end after 21 UTF-16 units, in the middle of an emoji."),
    Switch("odd-emoji-dropped", "both", ODD, "Characters beyond U+FFFF are dropped, as in MySQL's utf8."),
    Switch("odd-question-marks", "both", ODD, "Characters beyond Latin-1 become question marks."),
    Switch("odd-double-escape", "both", ODD, "Titles are escaped twice, so that `\\u00e9` is seen."),
    Switch("odd-ascii-results", "both", ODD,
           "Results have titles without accents, and nothing of other scripts."),
    Switch("odd-case-results", "both", ODD, "Results have titles in upper case."),
    Switch("odd-raw-newlines", "both", ODD,
           "The data of events is indented JSON, with `data:` before the first line only."),
    Switch("odd-quotes-raw", "both", ODD, "Quotes within titles are not escaped in the JSON."),
    Switch("odd-bom", "both", ODD, "Results begin with a byte order mark."),
    Switch("odd-latin1-bytes", "both", ODD, "JSON is sent in Latin-1."),
    Switch("odd-utf8-split", "v3", ODD,
           "Data is decoded in pieces of 64 bytes, and characters on a border are broken."),
    # Times.
    Switch("time-no-zone", "both", ALWAYS, "Timestamps are local times without a zone."),
    Switch("time-zone-lie", "both", ALWAYS, "Timestamps are local times marked as UTC, seven hours off."),
    Switch("time-epoch", "both", ALWAYS, "Timestamps are seconds since 1970."),
    Switch("time-12-hours", "both", ALWAYS, "Timestamps have the hour of a twelve-hour clock."),
    Switch("time-expiry-past", "v2", ALWAYS, "`expiresAt` is seven hours too early."),
    Switch("time-reset-ms", "both", ALWAYS, "X-RateLimit-Reset is in milliseconds."),
    # HTTP.
    Switch("http-sse-type", "both", HTTP, "A stream has the content type application/json."),
    Switch("http-buffer-4k", "both", HTTP, "A stream is flushed when 4096 bytes have come together."),
    Switch("http-buffer-end", "both", HTTP, "A stream is flushed at its end."),
    Switch("http-idle-cut", "both", HTTP, "A proxy ends a stream after 0.3 s of silence."),
    Switch("http-no-last-chunk", "both", HTTP, "A stream ends without its last chunk."),
    Switch("http-blank-line-missing", "both", HTTP, "Events are not followed by a blank line."),
    Switch("http-stream-length", "both", HTTP,
           "A stream has a Content-Length in place of chunked coding, but chunks."),
    Switch("http-close-early", "both", HTTP,
           "Connections are closed after an answer without `Connection: close`."),
    Switch("http-gzip", "both", HTTP, "JSON is compressed although no client asked for it."),
    Switch("http-redirect", "both", HTTP,
           "POST gets a 302 to the path with a slash, and loses its method there."),
    Switch("http-html-errors", "both", HTTP, "Errors are HTML pages."),
    Switch("http-errors-200", "both", HTTP, "Errors have the status 200."),
    Switch("http-json-type", "both", HTTP, "JSON has the content type text/html."),
    Switch("http-length-long", "both", HTTP, "Content-Length of JSON is 16 bytes too large."),
    Switch("http-length-short", "both", HTTP, "Content-Length of JSON is 16 bytes too small."),
    Switch("http-204-body", "v3", HTTP, "A 204 has a body."),
    Switch("http-duplicate-headers", "both", HTTP,
           "JSON has two different headers Content-Type and X-Request-ID."),
    # Tokens and devices.
    Switch("token-unchecked", "both", ALWAYS, "Tokens are not looked at."),
    Switch("token-any-job", "both", ALWAYS, "The token of any job opens every job."),
    Switch("token-3s", "both", ALWAYS, "Tokens expire after three seconds."),
    Switch("token-wrong-code", "both", ALWAYS, "A 401 has the code MISSING_PARAMETER."),
    Switch("token-403", "both", ALWAYS, "A missing or wrong token gets 403 in place of 401."),
    Switch("device-unchecked", "v3", ALWAYS, "X-Device-ID may be missing or anything."),
    # Waits.
    Switch("wait-none", "both", ALWAYS, "A 429 says no wait."),
    Switch("wait-disagree", "both", ALWAYS, "Retry-After is always 1, whatever the body says."),
    Switch("wait-ms-header", "both", ALWAYS, "Retry-After is in milliseconds."),
    Switch("wait-seconds-in-body", "both", ALWAYS, "`retryAfterMs` is in seconds."),
    Switch("wait-month", "both", ALWAYS, "A 429 asks for a wait of a month."),
    Switch("wait-zero", "both", ALWAYS, "`retryAfterMs` is 0."),
    Switch("wait-negative", "both", ALWAYS, "`retryAfterMs` is negative."),
    Switch("wait-words", "both", ALWAYS, "Retry-After has the unit behind its number."),
    Switch("wait-past-date", "both", ALWAYS, "Retry-After is a date of 1970, and the body has no wait."),
    Switch("wait-per-ip", "both", LOAD, "Uploads are counted per address in place of per device."),
    Switch("wait-not-enforced", "both", ALWAYS, "The limit is announced, but never acts."),
    Switch("wait-one-early", "both", ALWAYS, "The limit acts one upload too early."),
    # Ids of events.
    Switch("id-equal", "both", ALWAYS, "All events of a job have the same id."),
    Switch("id-falling", "both", ALWAYS, "Ids fall with time."),
    Switch("id-shared", "both", ALWAYS, "All progress events of a job share one id."),
    Switch("id-shared-types", "both", ALWAYS, "The terminal event has the id of the event before it."),
    Switch("id-missing", "both", ALWAYS, "Events have no ids."),
    Switch("id-ping-zero", "v3", ALWAYS, "Pings have the id `0-ping`, which no stream can continue from."),
    Switch("id-terminal-empty", "both", ALWAYS, "The terminal event has an empty id."),
    # Events.
    Switch("event-two-terminals", "both", ALWAYS, "`completed` comes twice."),
    Switch("event-error-after", "both", ALWAYS, "A failure follows `completed`."),
    Switch("event-after-terminal", "both", ALWAYS, "Progress follows `completed`."),
    Switch("event-no-terminal", "both", ALWAYS, "A stream ends without a terminal event."),
    Switch("event-open-after-end", "both", ALWAYS, "A stream stays open behind the terminal event."),
    Switch("event-terminal-only", "both", ALWAYS, "A stream has no progress events."),
    Switch("event-backwards", "both", ALWAYS, "Progress falls to 0 when the books are looked up."),
    Switch("event-percent", "both", ALWAYS, "Progress goes from 0 to 100."),
    Switch("event-count-over", "both", ALWAYS,
           "`processedCount` is one too large, and above `totalCount` at the end."),
    Switch("event-no-message", "v3", ALWAYS, "Progress events have no message."),
    Switch("event-type-differs", "v3", ALWAYS, "`data.type` of progress events is `update`."),
    Switch("event-no-results-url", "v3", ALWAYS, "`completed` has neither `resultsUrl` nor books."),
    Switch("event-wrong-results-url", "v3", ALWAYS,
           "`completed` has no books and a `resultsUrl` that does not exist."),
    Switch("event-empty-books", "v3", ALWAYS, "`completed` has an empty list of books."),
    Switch("event-books-words", "v3", ALWAYS, "`books` of `completed` is a string with JSON in it."),
    Switch("event-completed-of-other", "v3", LOAD, "`completed` is that of the newest other job."),
    Switch("event-totals-zero", "both", ALWAYS, "The summary says that nothing was found."),
    Switch("event-unknown-status", "both", ALWAYS, "`enrichmentStatus` is `complete` or `partial`."),
    Switch("event-null-title", "both", ALWAYS, "The first book has the title null."),
    Switch("event-duplicate-book", "both", ALWAYS, "The first book comes twice; the totals count it once."),
    Switch("event-isbn-number", "both", ALWAYS, "`isbn` is a number."),
    Switch("event-isbn-wrong", "both", ALWAYS, "`isbn` has a wrong check digit."),
    Switch("event-confidence-words", "both", ALWAYS, "`confidence` is a string."),
    Switch("event-confidence-percent", "both", ALWAYS, "`confidence` goes from 0 to 100."),
    Switch("event-canceled-open", "both", ALWAYS, "A canceled job does not end its streams."),
    Switch("event-no-ping", "both", ALWAYS, "A quiet stream has no pings or heartbeats."),
    Switch("event-stalls", "both", ALWAYS, "Every third job stops after its first event."),
    # Results.
    Switch("results-lite-no-review", "v3", ALWAYS, "`format=lite` leaves out books that need a review."),
    Switch("results-full-differs", "v3", ALWAYS, "`format=full` has null for every ISBN."),
    Switch("results-half", "both", ALWAYS, "Results have the first half of the books only."),
    Switch("results-one-missing", "both", ALWAYS, "Results are in another order, and one book is missing."),
    Switch("results-empty-first", "both", ALWAYS, "The first request for results gets an empty list."),
    Switch("results-status-back", "both", ALWAYS, "Results say `pending` for every book."),
    Switch("results-totals", "both", ALWAYS, "The summary promises one more book than there is."),
    Switch("results-author-lost", "both", ALWAYS, "Books of lite results, and of v2, have no author."),
    Switch("results-swapped", "both", ALWAYS, "Results have title and author in each other's place."),
    Switch("results-key-books", "v3", ALWAYS, "Results are under `data.books`."),
    Switch("results-bare", "v3", ALWAYS, "Results are not wrapped in `success` and `data`."),
    Switch("results-null", "both", ALWAYS, "Results are null."),
    Switch("results-404", "both", ALWAYS, "Results are always 404."),
    Switch("results-late", "both", ALWAYS, "Results are 404 for two seconds after `completed`."),
    Switch("results-short-life", "both", ALWAYS, "Results are 404 half a second after `completed`."),
    # Status.
    Switch("status-early", "both", ALWAYS, "The status says `completed` while the job is at work."),
    Switch("status-forever", "both", ALWAYS, "The status says `processing` for ever."),
    Switch("status-of-other", "v3", LOAD, "The status is that of the newest other job."),
    Switch("status-queued", "v3", ALWAYS, "The status has words of its own: queued, running, done."),
    Switch("status-percent", "v3", ALWAYS, "`progress` of the status is a string such as `40%`."),
    Switch("status-cancel-ignored", "v3", ALWAYS, "A cancel gets 200, and the job goes on."),
    # Errors.
    Switch("problem-no-code", "both", ALWAYS, "Errors have no `code`."),
    Switch("problem-plain", "both", ALWAYS, "Errors are plain text."),
    Switch("problem-success-true", "both", ALWAYS, "Errors have `success: true`."),
    Switch("problem-no-retryable", "both", ALWAYS, "Errors have no `retryable`."),
    Switch("problem-retryable-wrong", "both", ALWAYS,
           "`retryable` of errors is the opposite of what is right."),
    Switch("problem-status-differs", "v3", ALWAYS, "`status` in the body of errors is 500."),
    Switch("problem-array", "both", ALWAYS, "Errors are a list under `errors`."),
    # v2 alone.
    Switch("v2-no-envelope", "v2", ALWAYS, "Bodies are not wrapped in `success` and `data`."),
    Switch("v2-token-gone", "v2", ALWAYS, "The 202 has neither `authToken` nor `token`."),
    Switch("v2-wrong-folder", "v2", ALWAYS, "`sseUrl` of the 202 does not exist."),
    Switch("v2-first-event", "v2", ALWAYS, "The first event of a new job is named `processing`."),
    Switch("v2-heartbeat-data", "v2", ALWAYS, "Heartbeats are data in place of comments."),
    Switch("v2-failures-hidden", "v2", ALWAYS,
           "The summary of a batch or import counts every row as a success."),
    Switch("v2-batch-50", "v2", MANY, "A batch has the first 50 books only."),
    Switch("v2-batch-shifted", "v2", ALWAYS, "Each book of a batch has title and author of the next one."),
    Switch("v2-import-comma", "v2", ODD, "Rows are split at commas within quotes."),
    Switch("v2-import-last-row", "v2", ALWAYS, "The last row of a file is lost."),
    Switch("v2-import-duplicates", "v2", ALWAYS, "Rows with the same book are imported as well as skipped."),
    Switch("v2-import-row-numbers", "v2", ALWAYS, "Rows with a flaw are numbered with the header."),
    Switch("v2-import-totals", "v2", ALWAYS, "`booksCreated` is the number of all rows."),
    Switch("v2-isbn-cut", "v2", ALWAYS, "The ISBN of a looked-up book has no prefix."),
    Switch("v2-unknown-book-200", "v2", ALWAYS, "A book that nobody has gets 200 without data."),
)
# Written after the checks of the program.
LATER: tuple[Switch, ...] = (
    # Uploads, tokens and times.
    Switch("upload-job-late", "both", ALWAYS, "A new job is 404 for half a second after its 202."),
    Switch("token-newest-only", "both", RETRY,
           "An upload ends the tokens of the earlier jobs of its device."),
    Switch("retry-locked", "both", RETRY,
           "An upload that breaks off leaves a lock, and later ones of the device get 409."),
    Switch("time-id-local", "both", ALWAYS, "The ids of events are local times, seven hours off."),
    Switch("results-null-words", "both", ALWAYS,
           "Results have the word \"null\" for an ISBN or a cover that there is not."),
    # Streams.
    Switch("load-device-channel", "both", LOAD,
           "The events of a device have one channel: a stream brings those of its other jobs too."),
    Switch("load-terminal-held", "both", LOAD,
           "With another job at work, the terminal event is sent with the next ping."),
    Switch("resume-gap", "both", RESUME,
           "A resumed stream loses what happens in the half second after its replay."),
    Switch("resume-whole-seconds", "both", RESUME,
           "A resumed stream leaves out the events of the second of Last-Event-ID."),
    Switch("many-30-events", "both", MANY, "A stream brings 30 events at most, and then pings only."),
    # Removal, characters and connections.
    Switch("delete-shard", "both", DELETE,
           "DELETE removes every job whose id begins with the same digit, of all devices."),
    Switch("delete-id-reused", "both", DELETE, "The id of a removed job is that of the next new job."),
    Switch("odd-same-key", "both", ODD,
           "Results merge books by the ASCII of the title; of other scripts one is left."),
    Switch("http-chunk-characters", "v3", HTTP,
           "The sizes of chunks count characters in place of bytes."),
    Switch("http-kept-status", "both", HTTP,
           "On a kept connection, answers with JSON have the status of the first one."),
    # v2 alone.
    Switch("v2-status-upper", "v2", ALWAYS, "The status of jobs is in upper case."),
    Switch("v2-batch-nulls", "v2", ALWAYS, "Books of a batch that were not found are null in its results."),
    Switch("v2-import-adds-up", "v2", ALWAYS,
           "Imports share their counters, so that each goes on from the one before."),
    Switch("v2-lookup-shared", "v2", LOAD, "A look-up of a book answers all others for a second."),
    Switch("v2-delete-empty", "v2", DELETE, "DELETE has no body."),
)
TABLE = {row.name: row for row in (*ROWS, *LATER)}


class Switches:
    """The switches that are on; an unknown name is an error, so that none can be misspelled."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.on = frozenset(names)
        missing = self.on - TABLE.keys()
        if missing:
            raise ValueError(f"no such switch: {', '.join(sorted(missing))}")

    def __call__(self, name: str) -> bool:
        """Tell whether a switch is on."""
        if name not in TABLE:
            raise KeyError(name)
        return name in self.on
