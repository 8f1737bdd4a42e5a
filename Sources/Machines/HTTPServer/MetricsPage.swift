import Faults
import Metrics
import OriginServer
import SimBase
import Talaria
import Wire

/// `/_sim/metrics`: what the server has done since its start, for Prometheus. It is made of a few numbers and costs as much
/// after a million requests as after one.
enum MetricsPage {
    static let path = StatusPage.path + "/metrics"
    /// Where a scraper looks first. At a gateway the path is the upstream's.
    static let usualPath = "/metrics"
}

/// What is asked of the server itself.
enum StatusQuestion {
    /// As a page for a browser, and as JSON for others.
    case state(accept: String?)
    case metrics(accept: String?)

    /// Nil for any other request. `isGateway`: whether another backend answers.
    init?(_ head: RequestHead, isGateway: Bool) {
        guard head.method == "GET" else { return nil }
        switch head.path {
        case StatusPage.path: self = .state(accept: head.headers["Accept"])
        case StatusPage.jsonPath: self = .state(accept: nil)
        case MetricsPage.path: self = .metrics(accept: head.headers["Accept"])
        case MetricsPage.usualPath where !isGateway: self = .metrics(accept: head.headers["Accept"])
        default: return nil
        }
    }

    /// Whether a page of another site may not read it.
    static func isAsked(at path: String) -> Bool {
        path == StatusPage.path || path.hasPrefix(StatusPage.path + "/") || path == MetricsPage.usualPath
    }
}

/// What a server has done since its start.
struct ServedTraffic: Sendable {
    /// A request by what has few values: a client cannot make the list long.
    struct Route: Hashable, Sendable {
        private static let methods = ["GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH"]
        static let other = "other"

        let method: String
        /// The path with `{jobId}` in place of a job.
        let path: String

        /// `path`: nil for a path of no journey.
        init(_ head: RequestHead, at path: JourneyPath?) {
            self.method = Self.methods.first { $0 == head.method } ?? Self.other
            self.path =
                path.map(Self.template) ?? (ServedRequest.isUnjudged(head.path) ? head.path : Self.other)
        }

        private static func template(_ path: JourneyPath) -> String {
            if let operation = path.foreignOperation { return "--path \(operation.name)" }
            guard !path.isSocket else { return path.path }
            let job = "{jobId}"
            let endpoint: Endpoint =
                switch path.endpoint {
                case .upload: .upload
                case .stream: .stream(jobId: job)
                case .results: .results(jobId: job)
                case .cleanup: .cleanup(jobId: job)
                case .job: .job(jobId: job)
                case .refresh: .refresh
                }
            return path.journey.path(endpoint)
        }
    }

    /// In the order in which they were first seen.
    private(set) var requests: [(route: Route, status: String, count: Int)] = []
    private(set) var events = 0
    private(set) var bytesReceived = 0
    private(set) var bytesSent = 0

    /// A request is over. `status`: nil if it never got an answer.
    mutating func count(_ route: Route, status: Int?) {
        let status = status.map { "\($0 / 100)xx" } ?? "none"
        if let index = self.requests.firstIndex(where: { $0.route == route && $0.status == status }) {
            self.requests[index].count += 1
        } else {
            self.requests.append((route, status, 1))
        }
    }

    mutating func count(_ piece: StreamPieceKind) {
        if case .event = piece { self.events += 1 }
    }

    mutating func count(_ event: ServerEvent) {
        if case .received(_, let bytes) = event { self.bytesReceived += bytes.count }
    }

    mutating func count(_ effect: ServerEffect) {
        switch effect {
        case .send(_, let bytes), .sendApart(_, let bytes): self.bytesSent += bytes.count
        case .finish, .cut, .read, .observe, .upstream, .served: break
        }
    }
}

extension Server {
    func metrics(accept: String?, at now: Instant) -> OriginReply {
        let format = MetricsText.Format(accept: accept)
        var samples = MetricSamples()
        let traffic = self.context.traffic
        samples.add(.server, [([("serving", self.origin.name)], "1")])
        samples.add(.serverUptime, [([], MetricSamples.seconds((now - Instant.zero).nanoseconds))])
        samples.add(.serverConnections, self.connectionsOpen)
        samples.add(.serverStreams, self.context.streamsOpenNow)
        samples.add(.serverJobs, self.origin.jobsAlive)
        samples.add(
            .serverRequests,
            traffic.requests.map { route, status, count in
                ([("method", route.method), ("route", route.path), ("status", status)], "\(count)")
            })
        samples.add(.serverEvents, traffic.events)
        samples.add(
            .serverBytes,
            [("received", traffic.bytesReceived), ("sent", traffic.bytesSent)].map {
                ([("direction", $0)], "\($1)")
            })
        samples.add(
            .faultsFired,
            self.context.faults.indices.map { index in
                ([("fault", self.context.faults[index].id)], "\(self.context.firings[index].count)")
            })
        return OriginReply(
            status: 200,
            headers: [
                HeaderField("Content-Type", format.contentType), HeaderField("Cache-Control", "no-store"),
            ], body: Array(samples.text(as: format).utf8))
    }
}
