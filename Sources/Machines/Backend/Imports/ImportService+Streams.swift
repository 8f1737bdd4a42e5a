internal import CSV
import JSON
internal import OriginServer
internal import SimBase
internal import Talaria
internal import Wire

extension ImportService {
    /// The events of a stream (Docs/contract.md section 3.3), with the ends of their ids.
    private enum Event: String {
        case initialized, processing, completed, failed, timeout

        var suffix: String {
            switch self {
            case .initialized: "initial"
            case .processing: "progress"
            case .completed, .failed, .timeout: "final"
            }
        }
    }

    /// Opens a stream with an event that says where the job stands, unless the client has seen that one.
    mutating func openStream(
        _ exchange: ExchangeID, _ key: JobKey, lastEventID: String?, _ headers: [HeaderField],
        into effects: inout [OriginEffect]
    ) {
        self.process(key)
        let stream = OpenStream(
            job: key, heartbeat: self.now + self.rules.heartbeat, endsAt: self.now + self.rules.streamTime)
        self.streams[exchange] = stream
        self.jobs.update(key) { $0.streams.append(exchange) }
        self.schedule(.heartbeat(exchange), at: stream.heartbeat)
        self.schedule(.timeout(exchange), at: stream.endsAt)
        effects.append(.openStream(exchange, headers: headers))
        var preamble: [UInt8] = []
        SSEWriter.retry(self.rules.retryField, into: &preamble)
        effects.append(.stream(exchange, bytes: preamble, .preamble))
        guard let job = self.jobs[key] else { return }
        // An end is told again: a client that asks once more has not understood it.
        let isKnown = !job.isOver && !job.lastEvent.isEmpty && job.lastEvent == lastEventID
        if !isKnown {
            let bytes = job.lastEvent.isEmpty || !job.isOver ? self.event(key) : self.event(key, again: true)
            effects.append(.stream(exchange, bytes: bytes, .extra))
        }
        if job.isOver { self.endStream(exchange, into: &effects) }
    }

    /// Sends every stream of a job where it stands, and ends them with it.
    mutating func broadcast(_ key: JobKey, into effects: inout [OriginEffect]) {
        guard let job = self.jobs[key] else { return }
        let bytes = self.event(key)
        for exchange in job.streams {
            effects.append(.stream(exchange, bytes: bytes, .extra))
            if job.isOver { self.endStream(exchange, into: &effects) }
        }
    }

    mutating func heartbeat(_ exchange: ExchangeID, into effects: inout [OriginEffect]) {
        var comment: [UInt8] = []
        SSEWriter.comment("heartbeat", into: &comment)
        effects.append(.stream(exchange, bytes: comment + [0x0A], .ping))
        let next = self.now + self.rules.heartbeat
        self.streams.update(exchange) { $0.heartbeat = next }
        self.schedule(.heartbeat(exchange), at: next)
    }

    mutating func timeOut(_ exchange: ExchangeID, into effects: inout [OriginEffect]) {
        guard let key = self.streams[exchange]?.job else { return }
        effects.append(.stream(exchange, bytes: self.event(key, named: .timeout), .extra))
        self.endStream(exchange, into: &effects)
    }

    private mutating func endStream(_ exchange: ExchangeID, into effects: inout [OriginEffect]) {
        self.forget(exchange)
        effects.append(.endStream(exchange))
    }

    /// The connection of a stream is gone.
    mutating func forget(_ exchange: ExchangeID) {
        guard let key = self.streams[exchange]?.job else { return }
        self.streams[exchange] = nil
        self.jobs.update(key) { $0.streams.removeAll { $0 == exchange } }
    }

    // MARK: Events

    /// The event of the state of a job. Its id is new, and greater than all before.
    ///
    /// - Parameter again: The id of the last event, whose state has not changed.
    private mutating func event(_ key: JobKey, again: Bool = false, named: Event? = nil) -> [UInt8] {
        guard let job = self.jobs[key] else { return [] }
        let event = named ?? Self.event(of: job)
        var id = job.lastEvent
        if !again {
            let milliseconds = max(self.wall(at: self.now), job.lastEventID + 1)
            id = "\(milliseconds)-\(event.suffix)"
            self.jobs.update(key) { ($0.lastEventID, $0.lastEvent) = (milliseconds, id) }
        }
        var bytes: [UInt8] = []
        SSEWriter.event(id: id, type: event.rawValue, data: self.data(of: job, event), into: &bytes)
        return bytes
    }

    private static func event(of job: ImportJob) -> Event {
        switch job.phase {
        case .processing: job.account.processed == 0 ? .initialized : .processing
        case .completed: .completed
        case .failed, .canceled: .failed
        }
    }

    private func data(of job: ImportJob, _ event: Event) -> [UInt8] {
        let account = job.account
        return JSON.object { writer in
            switch job.phase {
            case .completed(let at) where event == .completed:
                writer.member("completedAt", timestamp: self.wall(at: at))
                writer.member("expiresAt", timestamp: self.wall(at: at + self.rules.resultsLifetime))
            case .failed(let error, _):
                writer.object("error") { writer in
                    writer.member("code", "E_CSV_PARSE_FAILED")
                    writer.member("message", error.text)
                    writer.member("retryable", false)
                }
            case .canceled:
                writer.object("error") { writer in
                    writer.member("code", "CANCELED")
                    writer.member("message", "The import was canceled.")
                    writer.member("retryable", false)
                }
            case .processing, .completed: break
            }
            writer.member("jobId", job.id)
            if event == .completed { writer.member("pipeline", "csv_import") }
            writer.member("processedCount", account.processed)
            writer.member("progress", thousandths: job.progressThousandths)
            writer.member("status", job.status)
            if event == .completed {
                writer.object("summary") { writer in
                    writer.member("duration", job.time.wholeMilliseconds)
                    writer.member("failureCount", account.failed)
                    writer.member("resourceId") {
                        $0.append(literal: "job-results:")
                        $0.append(text: job.id)
                    }
                    writer.member("successCount", account.succeeded + account.skipped)
                    writer.member("totalProcessed", account.processed)
                }
            }
            writer.member("totalCount", account.total)
            if event == .completed { writer.member("type", "job_complete") }
        }
    }
}

extension ImportJob {
    /// The share of its rows that have an outcome.
    var progressThousandths: Int {
        self.account.total == 0
            ? (self.isOver ? 1_000 : 0) : self.account.processed * 1_000 / self.account.total
    }
}
