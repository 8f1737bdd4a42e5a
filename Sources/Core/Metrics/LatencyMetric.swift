/// The latencies of a run: each a histogram of nanoseconds (Docs/design.md section 7).
///
/// Cases may be added at the end; `ordinal` is an index in arrays of this process only.
package enum LatencyMetric: String, CaseIterable, Sendable {
    case preprocessTime = "preprocess.time"
    case uploadTime = "upload.time"
    case uploadServiceTime = "upload.service_time"
    case sseConnectTime = "sse.connect.time"
    case sseFirstEventTime = "sse.first_event.time"
    case sseEventLatency = "sse.event.latency"
    case sseEventDelay = "sse.event.delay"
    case ssePingGap = "sse.ping.gap"
    case sseReconnectTime = "sse.reconnect.time"
    case sseDetectTime = "sse.detect.time"
    case resultsTime = "results.time"
    case cleanupTime = "cleanup.time"
    case scanTime = "scan.time"
    case generatorLateness = "generator.lateness"
    case netDNSTime = "net.dns.time"
    case netConnectTime = "net.connect.time"
    case netTLSTime = "net.tls.time"
    case netFirstByteTime = "net.first_byte.time"
    case statusTime = "status.time"
    case cancelTime = "cancel.time"
    case jobFirstEventTime = "job.first_event.time"
    case jobTime = "job.time"
    case feedbackTime = "feedback.time"
    case enrichTime = "enrich.time"
    case enrichedTime = "enriched.time"
    case firstBookTime = "first_book.time"
    case reconcileTime = "reconcile.time"
}

extension LatencyMetric: MetricCase {
    /// The index, from 0, in the order of `allCases`: recording uses it without hashing.
    package var ordinal: Int { self.traits.ordinal }

    /// The start and end of the measurement, as text. A first connect that failed is a loss, too.
    package var meaning: String { self.traits.meaning }

    private var traits: (ordinal: Int, meaning: String) {
        switch self {
        case .preprocessTime: (0, "photo bytes in to JPEG ready")
        case .uploadTime: (1, "scheduled start to 202 decoded; of a look-up, to its answer")
        case .uploadServiceTime: (2, "actual send to 202 decoded; of a look-up, to its answer")
        case .sseConnectTime: (3, "GET issued to 200 head")
        case .sseFirstEventTime: (4, "200 head to first event dispatched")
        case .sseEventLatency:
            (
                5,
                "event handed to the backend’s connection to event dispatched on the phone; of a target, the delay from the event’s timestamp above the fastest"
            )
        case .sseEventDelay:
            (6, "first emission of an event that a stream replays to event dispatched on the phone")
        case .ssePingGap: (7, "ping to next ping, as received by the phone")
        case .sseReconnectTime:
            (8, "loss noticed (after a kill: next launch) to next 200 head, over all attempts")
        case .sseDetectTime: (9, "link went silent to silence detected")
        case .resultsTime: (10, "results requested to response decoded")
        case .cleanupTime: (11, "cleanup requested to response decoded")
        case .scanTime: (12, "scheduled capture to books in the library, or waiting for their review")
        case .generatorLateness: (13, "a timer's due time to the moment it ran")
        case .netDNSTime: (14, "DNS lookup of the target, once per run")
        case .netConnectTime: (15, "SYN sent to connection established")
        case .netTLSTime: (16, "connection established to TLS handshake completed")
        case .netFirstByteTime: (17, "request sent to the first byte of its response")
        case .statusTime: (18, "status requested to response decoded")
        case .cancelTime:
            (19, "canceled by the user (after a kill: next launch) to the job deleted, over all attempts")
        case .jobFirstEventTime:
            (20, "202 decoded to the first event of its job dispatched, over all streams")
        case .jobTime:
            (21, "202 decoded to the terminal event of its job dispatched, or to the status that says so")
        case .feedbackTime: (22, "scheduled capture to the book shown as the phone has read it")
        case .enrichTime: (23, "text sent to what was found decoded")
        case .enrichedTime: (24, "scheduled capture to what was found merged into the book")
        case .firstBookTime:
            (25, "scheduled capture to the first book that is shown, or that is in the library")
        case .reconcileTime:
            (26, "answer of a look-up by text complete to both texts merged: computing time, in live runs")
        }
    }

    /// A ping gap has its right size: longer and shorter are both odd.
    package var better: Better { self == .ssePingGap ? .neither : .lower }

    /// Whether the driver measures it, by its own clock and without groups: no observation contains it.
    package var isOfDriver: Bool { self == .generatorLateness || self == .reconcileTime }
    /// Whether only a simulated backend on the same clock can measure it.
    package var needsBackend: Bool { self == .sseEventLatency || self == .sseEventDelay }
    /// Whether the trial of a target measures it in another way.
    package var isMeasuredByTrial: Bool { self == .sseEventLatency }
}
