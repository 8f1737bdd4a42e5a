#!/usr/bin/env python3
"""The healthy Talaria of talaria.py, whose scans of v3 have progressive results (S4 of Docs/contract.md).

A job sends `segmented` with a preview when its books are identified, and `book_progress` and `result` for each book. One that is
canceled, by a DELETE or by --cancel, ends with `canceled` instead of `error`.

usage: progressive.py [--preview A..B] [--cancel N] [--lie] [options of talaria.py]

  --preview A..B  bytes of the JPEG of a preview (default: 200000..1000000)
  --cancel N      the backend cancels each N-th job when half of its books are looked up
  --lie           it shows one book of a job that is not among its results
"""

import base64
import itertools

import talaria

# The smallest picture: a gray JPEG of 8 by 8.
PICTURE = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7"
    "gYKBTmCNl4x9lnN+gXz/wAALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EAB0QAAECBwAAAAAAAAAAAAAAABIAERMU"
    "FSVEYpH/2gAIAQEAAD8AC41jKgTGwiXGZf/Z")
COMMENT_MAX = 65_533


def preview(size, random):
    """A JPEG of this many bytes: a picture, and comments that do not compress (ITU-T T.81, B.2.4.5)."""
    room, comments = size - len(PICTURE), b""
    while room > 0:
        count = min(room - 4, COMMENT_MAX)
        count -= 4 if 0 < room - 4 - count < 4 else 0
        comments += b"\xff\xfe" + (count + 2).to_bytes(2, "big") + random.randbytes(count)
        room -= count + 4
    return PICTURE[:2] + comments + PICTURE[2:]


def show_early(job, image, is_canceled, lies):
    """Adds what is shown before the end of the job to its course."""
    course, job.course = job.course, []
    count = len(job.books)
    shown = 0

    def add(event, name, data):
        share = (event.at - job.born) / job.seconds
        job.add(share, name, name, event.status, event.progress, event.processed, event.total, data)

    for _, event in course:
        is_book = "currentItem" in event.data
        if is_book:
            add(event, "book_progress", {"current": shown + 1, "total": count, "stage": "enriching_metadata"})
        add(event, event.name, event.data)
        if is_book:
            book = job.books[shown]
            add(event, "result", book | {"title": "Of another photo", "isbn": None} if lies and shown == 1 else book)
            shown += 1
        elif event.data.get("message") == f"Identified {count} books":
            add(event, "segmented", {"image": base64.b64encode(image).decode(), "totalBooks": count})
        if is_canceled and shown == (count + 1) // 2:
            add(event._replace(status="canceled"), "canceled", {"jobId": job.id})
            return job
    return job


class Handler(talaria.Handler):
    numbers = itertools.count(1)

    def scan(self, photos):
        options = self.talaria.options
        with self.talaria.lock:
            number, size = next(self.numbers), round(self.talaria.random.uniform(*options.preview))
            image = preview(size, self.talaria.random)
        return show_early(super().scan(photos), image, options.cancel and number % options.cancel == 0, options.lie)

    @staticmethod
    def cancellation(job):
        return "canceled", lambda *_: {"jobId": job.id}


def options():
    parser = talaria.options(__doc__)
    parser.add_argument("--preview", type=talaria.seconds, default=(200_000, 1_000_000))
    parser.add_argument("--cancel", type=int)
    parser.add_argument("--lie", action="store_true")
    return parser


if __name__ == "__main__":
    talaria.serve(Handler, options())
