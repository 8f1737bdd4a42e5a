"""How cases with WebSockets are made. They are run as those without are (cases.py)."""

import damage
import delivery
import grammar
import socket_damage
import socket_grammar

COUNT = 8
# In place of the journey of v3.
GROUP = "journey: bookshelf-scan, transport: websocket, "
SOCKET_FAULTS = [
    "{do: ws-close, code: %s, after: 1 events, chance: 40%%}" % code for code in (1000, 1001, 1011, 1013, 4999)
] + ["{do: ws-frames, as: %s, chance: 40%%}" % shape for shape in (
    "fragmented", "oversized", "masked", "reserved", "binary", "not-utf8")]


def faults(r):
    more = r.sample(SOCKET_FAULTS, r.randrange(1, 3)) if r.random() < 0.3 else []
    return grammar.faults(r) + more


def server_socket(r, is_hostile, flood=False):
    """The steps of an answer to a request for a WebSocket."""
    if not is_hostile:
        return socket_grammar.kept("stream", r)
    opening, some = socket_grammar.switch(r), socket_grammar.in_frames(socket_grammar.events(r), r)
    if flood:
        return delivery.whole(opening) + socket_damage.flooded(r, b"") + socket_damage.end(r)
    return damaged(opening, some, r, socket_damage.ANSWER_FIELDS, socket_damage.ANSWER_LINES)


def damaged(opening, some, r, fields, lines):
    act, text = r.random(), opening.bytes()
    if act < 0.25:
        text = socket_damage.handshake(opening, r, fields, lines)
    if act > 0.2:
        some = socket_damage.frames(some, r)
    return socket_damage.opened(text, some, r)


def answer_steps(operation, r, is_hostile, theme=None, flood=False):
    if operation == "stream":
        return server_socket(r, is_hostile, flood)
    message = socket_grammar.answer(operation, r, theme != "results")
    return damage.delivery(message, r, damage.STATUS_LINES) if is_hostile else delivery.whole(message)


def make_run(r):
    theme = damage.weighted(r, [("stream", 16), ("upload", 3), ("results", 2), ("cleanup", 1), ("all", 2)])
    flooded = r.sample(range(COUNT), r.choice([1, 2, COUNT])) if r.random() < 0.06 else []
    answers = {}
    for operation in grammar.OPERATIONS:
        answers[operation] = [
            answer_steps(operation, r, theme in (operation, "all") and r.random() < 0.85, theme, number in flooded)
            for number in range(COUNT)]
    if theme == "stream" and r.random() < 0.12:
        some = socket_grammar.in_frames(socket_grammar.events(r), r)
        answers["stream"] = socket_damage.cuts(socket_grammar.switch(r).bytes(), some, r, COUNT)
    return {
        "answers": answers, "attempts": r.choice([1, 1, 2, 3, 1_000]), "one_job": r.random() < 0.04,
        "faults": faults(r) if r.random() < 0.4 else [], "group": GROUP}


def client_socket(r, exchange=None):
    """The steps of a client of one WebSocket."""
    opening, some = socket_grammar.upgrade(r), socket_grammar.said(r)
    if exchange is not None:
        opening.fields.append(["X-Fuzz", str(exchange)])
    act = r.random()
    if act < 0.03:
        return delivery.whole(opening) + socket_damage.flooded(r, some[0].key) + socket_damage.end(r)
    if act < 0.2:
        return socket_damage.opened(opening.bytes(), some, r)
    return damaged(opening, some, r, socket_damage.REQUEST_FIELDS, socket_damage.REQUEST_LINES)


def make_serve(r):
    if r.random() < 0.12:
        some = r.choice([list, lambda frames: socket_damage.frames(frames, r)])(socket_grammar.said(r))
        connections = socket_damage.cuts(socket_grammar.upgrade(r).bytes(), some, r, 24)
    else:
        connections = [client_socket(r) for _ in range(COUNT)]
    return {
        "connections": connections, "jobs": r.choice([1, COUNT]), "faults": faults(r), "record": r.random() < 0.3,
        "group": GROUP}


def make_proxy(r):
    connections = [client_socket(r, number) for number in range(COUNT)]
    exchanges = [server_socket(r, r.random() < 0.7, r.random() < 0.02) for _ in range(COUNT)]
    return {**make_serve(r), "connections": connections, "exchanges": exchanges}
