package import Metrics
package import Observations
package import SimBase
import Talaria

/// The kind of an error, coarse enough for a chart.
package enum ErrorFamily: String, CaseIterable, Hashable, Sendable {
    /// Below HTTP: refused, reset, timed out.
    case transport
    case rateLimited = "429"
    case clientError = "4xx"
    case serverError = "5xx"
    /// Above HTTP: what came is not what the contract says.
    case badAnswer = "bad answer"
    case streamLost = "stream lost"
    case refused = "scan refused"

    /// The index, from 0, in the order of `allCases`.
    package var ordinal: Int {
        switch self {
        case .transport: 0
        case .rateLimited: 1
        case .clientError: 2
        case .serverError: 3
        case .badAnswer: 4
        case .streamLost: 5
        case .refused: 6
        }
    }
}

/// One error as a phone saw it; nil if an observation is not an error.
package struct RunError: Hashable, Sendable {
    package var family: ErrorFamily
    /// `upload: connect-refused`. Holds what a server wrote only where it sent a code, and that bounded.
    package var name: String

    /// What `sse.undecodable` counts.
    private static let undecodableEvent = "stream: undecodable event"

    package init(family: ErrorFamily, name: String) {
        self.family = family
        self.name = name
    }

    package init?(_ payload: PhoneObservation) {
        switch payload {
        case .requestFailed(let operation, _, let failure, _):
            self.init(family: .transport, name: "\(operation.name): \(failure.rawValue)")
        case .replied(let operation, _, let status, _):
            guard PhoneObservation.isError(status: status) else { return nil }
            let family: ErrorFamily =
                switch status {
                case 429: .rateLimited
                case 500..<600: .serverError
                default: .clientError
                }
            self.init(family: family, name: "\(operation.name): HTTP \(status)")
        case .badAnswer(let operation, _, let problem):
            // A status that is not a success has been counted already.
            guard problem != .notSuccess else { return nil }
            // What cannot be decoded of a stream is its terminal event.
            let name =
                operation == .stream && problem == .undecodable
                ? Self.undecodableEvent : "\(operation.name): \(problem.rawValue)"
            self.init(family: .badAnswer, name: name)
        case .eventIgnored(_, _, _, let malformed):
            guard malformed else { return nil }
            self.init(family: .badAnswer, name: Self.undecodableEvent)
        case .streamLost(_, _, let cause, _):
            self.init(family: .streamLost, name: "stream lost: \(cause.rawValue)")
        case .photoRejected(let reason):
            self.init(family: .refused, name: "photo rejected: \(reason.bounded)")
        case .refused(let code, _):
            self.init(family: .refused, name: "scan refused: \(code.bounded)")
        case .resultsGivenUp:
            self.init(family: .badAnswer, name: "results given up")
        default: return nil
        }
    }
}

/// Errors by name, each with its first and last time and one example.
package struct ErrorSummary: Equatable, Sendable {
    package struct Row: Equatable, Sendable {
        package var trouble: RunError
        package var count: Int
        /// The first that no fault has injected; the first of all if each was.
        package var first: Instant
        package var last: Instant
        /// The phone that had that one.
        package var device: DeviceNumber
        package var scan: ScanNumber
        /// Who is to blame for how many of them.
        package var causes: CauseCounts

        package init(
            trouble: RunError, count: Int, first: Instant, last: Instant, device: DeviceNumber,
            scan: ScanNumber, causes: CauseCounts
        ) {
            self.trouble = trouble
            self.count = count
            self.first = first
            self.last = last
            self.device = device
            self.scan = scan
            self.causes = causes
        }

        /// The row with the lower rank gives the example of both.
        fileprivate var rank: (Int, Instant, DeviceNumber) {
            (self.causes.injected == self.count ? 1 : 0, self.first, self.device)
        }
    }

    /// Names beyond this are counted as the other ones of their family.
    package static let namesMax = 48

    private var indexes: [RunError: Int] = [:]
    /// The rows in the order of their first occurrence.
    package private(set) var rows: [Row] = []

    package init() {}

    /// Read back from a file.
    package init(_ rows: [Row]) {
        for row in rows { self.add(row) }
    }

    mutating func add(
        _ trouble: RunError, at moment: Instant, device: DeviceNumber, scan: ScanNumber, cause: Cause?
    ) {
        self.add(
            Row(
                trouble: trouble, count: 1, first: moment, last: moment, device: device, scan: scan,
                causes: CauseCounts(cause)))
    }

    package mutating func add(_ other: ErrorSummary) {
        for row in other.rows { self.add(row) }
    }

    private mutating func add(_ row: Row) {
        var row = row
        if self.indexes[row.trouble] == nil, self.rows.count >= Self.namesMax {
            row.trouble.name = "other: \(row.trouble.family.rawValue)"
        }
        guard let index = self.indexes[row.trouble] else {
            self.indexes[row.trouble] = self.rows.count
            self.rows.append(row)
            return
        }
        let (known, new) = (self.rows[index].rank, row.rank)
        self.rows[index].count += row.count
        self.rows[index].causes.add(row.causes)
        self.rows[index].last = max(self.rows[index].last, row.last)
        if new < known {
            self.rows[index].first = row.first
            self.rows[index].device = row.device
            self.rows[index].scan = row.scan
        }
    }

    /// All errors.
    package var count: Int { self.rows.reduce(0) { $0 + $1.count } }

    /// Who is to blame for how many of them.
    package var causes: CauseCounts { self.rows.reduce(into: CauseCounts()) { $0.add($1.causes) } }

    /// The most frequent first.
    package var byCount: [Row] { self.rows.sorted { ($0.count, $1.first) > ($1.count, $0.first) } }
}

/// The errors of each group of the fleet.
package struct GroupErrors: Sendable {
    private let fleet: PhoneGroups
    private var groups: [ErrorSummary]

    package init(fleet: PhoneGroups) {
        self.fleet = fleet
        self.groups = Array(repeating: ErrorSummary(), count: fleet.groups.count)
    }

    package subscript(group: Int) -> ErrorSummary { self.groups[group] }

    package mutating func record(_ observation: Observation, cause: Cause? = nil) {
        // Most observations are routine, and to look into one copies it.
        guard !observation.isRoutine, case .phone(let payload) = observation.what,
            let error = RunError(payload), let group = self.fleet.group(of: observation.device)
        else { return }
        self.groups[group].add(
            error, at: observation.at, device: observation.device, scan: observation.scan, cause: cause)
    }
}
