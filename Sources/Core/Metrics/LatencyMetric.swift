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
}

extension LatencyMetric: MetricCase {
    /// The index, from 0, in the order of `allCases`: recording uses it without hashing.
    package var ordinal: Int {
        switch self {
        case .preprocessTime: 0
        case .uploadTime: 1
        case .uploadServiceTime: 2
        case .sseConnectTime: 3
        case .sseFirstEventTime: 4
        case .sseEventLatency: 5
        case .sseEventDelay: 6
        case .ssePingGap: 7
        case .sseReconnectTime: 8
        case .sseDetectTime: 9
        case .resultsTime: 10
        case .cleanupTime: 11
        case .scanTime: 12
        case .generatorLateness: 13
        case .netDNSTime: 14
        case .netConnectTime: 15
        case .netTLSTime: 16
        case .netFirstByteTime: 17
        }
    }

    /// The start and end of the measurement, as text. A first connect that failed is a loss, too.
    package var meaning: String {
        switch self {
        case .preprocessTime: "photo bytes in to JPEG ready"
        case .uploadTime: "scheduled start to 202 decoded"
        case .uploadServiceTime: "actual send to 202 decoded"
        case .sseConnectTime: "GET issued to 200 head"
        case .sseFirstEventTime: "200 head to first event dispatched"
        case .sseEventLatency: "event handed to the backend’s connection to event dispatched on the phone"
        case .sseEventDelay:
            "replayed event handed to the backend’s connection to event dispatched on the phone"
        case .ssePingGap: "ping to next ping, as received by the phone"
        case .sseReconnectTime: "loss noticed (after a kill: next launch) to next 200 head, over all attempts"
        case .sseDetectTime: "link went silent to silence detected"
        case .resultsTime: "results requested to response decoded"
        case .cleanupTime: "cleanup requested to response decoded"
        case .scanTime: "scheduled capture to books in the library"
        case .generatorLateness: "a timer's due time to the moment it ran"
        case .netDNSTime: "DNS lookup of the target, once per run"
        case .netConnectTime: "SYN sent to connection established"
        case .netTLSTime: "connection established to TLS handshake completed"
        case .netFirstByteTime: "request sent to the first byte of its response"
        }
    }

    /// A ping gap has its right size: longer and shorter are both odd.
    package var better: Better { self == .ssePingGap ? .neither : .lower }

    /// Whether only a simulated backend on the same clock can tell it.
    package var needsBackend: Bool {
        switch self {
        case .sseEventLatency, .sseEventDelay: true
        case .preprocessTime, .uploadTime, .uploadServiceTime, .sseConnectTime, .sseFirstEventTime,
            .ssePingGap,
            .sseReconnectTime, .sseDetectTime, .resultsTime, .cleanupTime, .scanTime, .generatorLateness,
            .netDNSTime, .netConnectTime, .netTLSTime, .netFirstByteTime:
            false
        }
    }
}
