"""Symptoms of HTTP and of odd characters."""

from __future__ import annotations

import html
import json
import unicodedata
from typing import Any

from phone import Answer, Phone
from trial import BIG, SMALL, TINY, check, titles


@check("http-sse-type")
async def sse_type(phone: Phone) -> bool:
    """A stream is no event stream."""
    _, feed = await phone.whole(SMALL)
    return dict(feed.headers)["content-type"].startswith("application/json")


async def first_byte(phone: Phone, photo: bytes) -> float:
    """Return when the first event of a stream comes."""
    _, feed = await phone.whole(photo)
    return feed.first_at or 0.0


@check("http-buffer-4k", job=(0.9, 0.9))
async def buffer_4k(phone: Phone) -> bool:
    """The first event of a short stream comes at its end."""
    return await first_byte(phone, TINY) > 0.6


@check("http-buffer-end", job=(0.9, 0.9))
async def buffer_end(phone: Phone) -> bool:
    """The first event of a long stream comes at its end."""
    return await first_byte(phone, BIG) > 0.8


@check("http-idle-cut", job=(1.4, 1.4))
async def idle_cut(phone: Phone) -> bool:
    """A quiet stream ends early."""
    _, feed = await phone.whole(TINY)
    return feed.ended and not feed.over() and feed.raw.endswith(b"0\r\n\r\n")


@check("http-no-last-chunk")
async def no_last_chunk(phone: Phone) -> bool:
    """A stream ends without a chunk of no bytes."""
    _, feed = await phone.whole(SMALL)
    return feed.over() and not feed.raw.endswith(b"0\r\n\r\n")


@check("http-blank-line-missing")
async def blank_line_missing(phone: Phone) -> bool:
    """All events are one."""
    _, feed = await phone.whole(SMALL)
    return feed.raw.count(b"data: ") > 2 * len(feed.events)


@check("http-stream-length")
async def stream_length(phone: Phone) -> bool:
    """A stream has a length."""
    _, feed = await phone.whole(SMALL)
    headers = dict(feed.headers)
    return headers.get("content-length") == "1024" and "transfer-encoding" not in headers


@check("http-close-early")
async def close_early(phone: Phone) -> bool:
    """A connection is closed that should be kept."""
    answer = await phone.request("GET", "/v3/jobs/scans/none", seconds=1.0, close=False)
    return answer.status == 401 and answer.ended and answer.header("connection") is None


@check("http-gzip")
async def gzipped(phone: Phone) -> bool:
    """JSON is compressed."""
    answer = await phone.upload(SMALL)
    return answer.header("content-encoding") == "gzip" and answer.body.startswith(b"\x1f\x8b")


@check("http-redirect")
async def redirect(phone: Phone) -> bool:
    """An upload is sent elsewhere, where GET is not allowed."""
    answer = await phone.upload(SMALL)
    place = answer.header("location") or "/"
    return answer.status == 302 and (await phone.request("GET", place)).status in (404, 405)


async def missing(phone: Phone) -> Answer:
    """Request a path that does not exist."""
    return await phone.request("GET", "/v3/none" if phone.dialect == "v3" else "/api/v2/none")


@check("http-html-errors")
async def html_errors(phone: Phone) -> bool:
    """A 404 is a page."""
    return (await missing(phone)).body.startswith(b"<html>")


@check("http-errors-200")
async def errors_200(phone: Phone) -> bool:
    """A path that does not exist is 200."""
    return (await missing(phone)).status == 200


@check("http-json-type")
async def json_type(phone: Phone) -> bool:
    """JSON is called a page."""
    answer = await phone.upload(SMALL)
    return answer.json() is not None and (answer.header("content-type") or "").startswith("text/html")


async def surplus(phone: Phone) -> int:
    """Return by how much the length of an answer is too large."""
    answer = await phone.upload(SMALL)
    return int(answer.header("content-length") or 0) - len(answer.body)


@check("http-length-long")
async def length_long(phone: Phone) -> bool:
    """The length is too large."""
    return await surplus(phone) == 16


@check("http-length-short")
async def length_short(phone: Phone) -> bool:
    """The length is too small."""
    return await surplus(phone) == -16


@check("http-204-body")
async def body_of_204(phone: Phone) -> bool:
    """There are bytes behind the head of a 204."""
    answer = await phone.delete(await phone.start(SMALL))
    return answer.status == 204 and answer.body != b""


@check("http-duplicate-headers")
async def duplicate_headers(phone: Phone) -> bool:
    """A header comes twice with two values."""
    answer = await phone.upload(SMALL)
    return len({value for name, value in answer.headers if name == "content-type"}) == 2


async def spelled(phone: Phone) -> tuple[list[str], list[str]]:
    """Return the titles of the event, or in v2 of the results, and those of the results."""
    job, feed = await phone.whole(BIG)
    shown = [book["title"] for book in await phone.books(job)]
    inline: list[dict[str, Any]] = feed.last().get("books", [])
    return [book["title"] for book in inline] or shown, shown


def misread(title: str) -> str:
    """Return a title in UTF-8 that was read as Latin-1."""
    return title.encode().decode("latin-1")


@check("odd-mojibake")
async def mojibake(phone: Phone) -> bool:
    """All titles are misread."""
    return await spelled(phone) == ([misread(title) for title in titles(BIG)],) * 2


@check("odd-mojibake-results")
async def mojibake_results(phone: Phone) -> bool:
    """The titles of results are misread, those of the event are not."""
    inline, shown = await spelled(phone)
    right = inline == titles(BIG) or phone.dialect == "v2"
    return right and shown == [misread(title) for title in titles(BIG)]


@check("odd-nfd-results")
async def nfd(phone: Phone) -> bool:
    """The titles of results are decomposed."""
    _, shown = await spelled(phone)
    return shown == [unicodedata.normalize("NFD", title) for title in titles(BIG)] != titles(BIG)


@check("odd-html")
async def escapes(phone: Phone) -> bool:
    """Titles are escaped for HTML."""
    return (await spelled(phone))[0] == [html.escape(title) for title in titles(BIG)] != titles(BIG)


@check("odd-surrogate-cut")
async def surrogate_cut(phone: Phone) -> bool:
    """A title ends with half a pair."""
    return any(title and 0xD800 <= ord(title[-1]) < 0xDC00 for title in (await spelled(phone))[0])


@check("odd-emoji-dropped")
async def emoji_dropped(phone: Phone) -> bool:
    """There are no emoji."""
    inline, _ = await spelled(phone)
    return max(map(max, inline)) <= "\uffff" < max(map(max, titles(BIG))) and len(inline) == len(titles(BIG))


@check("odd-question-marks")
async def question_marks(phone: Phone) -> bool:
    """A title is nothing but question marks."""
    return any(set(title) == {"?"} for title in (await spelled(phone))[0])


@check("odd-double-escape")
async def double_escape(phone: Phone) -> bool:
    """A title has an escape for people to see."""
    return any("\\u00" in title for title in (await spelled(phone))[0])


@check("odd-ascii-results")
async def ascii_results(phone: Phone) -> bool:
    """All titles of results are in ASCII."""
    return all(title.isascii() for title in (await spelled(phone))[1])


@check("odd-case-results")
async def case_results(phone: Phone) -> bool:
    """All titles of results are in upper case."""
    return (await spelled(phone))[1] == [title.upper() for title in titles(BIG)]


@check("odd-raw-newlines")
async def raw_newlines(phone: Phone) -> bool:
    """The data of an event is an opening brace."""
    _, feed = await phone.whole(SMALL)
    return {event.text for event in feed.own()} == {"{"}


@check("odd-quotes-raw")
async def quotes_raw(phone: Phone) -> bool:
    """Results are text, but no JSON."""
    job, _ = await phone.whole(BIG)
    answer = await phone.results(job)
    return answer.json() is None and answer.body.decode().startswith("{")


@check("odd-bom")
async def bom(phone: Phone) -> bool:
    """Results begin with three bytes too many."""
    job, _ = await phone.whole(SMALL)
    return (await phone.results(job)).body.startswith(b"\xef\xbb\xbf{")


@check("odd-latin1-bytes")
async def latin1_bytes(phone: Phone) -> bool:
    """Results are JSON in Latin-1, but not in UTF-8."""
    job, _ = await phone.whole(BIG)
    answer = await phone.results(job)
    return answer.json() is None and isinstance(json.loads(answer.body.decode("latin-1")), dict)


@check("odd-utf8-split")
async def utf8_split(phone: Phone) -> bool:
    """A character is broken."""
    _, feed = await phone.whole(BIG)
    return b"\xef\xbf\xbd" in feed.raw
