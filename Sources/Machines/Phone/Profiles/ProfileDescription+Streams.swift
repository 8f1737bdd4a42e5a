import SimBase
import Talaria
import Wire

// The values of event streams.

extension ProfileDescription {
    static let streams: [ProfileDescription] = [
        ProfileDescription(
            "stream.transport", .contract("sections 3.3 and 3.4"), { $0.stream.transport.rawValue }
        ) {
            switch $0.stream.transport {
            case .sse:
                """
                A job is followed by its event stream. An answer to an upload of v2 that has a `websocketUrl` and no `sseUrl` is \
                of an older job, which is followed by WebSocket.
                """
            case .websocket:
                """
                A job of v2 is followed by WebSocket, at `websocketUrl` or, without one, at `/ws/progress?jobId=`.
                """
            }
        },
        ProfileDescription("stream.slots", .contract("section 8"), { String($0.stream.slots) }) {
            "At most \($0.stream.slots) scans of a phone are uploaded or followed at once; the others wait in the queue."
        },
        ProfileDescription(
            "stream.resumes", .contract("section 2.2", apps: "section 5, GAP-5"),
            { Self.text($0.stream.resumes) }
        ) {
            $0.stream.resumes
                ? """
                A stream that is opened again sends Last-Event-ID with the id of the last event that was read. The server goes on \
                after that event.
                """
                : """
                Last-Event-ID is never sent. A stream that is opened again begins wherever the server is: events are missed, or \
                come twice.
                """
        },
        ProfileDescription(
            "stream.returns", .contract("sections 2.7 and 3.4"), { Self.text($0.stream.returns) }
        ) {
            $0.stream.returns
                ? "A WebSocket that was lost is joined again with `reconnect=true`, and the token that it was opened with."
                : "A WebSocket that was lost is opened again as if it were the first one, with a token that was used: 401."
        },
        ProfileDescription(
            "stream.after-loss", .contract(apps: "section 4.4", design: true),
            { $0.stream.afterLoss.rawValue }
        ) {
            switch $0.stream.afterLoss {
            case .reconnects:
                """
                After a failed connection, a reset, or silence for stream.idle-timeout, the stream is opened again after the \
                backoff (backoff.*). The scan goes on.
                """
            case .fails:
                """
                After a failed connection, a reset, or silence for stream.idle-timeout, the stream is not opened again: the scan \
                has failed (failed-scans).
                """
            case .reportsFailure:
                """
                After a failed connection, a reset, or silence for stream.idle-timeout, the user is told that the scan has \
                failed, and the stream is opened again all the same after the backoff (backoff.*). A terminal event closes it \
                and is not used: the scan has failed (failed-scans).
                """
            }
        },
        ProfileDescription(
            "stream.after-end", .contract(apps: "section 4.4", design: true), { $0.stream.afterEnd.rawValue }
        ) {
            switch $0.stream.afterEnd {
            case .reconnects:
                """
                A body that ends without `completed`, `complete` (another name of `completed`) or `error` is a loss \
                like a reset: the stream is opened again after the backoff (backoff.*). The job goes on until one of \
                the three has come. This covers quirk-3 as well: an event without its blank line is dropped, and \
                comes again on the next stream.
                """
            case .finishes:
                """
                The end of the body is taken for the end of the job, whatever the last event was. Nothing more is requested, \
                neither the results nor a DELETE.
                """
            }
        },
        ProfileDescription(
            "stream.statuses", .contract(apps: "section 4.4", design: true), { $0.stream.statuses.rawValue }
        ) {
            switch $0.stream.statuses {
            case .byStatus:
                """
                401, 404, 410: the job cannot be followed any more; the photo is uploaded again at once, for a new \
                job and token, at most \($0.token.uploadsMax) times per scan (token.uploads-max); after the next such \
                answer the scan waits in the queue until the app is opened. 408, 429, 5xx: the stream is requested again after the backoff, \
                and not before Retry-After or `retryAfterMs`. Any other 4xx: the same, but after the third such \
                answer for a job, in a row or not, the scan waits in the queue until the app is opened, and then \
                follows the same job. Any other status: requested again after the backoff.
                """
            case .retried:
                """
                Every status other than 200, 401, 404 and 410 included, is treated alike: the stream is requested again with the \
                same token, three times in all, whatever Retry-After says. Then the scan has failed (failed-scans).
                """
            case .unchecked:
                """
                Neither the status nor the content type is looked at: what comes is a stream, and its end is the end of one \
                (stream.after-end). It is requested again with the same token for ever, 401, 404 and 410 included, whatever \
                Retry-After says. Events in the body of a refusal are not simulated.
                """
            }
        },
        ProfileDescription(
            "stream.reader", .contract(apps: "section 4.11, Q1 and Q4"), { $0.stream.reader.rawValue }
        ) {
            switch $0.stream.reader {
            case .standard:
                """
                Lines are read as in the HTML standard, section 9.2.6: several `data` lines of an event are joined by line feeds, \
                an event without `event` has the name `message`, and of a value one blank after the colon is removed.
                """
            case .lastDataLine:
                """
                Of several `data` lines of an event the last counts, an event without `event` is dropped, and values are \
                trimmed at both ends.
                """
            case .shortRemainder:
                """
                What was read of the buffer is counted in bytes and taken from it in characters: behind an event, as many \
                characters are lost as it has bytes that begin no character, if they came in the same piece. Lines are read as in \
                the HTML standard otherwise.
                """
            case .withoutEmptyLines: "Empty lines are not seen, so that no event ever ends and none is read."
            }
        },
        ProfileDescription("stream.attempts-max", .design, { Self.text(limit: $0.stream.attemptsMax) }) {
            guard let attempts = $0.stream.attemptsMax else {
                return "A stream may be lost and opened again as often as that happens."
            }
            return "After \(attempts) losses of the streams of a job, the scan has failed (failed-scans)."
        },
        ProfileDescription("stream.forgives-losses", .design, { Self.text($0.stream.forgivesLosses) }) {
            $0.stream.forgivesLosses
                ? "A stream that was opened makes up for the losses before it, and begins the backoff anew."
                : "The losses of the streams of a job are counted until its end."
        },
        ProfileDescription("stream.resets-backoff", .design, { Self.text($0.stream.resetsBackoff) }) {
            $0.stream.resetsBackoff
                ? "After a new event, the backoff of the stream begins at backoff.base again."
                : "The backoff grows with every loss of the streams of a job, whatever came in between."
        },
        ProfileDescription("stream.doublings-max", .design, { Self.text(limit: $0.stream.doublingsMax) }) {
            guard let doublings = $0.stream.doublingsMax else {
                return "The backoff of a stream doubles up to backoff.cap."
            }
            return
                "The backoff of a stream doubles \(Self.times(doublings)), however often the stream is lost."
        },
        ProfileDescription(
            "stream.obeys-retry-field", .contract("section 2.5"), { Self.text($0.stream.obeysRetryField) }
        ) {
            $0.stream.obeysRetryField
                ? "`retry:` of a stream raises the base of its backoff, up to backoff.cap."
                : "`retry:` of a stream is ignored."
        },
        ProfileDescription(
            "stream.resolves-relative-address", .contract("sections 1.2 and 7, C1"),
            { Self.text($0.stream.resolvesRelativeAddress) }
        ) {
            $0.stream.resolvesRelativeAddress
                ? """
                A relative `sseUrl` (`/v3/jobs/scans/{jobId}/stream`) is resolved against the base URL of the API. An \
                absolute one is requested as it is if it begins with the base URL of the API: the same scheme, host \
                and port. Any other is never requested, because the token belongs to the server of the API (section 1.2): the scan waits \
                in the queue until the app is opened.
                """
                : """
                A relative `sseUrl` is requested without a host, which fails at once: the scan has failed (failed-scans). An \
                absolute one works.
                """
        },
        ProfileDescription("stream.connect-timeout", .design, { Self.text($0.stream.connectTimeout) }) {
            """
            A request for a stream without a response head after \(Self.prose($0.stream.connectTimeout)) has failed \
            (stream.after-loss).
            """
        },
        ProfileDescription("stream.idle-timeout", .design, { Self.text($0.stream.idleTimeout) }) {
            """
            A stream without a byte, pings included, for \(Self.prose($0.stream.idleTimeout)) is lost (stream.after-loss). A \
            ping comes every 30 s.
            """
        },
        ProfileDescription(
            "stream.slot-hold", .contract(apps: "section 4.12", design: true),
            { $0.stream.slotHold.map(Self.text) ?? "none" }
        ) {
            guard let hold = $0.stream.slotHold else {
                return """
                    The next scan gets the slot as soon as the stream has ended; a DELETE needs no slot. A scan keeps its slot \
                    while it waits to open its stream or to request its results again. One whose upload has failed gives it up, \
                    and waits in the queue.
                    """
            }
            return """
                A scan keeps its slot until its DELETE is answered, and for \(Self.prose(hold)) more if it is completed. The next \
                scan waits for that.
                """
        },
    ]
}
