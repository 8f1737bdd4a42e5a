package import Faults
import Observations
package import SimBase
package import Talaria

/// The faults of the server that act on requests and open event streams. The simulated backend and the fault
/// gateway both use this code only.
///
/// A fault refuses a request (`Refusal`), changes a job (`JobChange`) or changes the data of a stream. Jobs
/// differ: the origin server applies a `JobChange` itself. A fault that finds nothing to change has not
/// fired.
package struct ServerFaults: Sendable {
    /// An open stream that faults may still change.
    private struct Stream: Sendable {
        let caller: Caller
        var faults: StreamServerFaults
        /// The next time at which a fault acts without an event.
        var alarm: Instant?
    }

    /// A change of a ping.
    package enum PingChange: Hashable, Sendable {
        case none, omitted
        case late(by: Interval)
    }

    private let wallClockAtZero: Int64
    /// Streams that were opened without faults are not here.
    private var streams = SlotMap<ExchangeID, Stream>()
    /// The limits of `rate-limit` faults, by the index of the fault in the scenario's list.
    private var limiters = SlotMap<Int, RateLimiter>()
    /// The number of streams with an alarm.
    package private(set) var alarms = 0

    /// `wallClockAtZero`: milliseconds since 1970 at `Instant.zero`.
    package init(wallClockAtZero: Int64) { self.wallClockAtZero = wallClockAtZero }

    // MARK: Requests

    /// Refuses an upload by the first fault of the list that does so. Without a device no quota applies.
    package mutating func refusal(
        ofUpload context: RequestContext, device: DeviceKey?, at now: Instant,
        into effects: inout [OriginEffect]
    ) -> Refusal? {
        for fault in context.faults {
            if case .httpError(let error) = fault.kind, fault.trigger == .atOnce {
                effects.append(context.fired(fault, at: now))
                return Refusal(error)
            }
            guard case .rateLimit(let quota, let retryAfter) = fault.kind, let device,
                let free = self.isLimited(by: fault.fault, quota, device, at: now)
            else { continue }
            effects.append(context.fired(fault, at: now))
            return .limited(
                quota, per: .device, until: free, retryAfter: retryAfter ?? free - now,
                wallClockAtZero: self.wallClockAtZero)
        }
        return nil
    }

    /// Returns the first time at which an upload is admitted; nil if it is admitted now.
    private mutating func isLimited(
        by fault: Int, _ quota: Quota, _ device: DeviceKey, at now: Instant
    ) -> Instant? {
        if self.limiters[fault] == nil { self.limiters[fault] = RateLimiter(quota: quota) }
        switch self.limiters.update(fault, { $0.ask(.device(device), at: now) }) {
        case .limited(let free): return free
        case .admitted, nil: return nil
        }
    }

    /// Refuses a request for a job by the first fault of the list that does so, and returns the change of the job.
    package func refusal(
        ofJobRequest context: RequestContext, at now: Instant, into effects: inout [OriginEffect]
    ) -> (refusal: Refusal, change: JobChange?)? {
        for fault in context.faults where fault.trigger == .atOnce && fault.kind.has(.refusesJobRequests) {
            effects.append(context.fired(fault, at: now))
            if case .httpError(let error) = fault.kind { return (Refusal(error), nil) }
            let change = JobChange(fault)
            guard case .remove(let status)? = change else { return (.tokenExpired, change) }
            return (.removed(status), change)
        }
        return nil
    }

    // MARK: Open streams

    /// Begins to apply the faults of a stream. Returns the first time at which one of them acts without an
    /// event.
    package mutating func open(
        _ context: RequestContext, isSocket: Bool = false, at now: Instant
    ) -> Instant? {
        // A message of a WebSocket has no lines to split.
        let armed = isSocket ? context.faults.filter { $0.kind != .eventShape(.splitData) } : context.faults
        let faults = StreamServerFaults(armed, opened: now)
        guard !faults.isEmpty else { return nil }
        let alarm = faults.nextAlarm(after: now)
        self.streams[context.exchange] = Stream(caller: context.caller, faults: faults, alarm: alarm)
        if alarm != nil { self.alarms += 1 }
        return alarm
    }

    package mutating func close(_ exchange: ExchangeID) {
        guard !self.streams.isEmpty, let stream = self.streams[exchange] else { return }
        if stream.alarm != nil { self.alarms -= 1 }
        self.streams[exchange] = nil
    }

    /// Counts a piece that was written.
    package mutating func wrote(_ bytes: [UInt8], _ mark: StreamPieceKind, to exchange: ExchangeID) {
        guard !self.streams.isEmpty else { return }
        self.streams.update(exchange) { $0.faults.wrote(bytes: bytes.count, isNewEvent: mark.isNewEvent) }
    }

    /// The time that `open` or `alarmPassed` returned last for the stream.
    package mutating func alarm(of exchange: ExchangeID) -> Instant? {
        self.streams.update(exchange) { $0.alarm } ?? nil
    }

    /// Returns the next time at which a fault of the stream acts without an event.
    package mutating func alarmPassed(of exchange: ExchangeID, at now: Instant) -> Instant? {
        let change = self.streams.update(exchange) { stream in
            defer { stream.alarm = stream.faults.nextAlarm(after: now) }
            return stream.alarm != nil
        }
        let next = self.alarm(of: exchange)
        if change == true, next == nil { self.alarms -= 1 }
        return next
    }

    /// Uses up the next fault of a stream that changes the job now, and returns the change with the observation that it has
    /// fired.
    package mutating func nextChange(
        of exchange: ExchangeID, at now: Instant
    ) -> (change: JobChange, fired: OriginEffect)? {
        guard !self.streams.isEmpty else { return nil }
        let found = self.streams.update(exchange) { stream in
            stream.faults.take(at: now, where: { $0.kind.has(.changesJob) }).map { ($0, stream.caller) }
        }
        guard let (fault, caller) = found ?? nil, let change = JobChange(fault) else { return nil }
        return (change, Self.fired(fault.fault, .stream, caller, at: now))
    }

    /// The degradation of a job that a stream brings, if `applies` accepts it.
    package mutating func degradation(
        on exchange: ExchangeID, at now: Instant, into effects: inout [OriginEffect],
        where applies: (Degradation) -> Bool
    ) -> Degradation? {
        let fault = self.take(
            on: exchange, at: now, into: &effects, where: { Degradation($0).map(applies) == true })
        return fault.flatMap(Degradation.init)
    }

    // MARK: Events

    /// The data of an event as the faults of the stream change them; nil if none does. Data that are not JSON replace every
    /// other change.
    package mutating func changedData(
        of kind: EventKind, _ data: @autoclosure () -> [UInt8], job: String, on exchange: ExchangeID,
        at now: Instant, into effects: inout [OriginEffect]
    ) -> [UInt8]? {
        guard !self.streams.isEmpty else { return nil }
        if let bad = EventDistortion.badJSONTarget(of: kind),
            self.take(on: exchange, at: now, into: &effects, where: { $0.kind == .badJSON(bad) }) != nil
        {
            return EventDistortion.badJSON(kind, job: job)
        }
        var changed: [UInt8]?
        let fault: ArmedFault?
        switch kind {
        case .completed:
            fault = self.take(on: exchange, at: now, into: &effects) { fault in
                guard case .stripBooks(let form) = fault.kind else { return false }
                changed = EventDistortion.stripped(data(), as: form)
                return changed != nil
            }
        case .progress:
            fault = self.fire(on: exchange, at: now, into: &effects) { fault in
                guard fault.kind == .eventShape(.noMessage) else { return false }
                changed = EventDistortion.withoutMessage(data())
                return changed != nil
            }
        case .error, .ping, .enrichmentDegraded, .segmented, .bookProgress, .result: fault = nil
        }
        let whole = fault.flatMap { _ in changed }
        guard
            kind != .ping,
            self.fire(on: exchange, at: now, into: &effects, where: { $0.kind == .eventShape(.splitData) })
                != nil
        else { return whole }
        return EventDistortion.split(whole ?? data())
    }

    /// The next event that the faults of a stream insert: one whose name the clients of the journey do not know, or a progress
    /// event whose data are not JSON.
    package mutating func nextExtra(
        on exchange: ExchangeID, job: String, _ journey: Journey, at now: Instant,
        into effects: inout [OriginEffect]
    ) -> (name: String, data: [UInt8])? {
        let fault = self.take(
            on: exchange, at: now, into: &effects,
            where: {
                if case .unknownEvent = $0.kind { true } else { $0.kind == .badJSON(.extra) }
            })
        guard let fault else { return nil }
        guard case .unknownEvent(let event) = fault.kind else {
            return (journey.version.progressName, EventDistortion.badJSON(.progress, job: job))
        }
        var name = EventDistortion.unknownName(event)
        // An event of another version that its own has, too, would not be unknown to its clients.
        if journey.version.knows(event: name) { name = EventDistortion.unknownName(nil) }
        return (name, EventDistortion.unknownData(name, job: job, timestamp: self.timestamp(at: now)))
    }

    private func timestamp(at now: Instant) -> String {
        Timestamp.iso8601(
            unixMilliseconds: self.wallClockAtZero + (now - Instant.zero).wholeMilliseconds)
    }

    /// Whether a stream ends where its terminal event would be.
    package mutating func endsWithoutTerminal(
        _ exchange: ExchangeID, at now: Instant, into effects: inout [OriginEffect]
    ) -> Bool {
        self.take(on: exchange, at: now, into: &effects, where: { $0.kind == .endWithoutTerminal }) != nil
    }

    /// The code with which a WebSocket is closed before its next event; nil if it is not.
    package mutating func socketClose(
        on exchange: ExchangeID, at now: Instant, into effects: inout [OriginEffect]
    ) -> Int? {
        let fault = self.take(on: exchange, at: now, into: &effects) {
            if case .socketClose = $0.kind { true } else { false }
        }
        guard case .socketClose(let code)? = fault?.kind else { return nil }
        return code
    }

    /// How the next event of a WebSocket is sent; nil: as it is.
    package mutating func frameShape(
        on exchange: ExchangeID, at now: Instant, into effects: inout [OriginEffect]
    ) -> FrameShape? {
        let fault = self.take(on: exchange, at: now, into: &effects) {
            if case .socketFrames(let shape) = $0.kind { shape != .fragmented } else { false }
        }
        if case .socketFrames(let shape)? = fault?.kind { return shape }
        let isFragmented = self.fire(on: exchange, at: now, into: &effects) {
            $0.kind == .socketFrames(.fragmented)
        }
        return isFragmented.map { _ in .fragmented }
    }

    /// The data of a second terminal event, as the live backend sends it: `completed` without books, after the first one
    /// (Docs/contract.md section 2.4). A job that failed fails again.
    package mutating func secondTerminal(
        _ kind: EventKind, _ data: @autoclosure () -> [UInt8], on exchange: ExchangeID, at now: Instant,
        into effects: inout [OriginEffect]
    ) -> [UInt8]? {
        guard
            self.take(on: exchange, at: now, into: &effects, where: { $0.kind == .twoTerminals }) != nil
        else { return nil }
        let first = data()
        return kind == .completed ? EventDistortion.stripped(first, as: .absent) ?? first : first
    }

    /// The change of a ping that is due. `isLate`: the ping has been delayed once, and is not delayed again.
    package mutating func pingChange(
        on exchange: ExchangeID, isLate: Bool, at now: Instant, into effects: inout [OriginEffect]
    ) -> PingChange {
        guard !self.streams.isEmpty else { return .none }
        if self.fire(on: exchange, at: now, into: &effects, where: { $0.kind == .noPing }) != nil {
            return .omitted
        }
        guard !isLate else { return .none }
        let fault = self.fire(
            on: exchange, at: now, into: &effects,
            where: { if case .latePing = $0.kind { true } else { false } })
        guard case .latePing(let by)? = fault?.kind else { return .none }
        return .late(by: min(max(.zero, by), OriginLimits.intervalMax))
    }

    // MARK: Firing

    /// Uses up the first fault that applies and whose trigger is reached.
    private mutating func take(
        on exchange: ExchangeID, at now: Instant, into effects: inout [OriginEffect],
        where applies: (ArmedFault) -> Bool
    ) -> ArmedFault? {
        guard !self.streams.isEmpty else { return nil }
        let found = self.streams.update(exchange) { stream in
            stream.faults.take(at: now, where: applies).map { ($0, stream.caller) }
        }
        guard let (fault, caller) = found ?? nil else { return nil }
        effects.append(Self.fired(fault.fault, .stream, caller, at: now))
        return fault
    }

    /// Returns the first such fault, which lasts as long as the stream: it fires the first time.
    private mutating func fire(
        on exchange: ExchangeID, at now: Instant, into effects: inout [OriginEffect],
        where applies: (ArmedFault) -> Bool
    ) -> ArmedFault? {
        guard !self.streams.isEmpty else { return nil }
        let found = self.streams.update(exchange) { stream in
            stream.faults.fire(at: now, where: applies).map { ($0.0, $0.isFirst, stream.caller) }
        }
        guard let (fault, isFirst, caller) = found ?? nil else { return nil }
        if isFirst { effects.append(Self.fired(fault.fault, .stream, caller, at: now)) }
        return fault
    }

    fileprivate static func fired(
        _ fault: Int, _ operation: Operation, _ caller: Caller, at now: Instant
    ) -> OriginEffect {
        .observe(
            Observation(
                at: now, device: caller.device, scan: caller.scan,
                what: .fault(.fired(fault: fault, operation, attempt: caller.attempt))))
    }
}

extension RequestContext {
    /// The observation that a fault has fired on this request.
    package func fired(_ fault: ArmedFault, at now: Instant) -> OriginEffect {
        ServerFaults.fired(fault.fault, self.operation, self.caller, at: now)
    }
}
