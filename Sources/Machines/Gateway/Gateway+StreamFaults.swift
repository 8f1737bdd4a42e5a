internal import Faults
internal import OriginServer
internal import SimBase
internal import Talaria
internal import Wire

// Faults of event streams that pass: what they make of an event, and what they do by themselves.

extension Gateway {
    // MARK: What faults make of it

    mutating func distorted(
        _ block: SSEBlock, _ event: SSEEvent, _ kind: EventKind?, _ id: ExchangeID,
        into effects: inout [OriginEffect]
    ) -> [UInt8] {
        guard let kind, let stream = self.streams[id] else { return block.bytes }
        let original = event.bytes
        var data = original
        if kind == .completed, let body = self.degraded(data, id, stream, into: &effects) { data = body }
        if let bad = EventDistortion.badJSONPlace(of: kind),
            self.takeFault(of: id, where: { $0.kind == .badJSON(bad) }, into: &effects) != nil
        {
            return Self.rewritten(block, event, EventDistortion.badJSON(kind, job: stream.job))
        }
        switch kind {
        case .completed:
            data = self.stripped(data, id, stream, into: &effects)
            let links = UpstreamLinks(basePath: self.configuration.basePath, authority: stream.authority)
            if var object = JSONObjectText(data),
                object.changeStrings(under: UpstreamLinks.keys, { links.leadingBack($0) })
            {
                data = object.bytes
            }
        case .progress:
            if let shorter = EventDistortion.withoutMessage(data),
                self.meetFault(of: id, where: { $0.kind == .noMessage }, into: &effects) != nil
            {
                data = shorter
            }
        case .error, .ping, .enrichmentDegraded, .segmented, .bookProgress: break
        }
        return data == original ? block.bytes : Self.rewritten(block, event, data)
    }

    private mutating func stripped(
        _ data: [UInt8], _ id: ExchangeID, _ stream: RelayedStream, into effects: inout [OriginEffect]
    ) -> [UInt8] {
        // Only a client that comes again after the end sees that the buffer is lost.
        let isForgotten =
            self.jobs[stream.job]?.isForgetful == true && stream.ordinal > 1 && !stream.hasEvents
        if isForgotten { return EventDistortion.stripped(data, as: .absent) ?? data }
        guard EventDistortion.stripped(data, as: .absent) != nil,
            let fault = self.takeFault(
                of: id, where: { if case .stripBooks = $0.kind { true } else { false } }, into: &effects),
            case .stripBooks(let form) = fault.kind
        else { return data }
        return EventDistortion.stripped(data, as: form) ?? data
    }

    /// Says which books could not be looked up, and takes from them what a lookup adds.
    private mutating func degraded(
        _ data: [UInt8], _ id: ExchangeID, _ stream: RelayedStream, into effects: inout [OriginEffect]
    ) -> [UInt8]? {
        if let known = self.jobs[stream.job]?.degradation {
            return DegradedBooks(event: data, by: known)?.body
        }
        let fault = self.takeFault(
            of: id,
            where: { fault in
                guard let degradation = Degradation(fault),
                    let books = DegradedBooks(event: data, by: degradation)
                else { return false }
                return !books.taken.isEmpty
            }, into: &effects)
        guard let degradation = fault.flatMap({ Degradation($0) }),
            let books = DegradedBooks(event: data, by: degradation)
        else { return nil }
        self.jobs.update(stream.job) { $0.degradation = degradation }
        for book in books.taken {
            var bytes: [UInt8] = []
            SSEWriter.event(
                id: nil, type: EventKind.enrichmentDegraded.rawValue,
                data: EventDistortion.degradedData(
                    job: stream.job, isbn: book.isbn, title: book.title, timestamp: self.timestamp),
                into: &bytes)
            self.send(bytes, .extra, isNewEvent: false, id, into: &effects)
        }
        return books.body
    }

    /// The same event with other data; comments and fields beside it stay.
    private static func rewritten(_ block: SSEBlock, _ event: SSEEvent, _ data: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        for line in block.bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D })
        where line.first == UInt8(ascii: ":") || line.starts(with: Array("retry:".utf8)) {
            bytes += Array(line) + [0x0A]
        }
        SSEWriter.event(id: event.hasOwnID ? event.id : nil, type: event.type, data: data, into: &bytes)
        return bytes
    }

    /// Events of no job, each with an id of its own: to resume behind one is to go on with the event that follows.
    mutating func writeExtras(
        before event: SSEEvent, _ id: ExchangeID, into effects: inout [OriginEffect]
    ) {
        while let fault = self.takeFault(
            of: id, where: { $0.kind == .unknownEvent || $0.kind == .badJSON(.extra) }, into: &effects),
            let stream = self.streams[id]
        {
            let isUnknown = fault.kind == .unknownEvent
            let name = isUnknown ? EventDistortion.unknownName : EventKind.progress.rawValue
            let own = event.hasOwnID ? Self.neighbor(of: event.id, by: -1, name) : nil
            if let own { self.jobs.update(stream.job) { $0.alias(own, behind: stream.lastID) } }
            var bytes: [UInt8] = []
            SSEWriter.event(
                id: own, type: name,
                data: isUnknown
                    ? EventDistortion.unknownData(job: stream.job, timestamp: self.timestamp)
                    : EventDistortion.badJSON(.progress, job: stream.job),
                into: &bytes)
            self.send(bytes, .extra, isNewEvent: false, id, into: &effects)
        }
    }

    /// An id right before or after another; the contract's are milliseconds and a name.
    private static func neighbor(of id: String, by step: Int64, _ name: String) -> String {
        guard let dash = id.firstIndex(of: "-"), let milliseconds = Int64(id[..<dash]),
            milliseconds > 0, milliseconds < .max
        else { return "\(id)-\(name)" }
        return "\(milliseconds + step)-\(name)"
    }

    /// The live backend's second end: a `completed` without books, behind the first. A job that failed fails again.
    mutating func writeSecondTerminal(
        after event: SSEEvent, _ kind: EventKind, _ id: ExchangeID, into effects: inout [OriginEffect]
    ) {
        guard self.takeFault(of: id, where: { $0.kind == .twoTerminals }, into: &effects) != nil,
            let stream = self.streams[id]
        else { return }
        let own = event.hasOwnID ? Self.neighbor(of: event.id, by: 1, kind.rawValue) : nil
        if let own { self.jobs.update(stream.job) { $0.alias(own, behind: event.id) } }
        let data = event.bytes
        var bytes: [UInt8] = []
        SSEWriter.event(
            id: own, type: event.type,
            data: kind == .completed ? EventDistortion.stripped(data, as: .absent) ?? data : data,
            into: &bytes)
        self.send(
            bytes, Self.mark(kind, replayed: false, at: self.now), isNewEvent: true, id, into: &effects)
    }

    // MARK: Faults that act by themselves

    mutating func act(_ id: ExchangeID, into effects: inout [OriginEffect]) {
        let now = self.now
        while let found = self.streams.update(
            id, { stream in stream.faults.take(at: now, where: \.kind.actsByItself).map { ($0, stream) } }),
            let (fault, stream) = found
        {
            self.carryOut(fault, stream, id, into: &effects)
        }
    }

    /// A fault that finds nothing to do has not fired.
    private mutating func carryOut(
        _ fault: ArmedFault, _ stream: RelayedStream, _ id: ExchangeID,
        into effects: inout [OriginEffect]
    ) {
        let isRunning = self.jobs[stream.job]?.state == .open && !stream.isOver
        switch fault.kind {
        case .expireToken:
            self.observeFired(fault.fault, .stream, stream.caller, into: &effects)
            self.revoke(stream.job, stream.caller, into: &effects)
        case .jobGone(let status):
            self.observeFired(fault.fault, .stream, stream.caller, into: &effects)
            self.vanish(stream.job, stream.caller, status: status, into: &effects)
        case .retryableError(let code) where isRunning:
            self.observeFired(fault.fault, .stream, stream.caller, into: &effects)
            self.fail(stream, code, retryable: true, into: &effects)
        case .finalError(let code) where isRunning:
            self.observeFired(fault.fault, .stream, stream.caller, into: &effects)
            self.fail(stream, code, retryable: false, into: &effects)
        case .slowStage(let stage, let by) where isRunning && stream.slowness == nil:
            self.observeFired(fault.fault, .stream, stream.caller, into: &effects)
            let least = min(max(.zero, by.lowerBound), OriginLimits.intervalMax)
            let most = min(max(least, by.upperBound), OriginLimits.intervalMax)
            let width = UInt64((most - least).nanoseconds) + 1
            let late = least + Interval(nanoseconds: Int64(fault.draw.multipliedFullWidth(by: width).high))
            self.streams.update(id) { $0.slowness = (stage, late) }
        case .forgetEvents:
            self.observeFired(fault.fault, .stream, stream.caller, into: &effects)
            self.jobs.update(stream.job) { $0.isForgetful = true }
        default:
            break
        }
    }

    mutating func revoke(_ job: String, _ caller: Caller, into effects: inout [OriginEffect]) {
        self.setState(.revoked, of: job, caller)
        effects.append(self.sighting(caller, .tokenRevoked(job: job)))
        self.endStreams(of: job, into: &effects)
    }

    mutating func vanish(
        _ job: String, _ caller: Caller, status: Int, into effects: inout [OriginEffect]
    ) {
        self.setState(.gone(status), of: job, caller)
        effects.append(self.sighting(caller, .vanished(job: job)))
        self.endStreams(of: job, into: &effects)
    }

    private mutating func fail(
        _ stream: RelayedStream, _ code: String, retryable: Bool, into effects: inout [OriginEffect]
    ) {
        effects.append(
            self.sighting(stream.caller, .failed(job: stream.job, code: code, retryable: retryable)))
        let message = retryable ? "The photo could not be read just now." : "The photo cannot be used."
        let data = JSON.encode(
            ErrorData(jobId: stream.job, code: code, message: message, retryable: retryable))
        let name = EventKind.error.rawValue
        let eventID = stream.lastID.map { Self.neighbor(of: $0, by: 1, name) } ?? "1-\(name)"
        self.setState(.failed(id: eventID, data: data), of: stream.job, stream.caller)
        var bytes: [UInt8] = []
        SSEWriter.event(id: eventID, type: name, data: data, into: &bytes)
        for id in self.jobs[stream.job]?.streams ?? [] {
            self.write(
                bytes, Self.mark(.error, replayed: false, at: self.now), isNewEvent: true, id, into: &effects)
        }
        self.endStreams(of: stream.job, into: &effects)
    }

    private mutating func setState(_ state: RelayedJob.State, of job: String, _ caller: Caller) {
        if self.jobs[job] == nil {
            _ = self.jobs.insert(RelayedJob(id: job, owner: caller, accepted: self.now))
        }
        self.jobs.update(job) { $0.state = state }
    }

    mutating func takeFault(
        of id: ExchangeID, where applies: (ArmedFault) -> Bool, into effects: inout [OriginEffect]
    ) -> ArmedFault? {
        guard let stream = self.streams[id], !stream.faults.isEmpty else { return nil }
        let now = self.now
        guard let fault = self.streams.update(id, { $0.faults.take(at: now, where: applies) }) ?? nil else {
            return nil
        }
        self.observeFired(fault.fault, .stream, stream.caller, into: &effects)
        return fault
    }

    mutating func meetFault(
        of id: ExchangeID, where applies: (ArmedFault) -> Bool, into effects: inout [OriginEffect]
    ) -> ArmedFault? {
        guard let stream = self.streams[id], !stream.faults.isEmpty else { return nil }
        let now = self.now
        guard
            let (fault, isFirst) = self.streams.update(id, { $0.faults.meet(at: now, where: applies) }) ?? nil
        else { return nil }
        if isFirst { self.observeFired(fault.fault, .stream, stream.caller, into: &effects) }
        return fault
    }
}
