"""Why a client loses what it loses: a sentence for its symptoms. `page.py` requires that runs show each, and no others."""

DIALECTS_THAT_LOSE = """\
What a dialect costs every client: the first `completed` event of `live-2026-02` has no `resultsUrl` and the second no books, so that
a client which leaves with the first never gets the address of the results. `bendv3` sends `completed` again without its books, so that
a client which comes back after the end has to fetch the results. `contract`, `legacy-openapi` and `wingtip` send only the last event to
a client without `Last-Event-ID`, so that events are lost, while `live-2026-02` and `bendv3` send all again, so that events come twice.
A client without headers can follow no stream but that of `wingtip`, and a page of another origin not even that one."""

AGAIN = {"opens it again"}
AGAIN_TEXT = "takes every end for a loss: it opens the stream of a finished job again until its user closes it."
CR = "form: lost"
CR_TEXT = "knows no line that ends with CR, and finds no event in such a stream."
LAST_TEXT = "sends no Last-Event-ID: after a cut it gets the last event only, or all events again, as the dialect has it."
OTHER_END = ({"other end"}, "comes back when the job is over, and gets `completed` without books: results have to be fetched.")
UNFINISHED_TEXT = "gives out the last event of a stream although the blank line is missing, which ends it."
ID_ALONE_TEXT = "forgets an id that comes without data, and would continue before it."

REASONS = {
    "aiohttp-sse-client2": [
        (AGAIN, AGAIN_TEXT),
        ({"stops"}, "opens a stream again only after a regular end. A reset is an exception that its user gets, and the id is gone "
         "with the source."),
        ({CR}, CR_TEXT),
    ],
    "aiosseclient": [
        ({"empty", "form: empty"}, "gives out an event `message` without data for each block without data: here for `retry:` alone."),
        ({"form: ids"}, "tells an id that comes alone with an empty event, and not with the next one."),
        ({"form: changed"}, "splits lines at U+2028 and U+0085 as well, and drops the rest of the data."),
        ({CR}, CR_TEXT),
    ],
    "httpx-sse": [
        ({"empty", "form: empty"}, "gives out an event without data for each block without data, for `retry:` alone and, once there "
         "was an id, for a comment."),
    ],
    "larzsse": [
        ({"refused"}, "can send no headers, neither X-Device-ID nor Authorization: 401."),
        ({"no Last-Event-ID", "loses", "twice"}, LAST_TEXT),
        ({CR}, CR_TEXT),
    ],
    "launchdarkly-eventsource": [
        (AGAIN, AGAIN_TEXT),
        ({"its own"}, "ignores `retry:` and waits as long as its own strategy says, which is shorter."),
        ({"form: ids"}, ID_ALONE_TEXT),
    ],
    "py-sse-client": [
        ({"empty", "form: empty", "form: extra"}, "calls its user at every blank line, with the event before once more, or with an "
         "empty one: here after the first comment."),
        ({"names", "form: names"}, "gives out names with the space behind the colon, and the last name again for an event that has "
         "none."),
        ({"no ids"}, "has no ids."),
        ({"no Last-Event-ID", "loses", "twice"}, LAST_TEXT),
        ({"form: lost"}, "reads each line of data as JSON by itself, and knows only lines that end with LF: data in several lines "
         "are an error, a stream with CRLF or CR has no events."),
    ],
    "requests-sse": [
        (AGAIN, AGAIN_TEXT),
        ({"twice `retry:`"}, "doubles the wait before it uses it for the first time."),
        OTHER_END,
    ],
    "sseclient": [
        (AGAIN, AGAIN_TEXT),
        ({"empty", "form: empty"}, "gives out an event for each block without data: for a comment, and for the end of the chunked "
         "body, which it does not decode."),
        ({"changed", "no books", "form: changed"}, "reads a stream without `charset` as ISO-8859-1: every title that is not ASCII is "
         "spoiled, and where a byte becomes U+0085, the rest of the line is lost with the books in it."),
        ({"stops"}, "opens a stream again only after a regular end. A reset is an exception that its user gets."),
        ({"form: ids"}, ID_ALONE_TEXT),
        ({"form: lost"}, "reads the sizes of chunks as lines of the stream: an event that is sent in several chunks is torn."),
        ({"form: extra"}, UNFINISHED_TEXT),
    ],
    "sseclient-py": [
        ({"form: ids"}, ID_ALONE_TEXT),
        ({"form: extra"}, UNFINISHED_TEXT),
    ],
    # Its bytes are read by the rules of the standard.
    "curl": [],
    "Chromium": [
        (AGAIN, AGAIN_TEXT),
        ({"refused"}, "can send no headers, and a page of another origin needs CORS as well: only `serve --browser` and `?token=` "
         "open the stream to it."),
        OTHER_END,
    ],
}
