internal import Faults
import JSON
import Observations
internal import OriginServer
internal import SimBase
internal import Talaria
internal import Wire

// Event streams and jobs of a foreign backend under faults of the server. `ServerFaults` decides what a fault does.

extension Gateway {
    // MARK: Events

    /// The event as the faults of the stream change it. Untouched it passes byte for byte.
    mutating func changed(
        _ block: SSEBlock, _ event: SSEEvent, _ kind: EventKind?, _ id: ExchangeID,
        into effects: inout [OriginEffect]
    ) -> [UInt8] {
        guard let kind, let stream = self.streams[id] else { return block.bytes }
        let original = event.bytes
        var data = original
        if kind == .completed {
            data = self.degraded(data, id, stream, into: &effects) ?? data
            if self.hasLostEvents(stream) { data = EventDistortion.stripped(data, as: .absent) ?? data }
        }
        let changed = self.faults.changedData(
            of: kind, data, job: stream.job, on: id, at: self.now, into: &effects)
        data = changed ?? data
        if kind == .completed { data = self.relinked(data, stream) }
        return data == original ? block.bytes : Self.rewritten(block, event, data, on: stream)
    }

    /// Whether the stream replays the end of a job whose event buffer is lost. Only a client that reconnects notices.
    private func hasLostEvents(_ stream: ProxiedStream) -> Bool {
        self.jobs[stream.job]?.isForgetful == true && stream.ordinal > 1 && !stream.hasEvents
    }

    private func relinked(_ data: [UInt8], _ stream: ProxiedStream) -> [UInt8] {
        let links = UpstreamLinks(
            basePath: self.configuration.basePath, authority: stream.authority,
            isSecure: self.configuration.isSecure)
        guard var object = JSONObjectText(data),
            object.changeStrings(under: UpstreamLinks.keys, { links.leadingBack($0) })
        else { return data }
        return object.bytes
    }

    /// Removes from books what a lookup adds, and sends an event for each of them first. The gateway does not see lookups,
    /// so that all these events come directly before `completed`.
    private mutating func degraded(
        _ data: [UInt8], _ id: ExchangeID, _ stream: ProxiedStream, into effects: inout [OriginEffect]
    ) -> [UInt8]? {
        guard stream.journey.version.hasDegradedEvent else { return nil }
        if let known = self.jobs[stream.job]?.degradation {
            return DegradedBooks(event: data, by: known)?.body
        }
        let degradation = self.faults.degradation(on: id, at: self.now, into: &effects) {
            DegradedBooks(event: data, by: $0)?.taken.isEmpty == false
        }
        guard let degradation, let books = DegradedBooks(event: data, by: degradation) else { return nil }
        self.jobs.update(stream.job) { $0.degradation = degradation }
        for book in books.taken {
            let bytes = stream.bytes(
                id: nil, type: EventKind.enrichmentDegraded.rawValue,
                EventDistortion.degradedData(
                    job: stream.job, isbn: book.isbn, title: book.title, timestamp: self.timestamp))
            self.send(bytes, .extra, id, into: &effects)
        }
        return books.body
    }

    /// The bytes of an event with other data; its comments and other fields stay.
    private static func rewritten(
        _ block: SSEBlock, _ event: SSEEvent, _ data: [UInt8], on stream: ProxiedStream
    ) -> [UInt8] {
        let id = event.hasOwnID ? event.id : nil
        guard stream.socket == nil else { return stream.bytes(id: id, type: event.type, data) }
        var bytes: [UInt8] = []
        for line in block.bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D })
        where line.first == UInt8(ascii: ":") || line.starts(with: Array("retry:".utf8)) {
            bytes += Array(line) + [0x0A]
        }
        SSEWriter.event(id: id, type: event.type, data: data, into: &bytes)
        return bytes
    }

    /// Writes the events that faults insert before an event. To resume after one is to resume before that event.
    mutating func writeExtras(
        before event: SSEEvent, _ id: ExchangeID, into effects: inout [OriginEffect]
    ) {
        while let stream = self.streams[id],
            let (name, data) = self.faults.nextExtra(
                on: id, job: stream.job, stream.journey, at: self.now, into: &effects)
        {
            // Progress that cannot be read has the name that the upstream gives it.
            let subject = DottedEventName.subject(of: event.type)
            let name = name == V2EventName.processing ? subject?.progress ?? name : name
            let own = event.hasOwnID ? Self.neighbor(of: event.id, by: -1, name) : nil
            if let own { self.jobs.update(stream.job) { $0.alias(own, behind: stream.lastID) } }
            self.send(stream.bytes(id: own, type: name, data), .extra, id, into: &effects)
        }
    }

    /// An id directly before or after another one. Ids of the contract are milliseconds and a name.
    private static func neighbor(of id: String, by step: Int64, _ name: String) -> String {
        guard let dash = id.firstIndex(of: "-"), let milliseconds = Int64(id[..<dash]),
            milliseconds > 0, milliseconds < .max
        else { return "\(id)-\(name)" }
        return "\(milliseconds + step)-\(name)"
    }

    mutating func writeSecondTerminal(
        after event: SSEEvent, _ kind: EventKind, _ id: ExchangeID, into effects: inout [OriginEffect]
    ) {
        guard let stream = self.streams[id],
            let data = self.faults.secondTerminal(
                kind, event.bytes, on: id, at: self.now, into: &effects)
        else { return }
        let suffix = stream.journey.version.idSuffix(of: kind)
        let own = event.hasOwnID ? Self.neighbor(of: event.id, by: 1, suffix) : nil
        if let own { self.jobs.update(stream.job) { $0.alias(own, behind: event.id) } }
        self.send(
            stream.bytes(id: own, type: event.type, data),
            Self.mark(kind, replayed: false, at: self.now), id, into: &effects)
    }

    // MARK: Jobs

    /// Applies the changes of the job that faults of a stream cause now.
    mutating func applyFaults(of id: ExchangeID, into effects: inout [OriginEffect]) {
        while let (change, fired) = self.faults.nextChange(of: id, at: self.now),
            let stream = self.streams[id]
        {
            guard self.isApplicable(change, to: stream) else { continue }
            effects.append(fired)
            if case .slow(let stage, let by) = change {
                self.streams.update(id) { $0.slowness = (stage, by) }
            } else {
                self.apply(
                    change, to: stream.job, stream.journey, stream.caller, after: stream.lastID,
                    into: &effects)
            }
        }
    }

    private func isApplicable(_ change: JobChange, to stream: ProxiedStream) -> Bool {
        let isRunning = self.jobs[stream.job]?.state == .open && !stream.isOver
        switch change {
        case .revokeToken, .remove, .loseEvents: return true
        case .fail: return isRunning
        case .slow: return isRunning && stream.slowness == nil
        }
    }

    /// `lastID`: the id of the last event on the stream whose fault it is.
    mutating func apply(
        _ change: JobChange, to job: String, _ journey: Journey, _ caller: Caller,
        after lastID: String? = nil, into effects: inout [OriginEffect]
    ) {
        switch change {
        case .revokeToken:
            self.setState(.revoked, of: job, journey, caller)
            effects.append(self.payload(caller, .tokenRevoked(job: job)))
            self.endStreams(of: job, into: &effects)
        case .remove(let status):
            self.setState(.gone(status), of: job, journey, caller)
            effects.append(self.payload(caller, .vanished(job: job)))
            self.endStreams(of: job, into: &effects)
        case .fail(let code, let retryable):
            self.fail(job, journey, caller, code, retryable: retryable, after: lastID, into: &effects)
        case .slow: break  // Of one stream: the upstream's job takes its time.
        case .loseEvents: self.jobs.update(job) { $0.isForgetful = true }
        }
    }

    private mutating func fail(
        _ job: String, _ journey: Journey, _ caller: Caller, _ code: String, retryable: Bool,
        after lastID: String?, into effects: inout [OriginEffect]
    ) {
        effects.append(self.payload(caller, .failed(job: job, code: code, retryable: retryable)))
        let (name, data) = journey.failure(
            JobChange.failure(job: job, code: code, retryable: retryable, payload: journey.payload),
            job: job, self.jobs[job]?.subject, after: self.jobs[job]?.lastProgress ?? [])
        let suffix = journey.version.idSuffix(of: .error)
        let eventID = lastID.map { Self.neighbor(of: $0, by: 1, suffix) } ?? "1-\(suffix)"
        self.setState(.failed(id: eventID, name: name, data: data), of: job, journey, caller)
        for id in self.jobs[job]?.streams ?? [] {
            guard let bytes = self.streams[id]?.bytes(id: eventID, type: name, data) else { continue }
            self.write(bytes, Self.mark(.error, replayed: false, at: self.now), id, into: &effects)
        }
        self.endStreams(of: job, into: &effects)
    }

    private mutating func setState(
        _ state: ProxiedJob.State, of job: String, _ journey: Journey, _ caller: Caller
    ) {
        if self.jobs[job] == nil {
            _ = self.jobs.insert(
                ProxiedJob(id: job, journey: journey, owner: caller, accepted: self.now))
        }
        self.jobs.update(job) { $0.state = state }
    }
}
