import Faults
import JSON
import OriginServer
import SimBase
import Talaria

/// The state of a server, shown at `/_sim`. No token is in it.
struct ServerStatus: Hashable, Sendable {
    struct Job: Hashable, Sendable {
        var id: String
        var device: String
        var scan: UInt32?
        var state: String
        /// The time since the upload was accepted.
        var tokenAgeMs: Int64
        /// Nil if only a foreign backend knows; 0 when it has expired.
        var tokenLeftMs: Int64?
        var events: Int?
        var streams: Int
    }

    struct Fault: Hashable, Sendable {
        /// An exchange that is under way and will meet the fault.
        struct Armed: Hashable, Sendable {
            var device: String
            var scan: UInt32?
            var operation: String
            var trigger: String
        }
        var id: String
        var kind: String
        var on: String
        /// Whether it acts on the exchanges that open now.
        var isOn: Bool
        var fired: Int
        var lastFiredMsAgo: Int64?
        var window: String
        var next: [Armed]
    }

    /// The token of faults on demand; nil if there are none.
    var controlToken: String?
    var serving: String
    /// Whether another backend answers.
    var isGateway: Bool
    var uptimeMs: Int64
    var connections: Int
    var streams: Int
    var jobsAlive: Int
    /// The newest first.
    var jobs: [Job]
    var faults: [Fault]
    /// What the trial of the clients has found; nil if they are not judged.
    var clients: ClientStatus?
}

extension ServerStatus: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            if let clients = self.clients {
                writer.key("clients")
                clients.write(to: &writer)
            }
            writer.member("connections", self.connections)
            writer.member("controlToken", self.controlToken)
            writer.array("faults", self.faults) { $1.write(to: &$0) }
            writer.array("jobs", self.jobs) { $1.write(to: &$0) }
            writer.member("jobsAlive", self.jobsAlive)
            writer.member("serving", self.serving)
            writer.member("streams", self.streams)
            writer.member("uptimeMs", self.uptimeMs)
        }
    }
}

extension ServerStatus.Job {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("device", self.device)
            writer.member("events", self.events)
            writer.member("id", self.id)
            writer.member("scan", self.scan)
            writer.member("state", self.state)
            writer.member("streams", self.streams)
            writer.member("tokenAgeMs", self.tokenAgeMs)
            writer.member("tokenLeftMs", self.tokenLeftMs)
        }
    }
}

extension ServerStatus.Fault {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("fired", self.fired)
            writer.member("id", self.id)
            writer.member("isOn", self.isOn)
            writer.member("kind", self.kind)
            writer.member("lastFiredMsAgo", self.lastFiredMsAgo)
            writer.array("next", self.next) { writer, armed in
                writer.object { writer in
                    writer.member("device", armed.device)
                    writer.member("operation", armed.operation)
                    writer.member("scan", armed.scan)
                    writer.member("trigger", armed.trigger)
                }
            }
            writer.member("on", self.on)
            writer.member("window", self.window)
        }
    }
}

extension Server {
    /// More are counted and not shown.
    private static let jobsShownMax = 100
    private static let armedShownMax = 5

    func status(at now: Instant) -> ServerStatus {
        ServerStatus(
            controlToken: self.context.controlToken, serving: self.origin.name,
            isGateway: self.context.origin.hasUpstream,
            uptimeMs: (now - Instant.zero).wholeMilliseconds, connections: self.connectionsOpen,
            streams: self.context.streamsOpenNow,
            jobsAlive: self.origin.jobsAlive,
            jobs: self.origin.summaries(max: Self.jobsShownMax).map { self.status(of: $0, at: now) },
            faults: self.context.faults.indices.map { self.status(ofFault: $0, at: now) },
            clients: self.clientStatus(at: now))
    }

    private func status(of job: JobSummary, at now: Instant) -> ServerStatus.Job {
        let left = job.tokenExpires.map { max($0 - now, .zero).wholeMilliseconds }
        return ServerStatus.Job(
            id: job.id, device: self.context.name(of: job.owner.device),
            scan: job.owner.scan == .none ? nil : job.owner.scan.raw, state: job.state,
            tokenAgeMs: (now - job.accepted).wholeMilliseconds,
            tokenLeftMs: job.isTokenRevoked ? 0 : left, events: job.events, streams: job.streams)
    }

    private func status(ofFault index: Int, at now: Instant) -> ServerStatus.Fault {
        let spec = self.context.faults[index]
        let firings = self.context.firings[index]
        return ServerStatus.Fault(
            id: spec.id, kind: spec.kind.name, on: spec.target.rawValue,
            isOn: self.context.isOn(index), fired: firings.count,
            lastFiredMsAgo: firings.last.map { (now - $0).wholeMilliseconds },
            window: spec.window.text(at: now), next: self.armed(index))
    }

    private func armed(_ index: Int) -> [ServerStatus.Fault.Armed] {
        var found: [ServerStatus.Fault.Armed] = []
        for connection in self.connections {
            guard found.count < Self.armedShownMax else { break }
            guard let exchange = connection.exchange, let key = exchange.key,
                !exchange.acted.contains(index),
                let armed = exchange.faults.first(where: { $0.fault == index })
            else { continue }
            found.append(
                ServerStatus.Fault.Armed(
                    device: self.context.name(of: key.device),
                    scan: key.scan == .none ? nil : key.scan.raw, operation: key.operation.name,
                    trigger: armed.trigger.text))
        }
        return found
    }
}

extension FaultWindow {
    fileprivate func text(at now: Instant) -> String {
        let since = now - Instant.zero
        guard self.at <= since else { return "starts in \((self.at - since).wholeMilliseconds) ms" }
        guard let length = self.length else { return "open" }
        let end = self.at + length
        return end > since ? "ends in \((end - since).wholeMilliseconds) ms" : "ended"
    }
}

extension ArmedTrigger {
    fileprivate var text: String {
        switch self {
        case .atOnce: "at once"
        case .afterTime(let time): "after \(time.wholeMilliseconds) ms"
        case .afterEvents(let count): "after \(count) events"
        case .afterBytes(let count): "after \(count) bytes"
        }
    }
}
