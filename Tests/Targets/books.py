#!/usr/bin/env python3
"""The healthy Talaria of talaria.py with the forms of v2 that the plans of books-v3 have (S1 and S3 of Docs/contract.md).

  - A book has the names of its `authors` and no `author`, and nested members `work` and `edition` (S1).
  - The results of a batch have their books as `enrichedBooks` (S3).
  - A token is a UUID. `completed` has type, pipeline, summary and expiresAt only, and the summary of a shelf has no successes (S1).

usage: books.py [options of talaria.py]
"""

import uuid

import talaria

COUNTS = ("totalProcessed", "successCount", "failureCount")
COMPLETED = ("type", "pipeline", "summary", "expiresAt")


def published(book):
    """A book as S1 has it. What the catalogue does not have is a function of the title."""
    number = sum(map(ord, book["title"]))
    year = 1850 + number % 150
    found = {
        "isbn": book["isbn"], "title": book["title"], "authors": book["author"].split(" & "), "publisher": "Penguin Books",
        "publishedDate": str(year), "coverUrl": book.get("coverUrl"),
        "work": {"id": f"OL{number}W", "title": book["title"], "subjects": ["Fiction"], "firstPublishYear": year},
        "edition": {
            "id": f"OL{number}M", "numberOfPages": 90 + number % 600, "physicalFormat": "Paperback", "publishers": ["Penguin Books"]},
    }
    return found | {name: book[name] for name in ("confidence", "enrichmentStatus") if name in book}


class Handler(talaria.Handler):
    def book(self, book):
        return published(book)

    def accept(self, job, **more):
        job.token = str(uuid.uuid4())
        stamp, last = job.course[-1]
        if last.name == "completed":
            data = {name: last.data[name] for name in COMPLETED}
            if "photosProcessed" in data["summary"]:
                data["summary"] = {name: value for name, value in data["summary"].items() if name not in COUNTS}
            job.course[-1] = talaria.Stamped(stamp, last._replace(data=data))
        super().accept(job, **more)

    def results_data(self, kind, job):
        data = super().results_data(kind, job)
        books = [self.book(book) for book in data.pop("books")]
        return data | {"enrichedBooks" if kind == "enrichments" else "books": books}


if __name__ == "__main__":
    talaria.serve(Handler, talaria.options(__doc__))
