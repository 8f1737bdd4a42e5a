package import Metrics

/// What a worker measured since its last report, and its users.
package struct StatsReport: Hashable, Sendable {
    package var requests: [RequestStats]
    package var errors: [ErrorStats]
    package var users: [SpawnOrder.Count]

    package init(requests: [RequestStats], errors: [ErrorStats], users: [SpawnOrder.Count]) {
        self.requests = requests
        self.errors = errors
        self.users = users
    }

    var value: MessageValue {
        var total = RequestStats(type: "", name: "Aggregated")
        for request in self.requests { total.add(request) }
        return .map(
            [
                .init(.text("stats"), .list(self.requests.filter { !$0.isEmpty }.map(\.value))),
                .init(.text("stats_total"), total.value),
                .init(.text("errors"), .map(self.errors.map { .init(.text($0.key), $0.value) })),
            ] + self.users.members)
    }
}

/// Errors with one name (`StatsError` of `locust/stats.py`).
package struct ErrorStats: Hashable, Sendable {
    package var type: String
    package var error: String
    package var count: Int64

    package init(type: String, error: String, count: Int64) {
        self.type = type
        self.error = error
        self.count = count
    }

    /// Only has to be the same on all workers.
    fileprivate var key: String { "\(self.type).\(self.error)" }

    fileprivate var value: MessageValue {
        .members(
            ("name", .text("")), ("method", .text(self.type)), ("error", .text(self.error)),
            ("occurrences", .integer(self.count)), ("first_seen", .null), ("last_seen", .null))
    }
}

/// Gathers what the intervals of a run have measured until it is reported.
package struct StatsGathering: Sendable {
    /// The operations that Locust shows as request types, each with the rate of its failures. The other latencies are parts of
    /// an operation, or times between events.
    package static let operations: [(time: LatencyMetric, failed: RateMetric?)] = [
        (.preprocessTime, .preprocessFailed), (.uploadTime, .uploadFailed),
        (.sseConnectTime, .sseConnectFailed), (.sseFirstEventTime, nil),
        (.sseReconnectTime, .sseReconnectFailed), (.statusTime, .statusFailed),
        (.resultsTime, .resultsFailed), (.cleanupTime, .cleanupFailed), (.scanTime, nil),
    ]

    /// The requests of these operations, each counted by itself, with the names of their types.
    package static let attempts: [(name: String, failed: RateMetric)] = [
        ("upload.attempts", .uploadAttemptsFailed), ("sse.connect.attempts", .sseConnectAttemptsFailed),
        ("status.attempts", .statusAttemptsFailed), ("results.attempts", .resultsAttemptsFailed),
        ("cleanup.attempts", .cleanupAttemptsFailed), ("refresh.attempts", .refreshAttemptsFailed),
    ]

    private let groups: [String]
    private var requests: [RequestStats]
    /// Errors that were reported, by their order in the run.
    private var errorsTold: [Int64] = []

    package init(groups: [String]) {
        self.groups = groups
        self.requests = Self.fresh(groups)
    }

    private static func fresh(_ groups: [String]) -> [RequestStats] {
        (Self.operations.map(\.time.rawValue) + Self.attempts.map(\.name)).flatMap { type in
            groups.map { RequestStats(type: type, name: $0) }
        }
    }

    /// Adds the measurements of an interval that began in this second since 1970.
    package mutating func add(_ table: MetricTable, second: Int64) {
        var index = 0
        for operation in Self.operations {
            for group in self.groups {
                defer { index += 1 }
                let scope = MetricScope.group(group)
                guard case .measured(let histogram) = table.histogram(operation.time, of: scope) else {
                    continue
                }
                var failed: Int64 = 0
                if let rate = operation.failed, case .measured(let measured) = table.rate(rate, of: scope) {
                    failed = measured.failed
                }
                if histogram.isEmpty, failed == 0 { continue }
                self.requests[index].add(histogram, failed: failed, second: second)
            }
        }
        for attempts in Self.attempts {
            for group in self.groups {
                defer { index += 1 }
                guard case .measured(let rate) = table.rate(attempts.failed, of: .group(group)),
                    rate.total > 0
                else { continue }
                self.requests[index].add(timeless: rate.total, failed: rate.failed, second: second)
            }
        }
    }

    /// Returns what was not reported yet. `errors`: all errors of the run so far, in the order of their first occurrences.
    package mutating func take(
        errors: [(name: String, count: Int)], users: [SpawnOrder.Count]
    ) -> StatsReport {
        let requests = self.requests
        self.requests = Self.fresh(self.groups)
        var news: [ErrorStats] = []
        for (index, error) in errors.enumerated() {
            if !self.errorsTold.indices.contains(index) { self.errorsTold.append(0) }
            let count = Int64(error.count) - self.errorsTold[index]
            self.errorsTold[index] = Int64(error.count)
            if count > 0 { news.append(ErrorStats(error.name, count: count)) }
        }
        return StatsReport(requests: requests, errors: news, users: users)
    }
}

extension ErrorStats {
    /// `name`: an operation, a colon and the error, or the error alone.
    fileprivate init(_ name: String, count: Int64) {
        let parts = name.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else {
            self.init(type: "", error: name, count: count)
            return
        }
        self.init(type: String(parts[0]), error: String(parts[1].drop { $0 == " " }), count: count)
    }
}
