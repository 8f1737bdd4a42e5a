"""The table of switches."""

from __future__ import annotations

from dataclasses import dataclass

# What a switch is against the contract.
BREAK = "break"
WASTE = "waste"
HARMLESS = "harmless"


@dataclass(frozen=True)
class Switch:
    """One habit of the app: a break of the contract, a waste that it permits, or something harmless."""

    name: str
    kind: str
    section: str
    needs: str
    what: str
    finds: str


class Bugs:
    """The switches that are on."""

    def __init__(self, names: list[str]) -> None:
        self._on = frozenset(names)

    def __call__(self, name: str) -> bool:
        assert name in TABLE, name
        return name in self._on


DEVICE = [
    Switch("device-per-request", BREAK, "GAP-10, 4.2", "nothing",
           "Each request has a new device id.", "The requests of a job have several device ids."),
    Switch("device-per-scan", BREAK, "GAP-10", "two scans of a device",
           "Each scan has a device id of its own.", "There are as many device ids as scans."),
    Switch("device-per-start", BREAK, "GAP-10, 4.2", "two starts of the app",
           "The device id is not kept.", "After a restart the same phone has another device id."),
    Switch("device-not-uuid", BREAK, "1.1", "nothing",
           "The device id is the name of the phone.", "X-Device-ID is no UUID."),
    Switch("device-uuid-v1", BREAK, "1.1", "nothing",
           "The device id is a UUID of version 1.", "X-Device-ID is a UUID, but not of version 4."),
    Switch("device-no-dashes", BREAK, "1.1", "nothing",
           "The device id has no dashes.", "X-Device-ID is 32 hexadecimal digits."),
    Switch("device-missing", BREAK, "1.1, GAP-12", "nothing",
           "No request has a device id.", "X-Device-ID is missing."),
    Switch("device-missing-results", BREAK, "GAP-12", "completed without books",
           "The request for results has no device id.", "X-Device-ID is missing on results alone."),
    Switch("device-random-delete", BREAK, "4.9, Q15", "nothing",
           "The DELETE has a random device id.", "The DELETE comes from another device than the upload."),
    Switch("device-uppercase", HARMLESS, "4.2", "nothing",
           "The device id is in upper case.", "Nothing: the published app does the same."),
]

UPLOAD = [
    Switch("upload-part-image", BREAK, "1.1, C27", "nothing",
           "The part is named `image`.", "The upload has no part `photos[]`."),
    Switch("upload-part-photos", BREAK, "1.1, C27", "nothing",
           "The part is named `photos`, as in v2.", "The upload has no part `photos[]`."),
    Switch("upload-too-large", BREAK, "1.1, 1.2", "nothing",
           "A photo has 11 MB, because a preview in full size is embedded.", "A photo is above 10,000,000 bytes."),
    Switch("upload-six-photos", BREAK, "1.1, 1.2", "nothing",
           "Six photos are uploaded at once.", "The upload has more than five parts `photos[]`."),
    Switch("upload-heic", BREAK, "1.1, 1.2", "nothing",
           "A photo is HEIC and says that it is JPEG.", "A photo begins neither like JPEG nor like PNG."),
    Switch("upload-no-boundary", BREAK, "1.1", "nothing",
           "The Content-Type of the upload has no boundary.", "The multipart body cannot be read."),
    Switch("upload-202-unknown", BREAK, "1.1", "nothing",
           "Only 200 counts as success of an upload.",
           "Accepted photos are uploaded again; nobody reads the first job."),
    Switch("upload-again-after-cut", BREAK, "2.2, GAP-5", "a cut stream",
           "After a cut stream the photo is uploaded again.", "A second job for the photo; the first is left."),
]

WAIT = [
    Switch("wait-ignored", BREAK, "1.7, 1.8", "a 429 for an upload",
           "After a 429 the upload is repeated after 0.1 s.", "Uploads within the wait of a 429."),
    Switch("wait-halved", BREAK, "1.7, 1.8", "a 429 for an upload",
           "After a 429 the app waits half of the time.", "An upload at half of the wait of a 429."),
    Switch("wait-units", BREAK, "1.7", "a 429 for an upload",
           "The wait is divided by 1000 twice.", "Uploads within the wait of a 429."),
    Switch("wait-other-scans", BREAK, "1.8, 4.6", "a 429 for an upload, three scans at once",
           "A 429 holds up its own scan only.", "Other scans of the device upload within the wait."),
    Switch("wait-503-ignored", BREAK, "1.7, 2.5", "a 503 with a wait for an upload",
           "The wait of a 503 is not looked at.", "An upload within the wait of a 503."),
]

RETRY = [
    Switch("retry-no-backoff", BREAK, "5 (related rules), C19", "a 503 for an upload",
           "A failed upload is repeated at once.", "No pause between a 503 and the next attempt."),
    Switch("retry-upload-refusal", BREAK, "1.7", "a 400 for an upload",
           "An upload is repeated after a 400.", "The same photo again after an error that is final."),
    Switch("retry-error-endless", BREAK, "C20, Q12", "retryable `error` events without end",
           "Every retryable `error` event leads to a new upload.", "More than one repetition of a scan."),
    Switch("retry-error-thrice", BREAK, "C20", "retryable `error` events without end",
           "A retryable `error` event leads to three more uploads.", "Three repetitions of a scan in place of one."),
    Switch("retry-final-error", BREAK, "2.1, 5 (related rules)", "an `error` event that is not retryable",
           "A final `error` event leads to a new upload.", "The same photo again after `retryable: false`."),
    Switch("retry-stream-refusal", BREAK, "Q10", "a 404 for a stream",
           "A stream that gets 401, 404 or 410 is opened again.", "The same stream again after a final status."),
    Switch("retry-results-404", BREAK, "1.3, 1.7", "completed without books, a 404 for results",
           "Results that are 404 are asked for again, five times.", "The same results again after a final status."),
    Switch("retry-delete-refusal", BREAK, "1.1, Q23", "a 404 for a DELETE",
           "The DELETE is repeated until it gets 204.", "A DELETE again after 404, which counts as success."),
]

STREAM = [
    Switch("stream-no-last-event-id", BREAK, "2.2, GAP-5", "a cut stream",
           "A reconnection has no Last-Event-ID.", "Last-Event-ID is missing although events with ids came."),
    Switch("stream-other-last-event-id", BREAK, "5 (related rules)", "a cut stream, three scans at once",
           "All streams share one last id.", "Last-Event-ID is an id of another job."),
    Switch("stream-first-event-id", BREAK, "2.2", "a stream cut after two events",
           "Last-Event-ID is the first id of the job.", "Last-Event-ID is not the last id that came."),
    Switch("stream-null-event-id", BREAK, "2.2", "nothing",
           "Without an id, Last-Event-ID is the word null.", "The first connection has an id that was never sent."),
    Switch("stream-reconnect-at-once", BREAK, "4.4, C19, Q19", "a stream that gets 503 or is cut repeatedly",
           "Reconnections follow each other without a pause.", "No backoff between the connections of a job."),
    Switch("stream-kept-open", BREAK, "4.5", "a stream that stays open behind its terminal event",
           "The stream is not closed after the terminal event.", "The stream is open seconds after its end."),
    Switch("stream-after-terminal", BREAK, "2.1, 4.5", "nothing",
           "The stream is opened again after its terminal event, as EventSource does.",
           "Connections for a job that is over."),
    Switch("stream-eof-is-end", BREAK, "Q2", "a stream that ends without a terminal event",
           "The end of a stream counts as the end of its job.", "No reconnection, no books, no DELETE."),
    Switch("stream-accept-json", BREAK, "1.1, 2.6", "nothing",
           "The stream is asked for with Accept: application/json.", "Accept is not text/event-stream."),
    Switch("stream-chunks-as-events", BREAK, "GAP-5, 4.5", "events that are split over several pieces",
           "Each piece that arrives is taken for whole events.",
           "Streams are opened again behind a terminal event that was delivered."),
    Switch("stream-ping-ends-job", BREAK, "GAP-7", "a ping while a job runs",
           "A ping counts as an error.", "The DELETE of a running job after a ping."),
    Switch("stream-unknown-ends-job", BREAK, "Q5, C22", "an unknown event",
           "An unknown event counts as an error.", "The DELETE of a running job after an unknown event."),
    Switch("stream-two-at-once", WASTE, "2.5, 8", "nothing",
           "Each job has two streams at once.", "At most a note: the token may be used for several connections."),
    Switch("stream-no-slots", WASTE, "4.2, 8", "more than five scans at once",
           "Scans of a device at the same time are not limited.",
           "At most a note: more than five streams of a device."),
]

TOKEN = [
    Switch("token-in-url", BREAK, "1.1, C13", "nothing",
           "The token is in the URL as well.", "`?token=` in the address of a request."),
    Switch("token-query-only", BREAK, "1.1, C13", "nothing",
           "The token is in the URL only.", "No Authorization, and `?token=` in the address."),
    Switch("token-latest", BREAK, "1.1", "three scans at once",
           "One variable holds the token of the latest upload.", "Requests with the token of another job."),
    Switch("token-no-bearer", BREAK, "1.1", "nothing",
           "Authorization is the token without `Bearer`.", "Authorization has no scheme."),
    Switch("token-missing-delete", BREAK, "1.1", "nothing",
           "The DELETE has no token.", "No Authorization although the upload returned a token."),
]

RESULTS = [
    Switch("results-despite-books", BREAK, "GAP-3", "completed with books",
           "Books of the event are ignored and results fetched.", "A request for results that nobody needs."),
    Switch("results-beside-books", BREAK, "GAP-3", "completed with books",
           "Books of the event are used, and results fetched all the same.",
           "A request for results that nobody needs."),
    Switch("results-twice", WASTE, "4.5", "completed without books",
           "Results are fetched twice.", "At most a note: the same results again after 200."),
    Switch("results-polled", BREAK, "1.1, 1.3, 1.4", "nothing",
           "Results are asked for five times a second, in place of the stream.",
           "Requests for results of a job that is not over."),
    Switch("results-full", BREAK, "GAP-8", "completed without books",
           "Results are fetched with format=full.", "Results are not fetched with format=lite."),
    Switch("results-no-format", BREAK, "GAP-8", "completed without books",
           "resultsUrl is used as it is.", "Results are not fetched with format=lite."),
]

DELETE = [
    Switch("delete-never", BREAK, "1.1, 4.2", "nothing",
           "Jobs are not removed.", "No DELETE after the books were received."),
    Switch("delete-before-books", BREAK, "1.3, Q14", "completed without books",
           "The job is removed at its terminal event, before its results are fetched.",
           "Results are 410; books are lost."),
    Switch("delete-while-running", BREAK, "1.1, 4.5", "nothing",
           "The job is removed right after its upload.", "The DELETE of a running job; books are lost."),
    Switch("delete-twice", WASTE, "1.1, C18", "nothing",
           "The DELETE is sent again after 204.", "At most a note: a second cleanup is harmless."),
    Switch("delete-after-failed-results", BREAK, "Q14", "completed without books, a 503 for results",
           "The job is removed after its results failed.", "A DELETE although the books were never received."),
    Switch("delete-cancel-path", BREAK, "1.1, C18", "nothing",
           "The DELETE goes to the address for a cancel.", "A job that is over gets a cancel and no cleanup."),
    Switch("delete-once", BREAK, "Q23", "a 503 for a DELETE",
           "A failed DELETE is not repeated.", "The job stays on the server after a 503."),
]

OTHERS = [
    Switch("poll-tight", BREAK, "1.4", "nothing",
           "The status is asked for five times a second, whatever the answer.", "Polls less than 2 s apart."),
    Switch("harmless-status-polling", HARMLESS, "1.4", "nothing",
           "The status is asked for every 2.2 s in place of the stream.", "Nothing: section 1.4 permits it."),
    Switch("harmless-user-agent", HARMLESS, "1.1", "nothing",
           "Uploads have another User-Agent.", "Nothing: the header is optional."),
    Switch("harmless-new-connections", HARMLESS, "1.1", "nothing",
           "Each request has a connection of its own.", "Nothing: the contract does not speak of connections."),
    Switch("harmless-five-photos", HARMLESS, "1.1", "nothing",
           "Each scan has five photos.", "Nothing: five are permitted."),
    Switch("harmless-chunked-upload", HARMLESS, "1.1", "nothing",
           "Uploads have chunked coding in place of a Content-Length.", "Nothing: HTTP permits it."),
]

TABLE = {switch.name: switch
         for group in (DEVICE, UPLOAD, WAIT, RETRY, STREAM, TOKEN, RESULTS, DELETE, OTHERS) for switch in group}
