internal import Faults
internal import SimBase
internal import Talaria
internal import Wire

/// One open event stream of a foreign backend.
struct RelayedStream: Sendable {
    /// What waits for its time, because a stage is slow or a ping is late.
    struct HeldPiece: Sendable {
        var due: Instant
        var bytes: [UInt8]
        var mark: StreamMark
        /// Behind an event that ends the job comes the end of the stream.
        var isNewEvent: Bool
    }

    let job: String
    let caller: Caller
    let authority: String?
    /// Among the streams of its job, from 1.
    let ordinal: UInt32
    var faults: StreamFaults
    var reader = SSEBlockReader(bytesMax: Gateway.eventBytesMax)
    /// The last id of the upstream's that has passed, or that the phone came with.
    var lastID: String?
    var hasEvents = false
    var isOver = false
    /// From the first event of this stage on everything is later.
    var slowness: (stage: ScanPhase, by: Interval)?
    var delay = Interval.zero
    var held: [HeldPiece] = []
    /// The upstream has ended; what is held still goes out.
    var endsBehindHeld = false
}

// Event streams that pass, and what faults do to them. What a fault makes of an event is `EventDistortion`'s.

extension Gateway {
    // MARK: Opening

    /// Where the upstream is to go on, as far as faults have a say in it.
    mutating func resumePoint(
        _ asking: Asking, _ request: BackendRequest, _ jobID: String?, into effects: inout [GatewayEffect]
    ) -> ResumePoint {
        guard let id = request.lastEventID, !id.isEmpty else { return .asSent }
        if let fault = asking.fault(where: { $0 == .ignoreLastEventID }) {
            self.observeFired(fault.fault, asking.operation, asking.caller, into: &effects)
            // Older than every event there is: what is left of the buffer comes again (CONTRACT.md section 2.2).
            return .replaced("0-progress")
        }
        guard let job = jobID.flatMap({ self.jobs[$0] }) else { return .asSent }
        if job.isForgetful { return .removed }
        return job.meaning(of: id) ?? .asSent
    }

    mutating func openStream(
        _ asking: Asking, _ relay: Relay, _ head: UpstreamHead, into effects: inout [GatewayEffect]
    ) {
        guard let jobID = relay.jobID else { return }
        let id = asking.exchange
        if self.jobs[jobID] == nil,
            let oldest = self.jobs.insert(RelayedJob(id: jobID, owner: asking.caller, accepted: self.now))
        {
            effects.append(self.sighting(oldest.owner, .expired(job: oldest.id)))
        }
        let ordinal = self.jobs.update(jobID) { job in
            job.streams.append(id)
            job.streamsOpened += 1
            return job.streamsOpened
        }
        let faults = StreamFaults(asking.faults, opened: self.now)
        self.streams[id] = RelayedStream(
            job: jobID, caller: asking.caller, authority: relay.authority, ordinal: ordinal ?? 1,
            faults: faults)
        if let alarm = faults.nextAlarm(after: self.now) { self.agenda.insert(.fault(id), at: alarm) }
        effects.append(.answer(.openStream(id, headers: head.headers)))
        effects.append(
            self.sighting(
                asking.caller, .streamOpened(job: jobID, attempt: asking.caller.attempt, after: nil)))
        self.act(id, into: &effects)
    }

    /// A job that has failed for the phones says so again.
    func repeatFailure(
        _ asking: Asking, _ eventID: String, _ data: [UInt8], into effects: inout [GatewayEffect]
    ) {
        let id = asking.exchange
        effects.append(
            .answer(
                .openStream(
                    id,
                    headers: [
                        HeaderLine(HeaderName.requestID, self.metadata(id).requestId),
                        HeaderLine("Content-Type", "text/event-stream"),
                        HeaderLine("Cache-Control", "no-cache"),
                    ])))
        self.observeAnswer(asking, 200, into: &effects)
        var bytes: [UInt8] = []
        SSEWriter.event(id: eventID, type: EventKind.error.rawValue, data: data, into: &bytes)
        effects.append(.answer(.stream(id, bytes: bytes, Self.mark(.error, replayed: true, at: self.now))))
        effects.append(.answer(.endStream(id)))
    }

    // MARK: What comes

    mutating func streamReceived(_ id: ExchangeID, _ bytes: [UInt8], into effects: inout [GatewayEffect]) {
        var blocks: [SSEBlock] = []
        self.streams.update(id) { $0.reader.receive(bytes, into: &blocks) }
        for block in blocks {
            // A fault may have ended it meanwhile.
            guard self.streams[id] != nil else { return }
            self.pass(block, id, into: &effects)
        }
    }

    private mutating func pass(_ block: SSEBlock, _ id: ExchangeID, into effects: inout [GatewayEffect]) {
        guard let event = block.event else {
            self.send(block.bytes, .preamble, isNewEvent: false, id, into: &effects)
            return
        }
        switch EventKind(eventName: event.type) {
        case .ping?: self.passPing(block, event, id, into: &effects)
        case let kind: self.passEvent(block, event, kind, id, into: &effects)
        }
        self.act(id, into: &effects)
    }

    private mutating func passPing(
        _ block: SSEBlock, _ event: SSEEvent, _ id: ExchangeID, into effects: inout [GatewayEffect]
    ) {
        if self.meetFault(of: id, where: { $0.kind == .noPing }, into: &effects) != nil { return }
        let late = self.meetFault(
            of: id, where: { if case .latePing = $0.kind { true } else { false } }, into: &effects)
        let isBehind = self.streams[id].map { $0.held.isEmpty } == false
        guard case .latePing(let by)? = late?.kind else {
            // It overtakes what is held, so it must not move the point from which its reader goes on.
            let bytes = isBehind ? Self.withoutID(event) : block.bytes
            self.write(bytes, .ping, isNewEvent: false, id, into: &effects)
            if !isBehind, event.hasOwnID { self.streams.update(id) { $0.lastID = event.id } }
            return
        }
        let due = self.now + min(max(.zero, by), BackendConfiguration.intervalMax)
        self.hold(Self.withoutID(event), .ping, isNewEvent: false, due: due, id, into: &effects)
    }

    private static func withoutID(_ event: SSEEvent) -> [UInt8] {
        var bytes: [UInt8] = []
        SSEWriter.event(id: nil, type: event.type, data: event.data, into: &bytes)
        return bytes
    }

    private mutating func passEvent(
        _ block: SSEBlock, _ event: SSEEvent, _ kind: EventKind?, _ id: ExchangeID,
        into effects: inout [GatewayEffect]
    ) {
        guard let stream = self.streams[id] else { return }
        let isReplay =
            event.hasOwnID
            && self.jobs.update(stream.job) { $0.isReplay(event.id, on: stream.ordinal) } == true
        if let kind, let slowness = stream.slowness, stream.delay == .zero,
            Self.hasReached(slowness.stage, kind, event)
        {
            self.streams.update(id) { $0.delay = slowness.by }
        }
        self.writeExtras(before: event, id, into: &effects)
        let isTerminal = kind?.isTerminal == true
        if isTerminal,
            self.takeFault(of: id, where: { $0.kind == .endWithoutTerminal }, into: &effects) != nil
        {
            self.endStream(id, into: &effects)
            return
        }
        let bytes = self.distorted(block, event, kind, id, into: &effects)
        let mark =
            kind.map { Self.mark($0, replayed: isReplay, at: self.now) }
            ?? Self.mark(.progress, replayed: isReplay, at: self.now)
        self.send(bytes, mark, isNewEvent: !isReplay, id, into: &effects)
        self.streams.update(id) { stream in
            stream.hasEvents = true
            if event.hasOwnID { stream.lastID = event.id }
            if isTerminal { stream.isOver = true }
        }
        if isTerminal, let kind {
            self.jobs.update(stream.job) { if $0.state == .open { $0.state = .finished } }
            effects.append(self.sighting(stream.caller, .finished(job: stream.job, kind: kind, books: 0)))
            self.writeSecondTerminal(after: event, kind, id, into: &effects)
        }
    }

    private static func mark(_ kind: EventKind, replayed: Bool, at now: Instant) -> StreamMark {
        .event(position: 0, kind: kind, replayed: replayed, emitted: now)
    }

    /// Whether an event shows that a job is in this stage, or behind it.
    private static func hasReached(_ stage: ScanPhase, _ kind: EventKind, _ event: SSEEvent) -> Bool {
        if kind != .progress { return true }
        let status = JSONObjectText(event.data)?.text("status")
        let reached: ScanPhase? =
            switch status.flatMap(ScanStage.init) {
            case .analyzingImage: .analyzing
            case .identifyingBooks: .identifying
            case .enrichingMetadata, .complete: .enriching
            case nil: nil
            }
        let order = ScanPhase.allCases
        guard let reached, let here = order.firstIndex(of: reached), let there = order.firstIndex(of: stage)
        else { return false }
        return here >= there
    }

    // MARK: What faults make of it

    private mutating func distorted(
        _ block: SSEBlock, _ event: SSEEvent, _ kind: EventKind?, _ id: ExchangeID,
        into effects: inout [GatewayEffect]
    ) -> [UInt8] {
        guard let kind, let stream = self.streams[id] else { return block.bytes }
        let original = Array(event.data.utf8)
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
        _ data: [UInt8], _ id: ExchangeID, _ stream: RelayedStream, into effects: inout [GatewayEffect]
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
        _ data: [UInt8], _ id: ExchangeID, _ stream: RelayedStream, into effects: inout [GatewayEffect]
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
    private mutating func writeExtras(
        before event: SSEEvent, _ id: ExchangeID, into effects: inout [GatewayEffect]
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
    private mutating func writeSecondTerminal(
        after event: SSEEvent, _ kind: EventKind, _ id: ExchangeID, into effects: inout [GatewayEffect]
    ) {
        guard self.takeFault(of: id, where: { $0.kind == .twoTerminals }, into: &effects) != nil,
            let stream = self.streams[id]
        else { return }
        let own = event.hasOwnID ? Self.neighbor(of: event.id, by: 1, kind.rawValue) : nil
        if let own { self.jobs.update(stream.job) { $0.alias(own, behind: event.id) } }
        let data = Array(event.data.utf8)
        var bytes: [UInt8] = []
        SSEWriter.event(
            id: own, type: event.type,
            data: kind == .completed ? EventDistortion.stripped(data, as: .absent) ?? data : data,
            into: &bytes)
        self.send(
            bytes, Self.mark(kind, replayed: false, at: self.now), isNewEvent: true, id, into: &effects)
    }

    // MARK: Faults that act by themselves

    mutating func act(_ id: ExchangeID, into effects: inout [GatewayEffect]) {
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
        into effects: inout [GatewayEffect]
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
            let least = min(max(.zero, by.lowerBound), BackendConfiguration.intervalMax)
            let most = min(max(least, by.upperBound), BackendConfiguration.intervalMax)
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

    mutating func revoke(_ job: String, _ caller: Caller, into effects: inout [GatewayEffect]) {
        self.setState(.revoked, of: job, caller)
        effects.append(self.sighting(caller, .tokenRevoked(job: job)))
        self.endStreams(of: job, into: &effects)
    }

    mutating func vanish(
        _ job: String, _ caller: Caller, status: Int, into effects: inout [GatewayEffect]
    ) {
        self.setState(.gone(status), of: job, caller)
        effects.append(self.sighting(caller, .vanished(job: job)))
        self.endStreams(of: job, into: &effects)
    }

    private mutating func fail(
        _ stream: RelayedStream, _ code: String, retryable: Bool, into effects: inout [GatewayEffect]
    ) {
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

    private mutating func takeFault(
        of id: ExchangeID, where applies: (ArmedFault) -> Bool, into effects: inout [GatewayEffect]
    ) -> ArmedFault? {
        guard let stream = self.streams[id], !stream.faults.isEmpty else { return nil }
        let now = self.now
        guard let fault = self.streams.update(id, { $0.faults.take(at: now, where: applies) }) ?? nil else {
            return nil
        }
        self.observeFired(fault.fault, .stream, stream.caller, into: &effects)
        return fault
    }

    private mutating func meetFault(
        of id: ExchangeID, where applies: (ArmedFault) -> Bool, into effects: inout [GatewayEffect]
    ) -> ArmedFault? {
        guard let stream = self.streams[id], !stream.faults.isEmpty else { return nil }
        let now = self.now
        guard
            let (fault, isFirst) = self.streams.update(id, { $0.faults.meet(at: now, where: applies) }) ?? nil
        else { return nil }
        if isFirst { self.observeFired(fault.fault, .stream, stream.caller, into: &effects) }
        return fault
    }

    // MARK: Sending

    /// In its turn: behind what is held, and as late as its stage is slow.
    private mutating func send(
        _ bytes: [UInt8], _ mark: StreamMark, isNewEvent: Bool, _ id: ExchangeID,
        into effects: inout [GatewayEffect]
    ) {
        guard let stream = self.streams[id] else { return }
        guard stream.delay > .zero else {
            self.write(bytes, mark, isNewEvent: isNewEvent, id, into: &effects)
            return
        }
        self.hold(bytes, mark, isNewEvent: isNewEvent, due: self.now + stream.delay, id, into: &effects)
    }

    private mutating func hold(
        _ bytes: [UInt8], _ mark: StreamMark, isNewEvent: Bool, due: Instant, _ id: ExchangeID,
        into effects: inout [GatewayEffect]
    ) {
        self.streams.update(id) { stream in
            let piece = RelayedStream.HeldPiece(due: due, bytes: bytes, mark: mark, isNewEvent: isNewEvent)
            let place = stream.held.firstIndex { $0.due > due } ?? stream.held.count
            stream.held.insert(piece, at: place)
        }
        self.agenda.insert(.heldPiece(id), at: due)
    }

    mutating func sendHeld(_ id: ExchangeID, into effects: inout [GatewayEffect]) {
        let now = self.now
        while let first = self.streams[id]?.held.first, first.due <= now {
            self.streams.update(id) { _ = $0.held.removeFirst() }
            self.write(first.bytes, first.mark, isNewEvent: first.isNewEvent, id, into: &effects)
            self.act(id, into: &effects)
        }
        if let stream = self.streams[id], stream.held.isEmpty, stream.endsBehindHeld {
            self.endStream(id, into: &effects)
        }
    }

    private mutating func write(
        _ bytes: [UInt8], _ mark: StreamMark, isNewEvent: Bool, _ id: ExchangeID,
        into effects: inout [GatewayEffect]
    ) {
        guard self.streams[id] != nil else { return }
        effects.append(.answer(.stream(id, bytes: bytes, mark)))
        self.streams.update(id) { $0.faults.wrote(bytes: bytes.count, isNewEvent: isNewEvent) }
    }

    // MARK: Ends

    mutating func streamCompleted(_ id: ExchangeID, into effects: inout [GatewayEffect]) {
        self.passRest(id, into: &effects)
        guard let stream = self.streams[id] else { return }
        if stream.held.isEmpty {
            self.endStream(id, into: &effects)
        } else {
            self.streams.update(id) { $0.endsBehindHeld = true }
        }
    }

    /// What had passed the upstream when it died reaches the phone, and then the same end; no clean one is made up.
    mutating func streamFailed(
        _ id: ExchangeID, _ failure: UpstreamFailure, into effects: inout [GatewayEffect]
    ) {
        for piece in self.streams[id]?.held ?? [] {
            self.write(piece.bytes, piece.mark, isNewEvent: piece.isNewEvent, id, into: &effects)
        }
        self.passRest(id, into: &effects)
        guard let stream = self.streams[id] else { return }
        self.forget(id, stream)
        effects.append(.breakOff(id, failure.ending))
        effects.append(
            self.sighting(
                stream.caller, .streamEnded(job: stream.job, attempt: stream.caller.attempt, byPeer: false)))
    }

    private mutating func passRest(_ id: ExchangeID, into effects: inout [GatewayEffect]) {
        guard let rest = self.streams.update(id, { $0.reader.takeRest() }), !rest.isEmpty else { return }
        self.send(rest, .preamble, isNewEvent: false, id, into: &effects)
    }

    private mutating func endStreams(of job: String, into effects: inout [GatewayEffect]) {
        for id in self.jobs[job]?.streams ?? [] { self.endStream(id, into: &effects) }
    }

    private mutating func endStream(_ id: ExchangeID, into effects: inout [GatewayEffect]) {
        guard let stream = self.streams[id] else { return }
        self.forget(id, stream)
        effects.append(.answer(.endStream(id)))
        effects.append(.letGo(id))
        effects.append(
            self.sighting(
                stream.caller, .streamEnded(job: stream.job, attempt: stream.caller.attempt, byPeer: false)))
    }

    mutating func forget(_ id: ExchangeID, _ stream: RelayedStream) {
        self.streams[id] = nil
        self.jobs.update(stream.job) { job in
            if let place = job.streams.firstIndex(of: id) { job.streams.remove(at: place) }
        }
    }
}
