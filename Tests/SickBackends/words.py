"""How times, titles and JSON are written."""

from __future__ import annotations

import html
import json
import time
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

from bugs import Switches

SPELLED = ("title", "author", "currentItem")


def stamp(bug: Switches, seconds: float | None = None) -> Any:
    """Return a time in ISO 8601 with milliseconds, in UTC."""
    moment = datetime.fromtimestamp(time.time() if seconds is None else seconds, UTC)
    if bug("time-no-zone"):
        # The machine of this backend stands in Denver, and its clock library leaves the zone out.
        return (moment - timedelta(hours=7)).isoformat("T", "milliseconds").removesuffix("+00:00")
    if bug("time-epoch"):
        return int(moment.timestamp())
    if bug("time-12-hours"):
        return moment.strftime("%Y-%m-%dT%I:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
    if bug("time-zone-lie"):
        moment -= timedelta(hours=7)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def spell(bug: Switches, text: str, place: str) -> str:
    """Return a title or a name as it is shown at a place: `event` or `results`."""
    if bug("odd-mojibake"):
        text = text.encode().decode("latin-1")
    if bug("odd-mojibake-results") and place == "results":
        text = text.encode().decode("latin-1")
    if bug("odd-nfd-results") and place == "results":
        text = unicodedata.normalize("NFD", text)
    if bug("odd-html"):
        text = html.escape(text)
    if bug("odd-surrogate-cut"):
        text = text.encode("utf-16-le")[:42].decode("utf-16-le", "surrogatepass")
    if bug("odd-emoji-dropped"):
        text = "".join(character for character in text if ord(character) <= 0xFFFF)
    if bug("odd-question-marks"):
        text = text.encode("latin-1", "replace").decode("latin-1")
    if bug("odd-double-escape"):
        text = json.dumps(text)[1:-1]
    if bug("odd-ascii-results") and place == "results":
        text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    if bug("odd-case-results") and place == "results":
        text = text.upper()
    return text


def spelled(bug: Switches, value: Any, place: str) -> Any:
    """Return a copy of the value in which every title and every name is spelled for the place."""
    if isinstance(value, dict):
        return {key: spell(bug, item, place) if key in SPELLED and isinstance(item, str)
                else spelled(bug, item, place) for key, item in value.items()}
    if isinstance(value, list):
        return [spelled(bug, item, place) for item in value]
    return value


def dump(bug: Switches, value: Any, place: str) -> bytes:
    """Return the JSON of a body or of the data of an event, in UTF-8 and in one line."""
    value = spelled(bug, value, place)
    if bug("odd-raw-newlines") and place == "event":
        return json.dumps(value, ensure_ascii=False, indent=2).encode()
    # A lone surrogate has no UTF-8; JSON can only escape it.
    text = json.dumps(value, ensure_ascii=bug("odd-surrogate-cut"), separators=(",", ":"))
    if bug("odd-quotes-raw"):
        text = text.replace('\\"', '"')
    if bug("odd-bom") and place == "results":
        text = "\ufeff" + text
    if bug("odd-latin1-bytes"):
        return text.encode("latin-1", "replace")
    return text.encode()
