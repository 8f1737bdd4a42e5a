import Foundation
import Testing

/// The folder that a run has written, as a reader of its files sees it.
struct RunReport {
    let folder: URL

    var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: self.folder.appending(path: name)), as: UTF8.self)
    }

    func summary() throws -> Summary {
        try JSONDecoder().decode(
            Summary.self, from: Data(contentsOf: self.folder.appending(path: "summary.json")))
    }

    /// How many values a latency has; none where it cannot be known.
    func metricCount(_ name: String) throws -> Int {
        struct Latencies: Decodable {
            struct Latency: Decodable {
                var count: Int

                init(from decoder: any Decoder) throws {
                    let fields = try? decoder.container(keyedBy: Key.self)
                    self.count = try fields?.decode(Int.self, forKey: .count) ?? 0
                }

                private enum Key: CodingKey { case count }
            }
            var metrics: [String: Latency]
        }
        let summary = try Data(contentsOf: self.folder.appending(path: "summary.json"))
        return try JSONDecoder().decode(Latencies.self, from: summary).metrics[name]?.count ?? 0
    }

    /// The files of a run that came to its end.
    static let names = [
        "events.ndjson", "junit.xml", "latency.hlog", "metrics.prom", "report.html", "report.md", "run.json",
        "scans.ndjson", "scenario.resolved", "series.ndjson", "summary.json",
    ]

    /// The observations so far. The last line of a run that goes on may be half written.
    func log() throws -> [LogLine] {
        let file = self.folder.appending(path: "events.ndjson")
        guard let data = try? Data(contentsOf: file), let end = data.lastIndex(of: UInt8(ascii: "\n"))
        else { return [] }
        let decoder = JSONDecoder()
        return try data[..<end].split(separator: UInt8(ascii: "\n")).map {
            try decoder.decode(LogLine.self, from: $0)
        }
    }
}

/// `summary.json`, as far as the tests read it.
struct Summary: Decodable {
    struct Scans: Decodable {
        var captured, restored, completed, refused, waiting, discarded, lost: Int
        /// There only where some user has canceled.
        var canceled: Int?
        var waiting_by_cause: [String: Int]

        /// Every scan is in one class, and a scan that waits says why.
        var isConserved: Bool {
            self.captured + self.restored
                == self.completed + self.refused + self.waiting + self.discarded + self.lost
                + (self.canceled ?? 0)
                && self.waiting == self.waiting_by_cause.values.reduce(0, +)
        }
    }

    struct Books: Decodable {
        var expected, missing: Figure
        var received, duplicated: Int
    }

    struct Jobs: Decodable {
        var abandoned_by_cause: [String: Int]
    }

    struct Loss: Decodable {
        var cause: String
        var count, resumed, restarted, gave_up: Int
    }

    struct Invariant: Decodable {
        struct Example: Decodable {
            var device: Int
            var scan: Int?
            var text: String
        }

        var id: String
        var violations: Figure
        var first: Example?
    }

    struct Finding: Decodable {
        var operation, part, path, seen: String?
        var used: Bool?
        var count: Int?
    }

    struct Resources: Decodable {
        var client_rss_kb, backend_rss_kb: Figure
    }

    var world: String
    var devices: Int
    var scans: Scans
    var books: Books
    var jobs: Jobs
    var disconnections: [Loss]
    var findings: [Finding]
    var counters: [String: Figure]
    var faults: [String: Figure]
    var invariants: [Invariant]
    var resources: Resources
    var warnings: [String]
    var failure: String?
    var passed: Bool
    var exit: Int32

    var broken: [Invariant] { self.invariants.filter { ($0.violations.number ?? 0) > 0 } }
}

/// A number, or the word that it cannot be known.
enum Figure: Decodable, Equatable {
    case known(Int)
    case notAvailable

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int.self) {
            self = .known(number)
        } else {
            let word = try container.decode(String.self)
            guard word == "n/a" else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(word)'")
            }
            self = .notAvailable
        }
    }

    var number: Int? {
        switch self {
        case .known(let number): number
        case .notAvailable: nil
        }
    }
}

/// A line of `events.ndjson`, as far as the tests read it.
struct LogLine: Decodable {
    /// Nanoseconds since the start of the run.
    var t: Int64
    var device: Int
    var scan: Int?
    var side, what: String
    var fault, operation, problem, failure, cause, job, last_event_id: String?
    var attempt, connection, status: Int?
    var scheduled_ns: Int64?
    var fires: Bool?

    /// One request of one phone.
    struct Exchange: Hashable {
        var device: Int
        var scan: Int?
        var operation: String?
        var attempt: Int?
    }

    var exchange: Exchange {
        Exchange(device: self.device, scan: self.scan, operation: self.operation, attempt: self.attempt)
    }

    func isBackend(_ what: String) -> Bool { self.side == "backend" && self.what == what }
    func isPhone(_ what: String) -> Bool { self.side == "phone" && self.what == what }
    func isFault(_ what: String) -> Bool { self.side == "fault" && self.what == what }
}
