"""The text of Docs/clients.md."""

import textwrap

import runs
import symptoms
from reasons import DIALECTS_THAT_LOSE, REASONS

INTRODUCTION = """\
# Published clients of event streams

Which published clients follow a job of each dialect of the simulated backend ([as-built.md](as-built.md) section 7), and what they
lose. `make clients` makes this page: every cell is computed from a run of the client with `swiftwing-sim serve`. The clients are
nine packages of PyPI, curl, and `EventSource` of headless Chromium. Each is used as its documentation shows (`Tests/Clients/drivers`);
the uploads, results and DELETE requests are those of the runner.

What was sent is read from the recording of the server, and decoded as the HTML Living Standard says (section 9.2.6). Pings are not
counted.
"""

JOURNEY = """\
## A job

A photo is uploaded, the stream is read to its end, the results are fetched, and the job is deleted. Each cell says what the client
made of the events that it was sent: all of them as they are, or

- *empty*: events without data that nobody sent
- *names*: names that are not those of the events
- *no ids*: the client tells no ids, so that its user cannot continue a stream
- *changed*: the text of some events is not what was sent
- *no books*: the data of the first `completed` event cannot be read
"""

END = """\
## The end of the stream

What a client does when the server has ended the stream of a job that is over. A client that opens it again gets the terminal event
again, every time, until its user leaves or the job is deleted.
"""

CUT = """\
## A stream that is cut

The connection is reset when the books are identified, and the job goes on (`retry: %d`). Some clients open the stream again by
themselves. For the others their user does it, after a second and with the last id that the client told. Cells compare the events up
to the first terminal event with those that another client was sent meanwhile:

- *all*: each came once
- *loses*: events that were sent while the client was away never came
- *twice*: events came that it had already
- *other end*: the terminal event came without the books
- *stops*: the client ended with an error, and its user has to begin anew
"""

HEADERS = """\
## Clients without headers

Some clients cannot send `X-Device-ID` and `Authorization`. What they get from `serve` without `--browser`, which takes the token
from the URL:
"""

FORMAT = """\
## The format of a stream

What each client makes of a stream of one or two events in a certain form (`FORMS` in `Tests/Clients/runs.py`), sent by
`serve --replay`. A dot: as the standard says. Otherwise *lost*, *extra*, *empty* and *changed* events, *names*, and *ids* that do not
continue the stream at the right place.
"""

LOSSES = """\
## What is lost, and why
"""


# By the factor of the time in `retry:`. A busy machine adds to it.
WAITS = [("as `retry:` says", 0.95, 1.6), ("twice `retry:`", 1.95, 2.6)]


def table(titles, rows):
    lines = [titles, ["---"] * len(titles)] + rows
    return ["| %s |" % " | ".join(line) for line in lines]


def wrapped(text):
    return textwrap.fill(text, 128, break_long_words=False, break_on_hyphens=False)


def cells(text):
    """The cells of the tables of a page, by section, client and column."""
    found, section, titles = {}, None, None
    for line in text.splitlines():
        if line.startswith("#"):
            section, titles = line.lstrip("# "), None
        elif not line.startswith("|"):
            titles = None
        elif titles is None:
            titles = line.strip("| ").split(" | ")
        elif "---" not in line:
            client, *values = line.strip("| ").split(" | ")
            found |= {(section, client, title): value for title, value in zip(titles[1:], values, strict=True)}
    return found


class Page:
    def __init__(self, clients, dialects, seen, forms):
        self.clients = clients
        self.dialects = dialects
        self.seen = seen
        self.forms = forms
        # The dialects or forms in which a client has a symptom.
        self.found = {}

    def outcome(self, dialect, client, is_cut):
        return self.seen.outcomes[(dialect, client.name, is_cut)]

    def note(self, client, symptom, where):
        self.found.setdefault((client.name, symptom), []).append(where)

    def words(self, client, where, found):
        for word in found:
            self.note(client, word, where)
        return ", ".join(found)

    def journey(self, dialect, client):
        outcome = self.outcome(dialect, client, False)
        if not outcome.opened:
            return self.words(client, dialect, ["nothing"])
        found = symptoms.first_stream(outcome)
        words = [word for word in ("empty", "names", "changed", "lost", "extra") if found[word]]
        if found["ids"] and client.has_ids:
            words.append("ids")
        if not client.has_ids:
            words.append("no ids")
        if symptoms.books(outcome) is None:
            words.append("no books")
        if outcome.run.cleanup != 204 or outcome.run.results[0] != 200:
            words.append("not deleted")
        return self.words(client, dialect, words) or "all"

    def end(self, dialect, client):
        end = symptoms.end(self.outcome(dialect, client, False))
        if end != "ends":
            self.note(client, end, dialect)
        return end

    def cut(self, dialect, client):
        found = symptoms.cut(self.outcome(dialect, client, True))
        words = [word for word, symptom in (("stops", "stopped"), ("loses", "lost"), ("twice", "twice"), ("other end", "changed"))
                 if found[symptom]]
        return self.words(client, dialect, words) or "all"

    def reopened(self, client):
        """Who opens the stream again, how long that takes, and whether `Last-Event-ID` is sent."""
        outcomes = [self.outcome(dialect, client, True) for dialect in self.dialects]
        if not all(len(outcome.opened) > 1 for outcome in outcomes):
            return ["nobody", "-", "-"]
        resumes = all(outcome.opened[1].last for outcome in outcomes)
        if not client.reopens:
            if not resumes:
                self.note(client, "no Last-Event-ID", "a cut")
            return ["its user", "-", "yes" if resumes else "no"]
        waits = [symptoms.wait(outcome) / runs.RETRY for outcome in outcomes]
        wait = next((words for words, least, most in WAITS if least <= min(waits) and max(waits) < most), "its own")
        if wait != "as `retry:` says":
            self.note(client, wait, "a cut")
        return ["itself", wait, "yes" if resumes else "no"]

    def bare(self, dialect, client):
        told = self.seen.refused[(dialect, client.name)]
        if not told or told["what"] == "failed":
            self.note(client, "refused", dialect)
            return "refused"
        return "opens"

    def form(self, name, client):
        found = symptoms.form(runs.FORMS[name], self.forms[name][client.name])
        words = [word for word in ("lost", "extra", "empty", "changed", "names") if found[word]]
        if found["ids"] and client.has_ids:
            words.append("ids")
        for word in words:
            self.note(client, "form: " + word, name)
        return ", ".join(words) or "·"

    def sections(self):
        names = self.dialects
        yield INTRODUCTION, table(
            ["client", "version"],
            [[client.name, client.package.partition("==")[2] if client.package else "of the system"] for client in self.clients])
        yield JOURNEY, table(["client", *names], [[c.name, *(self.journey(d, c) for d in names)] for c in self.clients])
        yield END, table(["client", *names], [[c.name, *(self.end(d, c) for d in names)] for c in self.clients])
        yield CUT % (runs.RETRY * 1000), table(
            ["client", "opened again by", "wait", "Last-Event-ID", *names],
            [[c.name, *self.reopened(c), *(self.cut(d, c) for d in names)] for c in self.clients])
        bare = [client for client in self.clients if not client.has_headers]
        if bare:
            yield HEADERS, table(["client", *names], [[c.name, *(self.bare(d, c) for d in names)] for c in bare])
        if self.forms:
            yield FORMAT, table(
                ["client", *runs.FORMS], [[c.name, *(self.form(f, c) for f in runs.FORMS)] for c in self.clients])

    def cells(self):
        """Each cell by its section, client and column."""
        return cells("\n".join("%s\n%s\n" % (words, "\n".join(rows)) for words, rows in self.sections()))

    def losses(self):
        """A sentence for each symptom. A symptom without one, or the reverse, is an error."""
        lines = []
        for client in self.clients:
            # One reason may explain several symptoms.
            told = {}
            for (name, symptom), where in self.found.items():
                if name != client.name:
                    continue
                reason = next((text for known, text in REASONS.get(name, []) if symptom in known), None)
                if reason is None:
                    raise SystemExit("clients: reasons.py has none for %s: %s (%s)" % (name, symptom, ", ".join(where)))
                told.setdefault(reason, []).extend(one for one in where if one not in told.get(reason, []))
            unused = [text for _, text in REASONS.get(client.name, []) if text not in told]
            if unused:
                raise SystemExit("clients: no run shows what reasons.py says of %s: %s" % (client.name, unused[0]))
            if not told:
                lines.append("**%s** loses nothing." % client.name)
            for text, where in told.items():
                lines.append("**%s** %s (%s)" % (client.name, text, self.place(where)))
        return "".join(textwrap.fill("- " + line, 128, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"
                       for line in lines)

    def place(self, where):
        return "every dialect" if set(self.dialects) <= set(where) else ", ".join(where)

    def text(self):
        parts = ["%s\n%s\n" % (words, "\n".join(rows)) for words, rows in self.sections()]
        return "\n".join([*parts, LOSSES]) + "\n" + wrapped(DIALECTS_THAT_LOSE) + "\n\n" + self.losses()
