import HTTPServer
import Observations
import RunDriver
import SimBase
import TLS
import Talaria

/// A line for each request, for users at work with `serve` and `proxy`.
struct RequestLog: Sendable {
    private let faults: [String]
    private let wallClockAtZero: Int64
    /// What a request that means no operation of the contract goes without.
    private let consequence: String

    init(faults: [String], wallClockAtZero: Int64, hasUpstream: Bool) {
        self.faults = faults
        self.consequence = hasUpstream ? "; no fault acts on it (see --path)" : ""
        self.wallClockAtZero = wallClockAtZero
    }

    /// Serving continues when the lines are no longer read.
    func write(_ request: ServedRequest) {
        if let deviation = request.outsideContract { Self.write(deviation: deviation + self.consequence) }
        StandardStream.error.write(self.line(request) + "\n")
    }

    /// Serving continues when a connection fails.
    func write(_ failure: TLSFailure) {
        StandardStream.error.write(Printable.line("  TLS: \(failure)", bytesMax: 300) + "\n")
    }

    /// Writes what a request has and the contract does not define.
    static func write(_ observation: Observation) {
        guard case .backend(.found(let finding)) = observation.what else { return }
        let excerpt = finding.excerpt.map { " (\($0))" } ?? ""
        self.write(
            deviation: "\(finding.operation.name) request: \(finding.path): "
                + "expected \(finding.expected), was \(finding.seen)\(excerpt)")
    }

    private static func write(deviation: String) {
        let line = Printable.line("  not in the API contract: \(deviation)", bytesMax: 300)
        StandardStream.error.write(line + "\n")
    }

    /// Returns the line of a request; data from the peer is shortened and made one line.
    private func line(_ request: ServedRequest) -> String {
        let end = request.began + request.took
        let wall = self.wallClockAtZero + (end - Instant.zero).wholeMilliseconds
        let time = Timestamp.iso8601(unixMilliseconds: wall).dropFirst(11)
        var words = [
            String(time), Printable.line(request.method, bytesMax: 16),
            Printable.line(request.path, bytesMax: 200), request.status.map(String.init) ?? "-",
            "\(request.took.nanoseconds / 100_000 / 10).\(request.took.nanoseconds / 100_000 % 10)ms",
        ]
        words.append("device \(request.deviceID.map { Printable.line($0, bytesMax: 40) } ?? "-")")
        if let id = request.lastEventID { words.append("last-event-id \(Printable.line(id, bytesMax: 60))") }
        if request.scan != .none { words.append("scan \(request.scan.raw)") }
        for fault in request.faults where self.faults.indices.contains(fault) {
            words.append("fault \(self.faults[fault])")
        }
        return words.joined(separator: " ")
    }
}
