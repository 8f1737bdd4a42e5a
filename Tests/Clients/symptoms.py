"""What a client made of what it was sent."""

import collections
import json

import runs
from runs import stream


def plain(data):
    """JSON in one form: a client that decodes it cannot tell how it was written."""
    try:
        return json.dumps(json.loads(data), sort_keys=True)
    except ValueError:
        return data


def name(event):
    return event["event"] or "message"


def compare(sent, told):
    """The symptoms of what was told instead of what was sent, as counts by their names: `lost`, `extra`, `empty`, `changed`, `names`,
    `ids`."""
    found = collections.Counter()
    waiting = collections.defaultdict(list)
    for event in sent:
        waiting[plain(event.data)].append(event)
    extra = 0
    for event in told:
        if not event["data"] or event["data"] == '""' and '""' not in waiting:
            if waiting.get("") and event["event"]:
                waiting[""].pop(0)
            else:
                found["empty"] += 1
            continue
        if not waiting[plain(event["data"])]:
            extra += 1
            continue
        original = waiting[plain(event["data"])].pop(0)
        found["names"] += name(event) != original.name
        found["ids"] += (event["id"] or "") != original.id
    lost = sum(len(left) for left in waiting.values())
    found["changed"] = min(lost, extra)
    found["lost"] = lost - found["changed"]
    found["extra"] = extra - found["changed"]
    return +found


def without_pings(events):
    return [event for event in events if event.name != "ping"]


def is_ping(event):
    return (event["event"] or "").strip() == "ping"


def told(run):
    return [event for event in run.told if event["what"] == "event" and not is_ping(event)]


def first_stream(outcome):
    """The symptoms of a stream that was read to its end: up to the last terminal event in it."""
    sent = without_pings(outcome.opened[0].events)
    terminals = sum(event.name in runs.TERMINAL for event in sent)
    found = []
    for event in told(outcome.run):
        found.append(event)
        terminals -= runs.is_terminal(event)
        if not terminals:
            break
    return compare(sent, found)


def books(outcome):
    """How the books came: with the first terminal event, with a later one, as events of their own, or from the results."""
    for event in told(outcome.run):
        try:
            data = json.loads(event["data"])
        except ValueError:
            continue
        if not isinstance(data, dict):
            continue
        if runs.is_terminal(event):
            data = data.get("data", data)
            return "inline" if data.get("books") else "address" if data.get("resultsUrl") else "none"
    return None


def end(outcome):
    """What a client does when the server has ended the stream."""
    later = outcome.opened[1:]
    if not later:
        failure = next((told["error"] for told in outcome.run.told if told["what"] == "failed"), None)
        return "fails" if failure else "ends"
    return "opens it again"


def cut(outcome):
    """The symptoms of a stream that was cut, up to the first terminal event."""
    first = outcome.opened[0].events[0]
    whole = [event for event in without_pings(outcome.whole) if not event.id.endswith("-initial")]
    begin = next((index for index, event in enumerate(whole) if event.data == first.data), 0)
    last = next((index for index, event in enumerate(whole) if event.name in runs.TERMINAL), len(whole))
    sent = whole[begin:last + 1]
    found = []
    for event in told(outcome.run):
        if not event["data"] or event["data"] == '""':
            continue
        found.append(event)
        if runs.is_terminal(event):
            break
    terminals = [event for event in found if runs.is_terminal(event)]
    counts = collections.Counter(plain(event["data"]) for event in found)
    missing = [event for event in sent if not counts[plain(event.data)]]
    twice = sum(counts[plain(event.data)] - 1 for event in sent if counts[plain(event.data)] > 1)
    result = collections.Counter(twice=twice)
    if not terminals:
        result["stopped"] = 1
        return +result
    if missing and missing[-1].name in runs.TERMINAL:
        # It came, but otherwise than to a client that was not cut off.
        missing.pop()
        result["changed"] = 1
    result["lost"] = len(missing)
    return +result


def wait(outcome):
    """By how many seconds a client that opens its stream again waits after a cut; None if it does not."""
    if len(outcome.opened) < 2:
        return None
    return outcome.opened[1].at - outcome.opened[0].ended


def form(body, events):
    reader = stream.Reader()
    sent = reader.read(body) + reader.end()
    return compare(sent, [event for event in events if event["what"] == "event"])
