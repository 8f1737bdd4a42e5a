import Observations
import SimBase
import Talaria

// Answers come in, are attributed to what they answer, and are judged once they are whole.

extension App {
    /// The index of the request, or nil for one that was given up: its answer is late.
    private func exchangeIndex(_ id: RequestID) -> Int? {
        precondition(0 < id.raw && id.raw <= self.lastRequest, "an answer to a request never made")
        for index in self.exchanges.indices where self.exchanges[index].id == id { return index }
        return nil
    }

    mutating func replyHead(
        _ id: RequestID, _ head: ReplyHead, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let index = self.exchangeIndex(id) else { return }
        precondition(self.exchanges[index].head == nil, "a request has one answer")
        self.exchanges[index].head = head
        let exchange = self.exchanges[index]
        self.observe(
            .replied(
                exchange.operation, attempt: exchange.attempt, status: head.status,
                took: now - exchange.sentAt),
            of: exchange.scan, at: now, into: &effects)
        if let handshake = exchange.handshake, exchange.purpose == .stream, head.status == 101 {
            guard self.socketOpens(handshake, head, index, at: now, into: &effects) else { return }
            self.exchanges[index].deadline = nil
            self.streamOpened(exchange, at: now, into: &effects)
            self.socketOpened(exchange, at: now, into: &effects)
            return
        }
        switch exchange.purpose {
        case .stream where head.status == 200:
            let isStream =
                head.contentType == "text/event-stream" || self.profile.stream.statuses == .unchecked
            guard isStream, !head.isEncoded, exchange.handshake == nil else {
                // Its body may be endless; what it says does not matter.
                self.exchanges.remove(at: index)
                effects.append(.app(.abort(id)))
                self.conclude(exchange, body: [], isTooLarge: false, isCut: true, at: now, into: &effects)
                return
            }
            self.exchanges[index].deadline = nil
            self.streamOpened(exchange, at: now, into: &effects)
        case .upload, .stream, .results, .status, .cleanup, .cancel, .refresh:
            self.restartTimeout(of: index, at: now)
        case .drain, .left:
            break
        }
    }

    /// The timeout of a request is for its silence: it begins again with each byte of the answer, as that of URLSession does
    /// (Docs/apps.md section 4.2, step 8).
    private mutating func restartTimeout(of index: Int, at now: Instant) {
        let end = now + self.profile.timeout(of: self.exchanges[index].operation)
        self.exchanges[index].deadline = self.exchanges[index].deadline.map { max($0, end) }
    }

    /// - Returns: Whether anything changed beyond the stream that the bytes belong to.
    mutating func replyBytes(
        _ id: RequestID, _ bytes: ArraySlice<UInt8>, at now: Instant, into effects: inout [PhoneEffect]
    ) -> Bool {
        guard let index = self.exchangeIndex(id) else { return false }
        precondition(self.exchanges[index].head != nil, "a body before its head")
        switch self.exchanges[index].purpose {
        case .drain:
            return false
        case .left:
            self.exchanges[index].deadline = now + self.profile.stream.idleTimeout
            return false
        case .stream where self.exchanges[index].isOpenStream:
            return self.streamBytes(bytes, exchange: index, at: now, into: &effects)
        case .upload, .stream, .results, .status, .cleanup, .cancel, .refresh:
            guard !self.exchanges[index].collect(bytes) else {
                self.restartTimeout(of: index, at: now)
                return false
            }
            let exchange = self.exchanges.remove(at: index)
            effects.append(.app(.abort(id)))
            self.observe(
                .badAnswer(exchange.operation, attempt: exchange.attempt, .tooLarge), of: exchange.scan,
                at: now,
                into: &effects)
            self.conclude(exchange, body: [], isTooLarge: true, isCut: false, at: now, into: &effects)
            return true
        }
    }

    mutating func replyEnded(_ id: RequestID, at now: Instant, into effects: inout [PhoneEffect]) {
        guard let index = self.exchangeIndex(id), !self.hold(.whole, exchange: index) else { return }
        var exchange = self.exchanges.remove(at: index)
        switch exchange.purpose {
        case .drain, .left:
            break
        case .stream where exchange.isOpenStream:
            // An event without its blank line is discarded with the connection (WHATWG HTML section 9.2.6).
            self.streamLost(exchange.scan, .endWithoutTerminal, after: nil, at: now, into: &effects)
        case .upload, .stream, .results, .status, .cleanup, .cancel, .refresh:
            var body: [UInt8] = []
            swap(&body, &exchange.body)
            self.conclude(exchange, body: body, isTooLarge: false, isCut: false, at: now, into: &effects)
        }
    }

    mutating func replyFailed(
        _ id: RequestID, _ failure: TransportFailure, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let index = self.exchangeIndex(id), !self.hold(.failed(failure), exchange: index) else {
            return
        }
        self.requestFailed(self.exchanges.remove(at: index), failure, at: now, into: &effects)
    }

    /// A request ended without a whole answer, by the network or by our own deadline.
    mutating func requestFailed(
        _ exchange: Exchange, _ failure: TransportFailure, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        switch (exchange.purpose, exchange.head?.status) {
        case (.drain, _), (.left, _):
            return
        case (.stream, _) where exchange.isOpenStream:
            self.streamLost(exchange.scan, Self.lossCause(failure), after: nil, at: now, into: &effects)
            return
        case (_, .some(let status)) where !(200...299).contains(status):
            // The status says enough; only the details broke off.
            self.conclude(exchange, body: [], isTooLarge: false, isCut: true, at: now, into: &effects)
            return
        case (.upload, _), (.stream, _), (.results, _), (.status, _), (.cleanup, _), (.cancel, _),
            (.refresh, _):
            break
        }
        self.observe(
            .requestFailed(
                exchange.operation, attempt: exchange.attempt, failure, took: now - exchange.sentAt),
            of: exchange.scan, at: now, into: &effects)
        switch exchange.purpose {
        case .upload:
            self.uploadFailed(exchange.scan, .failed(failure), at: now, into: &effects)
        case .stream:
            self.streamNotOpened(exchange, failure, at: now, into: &effects)
        case .results:
            self.resultsFailed(exchange.scan, after: nil, at: now, into: &effects)
        case .status:
            self.statusFailed(exchange.scan, .transport, at: now, into: &effects)
        case .cleanup, .cancel:
            self.cleanupFailed(
                exchange, cause: .transport, after: nil, at: now, into: &effects)
        case .refresh:
            self.refreshFailed(exchange, after: nil, at: now)
        case .drain, .left:
            break
        }
    }

    /// A whole answer, or all that will ever come of it: `isCut`, for what of its body was lost or not waited for.
    private mutating func conclude(
        _ exchange: Exchange, body: [UInt8], isTooLarge: Bool, isCut: Bool, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        guard let head = exchange.head else { preconditionFailure("an answer without a head") }
        let answer = Answer(
            head: head, body: body, isTooLarge: isTooLarge, isCut: isCut,
            journey: self.journey(of: exchange.scan), problems: self.profile.upload.problems,
            waits: self.profile.waits,
            wallNanoseconds: self.wallNanoseconds(at: now))
        switch exchange.purpose {
        case .upload: self.uploadAnswered(exchange, answer, at: now, into: &effects)
        case .stream: self.streamAnswered(exchange, answer, at: now, into: &effects)
        case .results: self.resultsAnswered(exchange, answer, at: now, into: &effects)
        case .status: self.statusAnswered(exchange, answer, at: now, into: &effects)
        case .cleanup, .cancel: self.cleanupAnswered(exchange, answer, at: now, into: &effects)
        case .refresh: self.refreshAnswered(exchange, answer, at: now, into: &effects)
        case .drain, .left: break
        }
    }

    /// Reports what was wrong with an answer, unless it was its size: that is reported when it is noticed.
    mutating func observe(
        bad: BadAnswer?, _ exchange: Exchange, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let bad, bad != .tooLarge else { return }
        self.observe(
            .badAnswer(exchange.operation, attempt: exchange.attempt, bad), of: exchange.scan, at: now,
            into: &effects)
    }

    /// Reports what was found in an answer that the contract does not foresee.
    mutating func observe(
        _ answer: Answer, _ exchange: Exchange, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        let notes = answer.deviations(for: exchange.operation, of: self.journey(of: exchange.scan))
        guard !notes.isEmpty else { return }
        self.observe(
            notes, of: exchange.scan, exchange.operation, "\(answer.head.status)", at: now,
            into: &effects)
    }

    mutating func observe(
        _ notes: ContractNotes, of scan: ScanNumber, _ operation: Operation, _ part: String, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        for finding in notes.findings(operation, part) {
            self.observe(.found(finding), of: scan, at: now, into: &effects)
        }
    }

    /// Gives up every request that has timed out, and every stream that has been silent for too long.
    mutating func passDeadlines(at now: Instant, into effects: inout [PhoneEffect]) {
        let late = self.exchanges.indices.filter { self.exchanges[$0].deadline.map { $0 <= now } ?? false }
        for id in late.map({ self.exchanges[$0].id }) {
            guard let index = self.exchangeIndex(id) else { continue }
            let exchange = self.exchanges.remove(at: index)
            effects.append(.app(.abort(id)))
            self.requestFailed(exchange, .timedOut, at: now, into: &effects)
        }
        let silent = self.active.indices.filter { index in
            self.active[index].stage.lastByteAt.map { now - $0 >= self.profile.stream.idleTimeout } ?? false
        }
        for scan in silent.map({ self.active[$0].number }) {
            self.abort(activeScan: scan, into: &effects)
            self.streamLost(scan, .silence, after: nil, at: now, into: &effects)
        }
    }

    /// Returns the phone's own wall clock.
    func wallNanoseconds(at now: Instant) -> Int64 {
        // Wrapping: a clock may be set to any time, and nothing but a wait is made of it.
        self.wallClockAtZero &* 1_000_000 &+ now.nanoseconds &+ self.wallClockAhead.nanoseconds
    }

    /// Returns the cause of the loss of an open stream. A truncated body was closed by the peer, like a
    /// complete one: neither is a reset of the connection.
    private static func lossCause(_ failure: TransportFailure) -> LossCause {
        switch failure {
        case .closedEarly: .endWithoutTerminal
        case .timedOut: .silence
        case .malformed: .badAnswer
        case .noPath: .offline
        case .foreignURL: .foreignURL
        case .reset, .closedBeforeReply, .tls, .other, .nameNotResolved, .connectRefused, .connectFailed,
            .connectTimedOut, .descriptorsExhausted:
            .reset
        }
    }
}
