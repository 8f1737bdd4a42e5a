import JSON
import SimBase
import Talaria
import Wire

// What the events of a target show.

extension TargetTrial {
    mutating func streamed(_ event: SSEEvent, _ id: UInt64, at now: Instant) {
        guard let exchange = self.exchanges[id], let job = exchange.request.job else { return }
        let request = exchange.request
        let kind = request.journey.kind(ofEvent: event.type)
        guard kind != .ping else { return self.judgePing(event, request, id, at: now) }
        let node = JSONNode(event.bytes)
        guard kind != nil || event.type != "message" || node?.kind == .object else {
            return self.notePlain(event, request, id, at: now)
        }
        self.judgeName(in: node, of: event.type, request, id, at: now)
        let came = TrialEvent(event, kind, stream: id, after: exchange.stream?.last, at: now)
        let time = self.judgeTime(in: node, of: event.type, request, id, at: now)
        self.judgeExpiry(in: node, of: event.type, request, id, at: now)
        if request.journey.version.isJudgedInDetail { self.judgeID(of: event, came, request, id, at: now) }
        self.judgeTerminal(came, event.type, request, id, at: now)
        self.noteProgress(event, kind, node, id, at: now)
        if !event.isInitial { self.judgeResume(came, event, request, id, at: now) }
        let known = self.jobs[job]?.events.count
        if let place = self.jobs.update(job, { $0.record(came) }) ?? nil {
            // One that comes again has its old timestamp.
            let isFirst = place == known && request.lastEventID == nil && !request.isReturn
            if isFirst, let time = time ?? self.time(ofID: event, node, request, at: now) {
                self.measure(time, request, at: now)
            }
            self.exchanges.update(id) { exchange in
                exchange.stream?.shown.insert(place)
                exchange.stream?.last = place
            }
        }
        if kind == .result, let book = TrialBooks(ofResult: node) { self.showed(book, request, id, at: now) }
        if let kind, kind.isTerminal {
            self.judgeWhole(request, id, at: now)
            self.noteLength(request, id, at: now)
            self.finished(kind, node, request, id, at: now)
            // What comes after the terminal event is seen, too.
            if request.probe == .witness { self.probes.cancel(id, at: now + self.rules.settle) }
            if request.probe == .reconnect { self.probes.cancel(id, at: now + Self.closeTime) }
        }
    }

    /// The time of an event or a message whose data have none, in milliseconds since 1970; nil for an id of another form.
    private func time(
        ofID event: SSEEvent, _ node: JSONNode?, _ request: TrialRequest, at now: Instant
    ) -> Int64? {
        guard node?["timestamp"] == nil, !event.isInitial, let time = event.idTime,
            self.difference(of: time, request, at: now) == nil
        else { return nil }
        return time
    }

    /// The target has sent a book before the end of its job.
    private mutating func showed(_ book: TrialBooks, _ request: TrialRequest, _ id: UInt64, at now: Instant) {
        self.attempt(.text, request, at: now)
        if let sign = book.signOfWrongText {
            self.breaks(.text, request, id, at: now, "a result event: \(sign)")
        }
        guard let job = request.job else { return }
        self.jobs.update(job) { job in
            job.shown = job.shown ?? book
            job.shown?.add(book, max: TrialJob.shownMax)
        }
    }

    /// Two streams of a job show the same events, from the first of each on.
    private mutating func judgeWhole(_ request: TrialRequest, _ id: UInt64, at now: Instant) {
        guard self.rules.witness > 0, !request.journey.version.mayPassChangesOver, let job = request.job,
            let known = self.jobs[job], known.isWhole, let shown = self.exchanges[id]?.stream?.shown,
            let first = shown.min(), let last = shown.max()
        else { return }
        self.attempt(.streamsAgree, request, at: now)
        let missing = (first...last).filter { place in
            !shown.contains(place) && !known.events[place].isInitial && !known.events[place].isTerminal
                && known.isKnown(place, afterAny: { shown.contains($0) })
        }
        guard let place = missing.first else { return }
        self.breaks(
            .streamsAgree, request, id, at: now,
            "\(missing.count) events of another stream of the job did not come on this one, the first is event \(place + 1)"
        )
    }

    /// An answer or an event may leave the job out, but not name another one.
    mutating func judgeName(
        in node: JSONNode?, of what: String, _ request: TrialRequest, _ id: UInt64, at now: Instant
    ) {
        guard let named = node?["jobId"]?.text ?? node?["data"]?["jobId"]?.text else { return }
        self.attempt(.jobAddressed, request, at: now)
        guard let job = request.job, named != job else { return }
        self.breaks(
            .jobAddressed, request, id, at: now,
            "\(what.bounded) of the job \(job.bounded) names the job \(named.bounded)")
    }

    // MARK: Ids

    private mutating func judgeID(
        of event: SSEEvent, _ came: TrialEvent, _ request: TrialRequest, _ id: UInt64, at now: Instant
    ) {
        guard let job = request.job else { return }
        self.attempt(.ids, request, at: now)
        guard event.hasOwnID else {
            return self.breaks(.ids, request, id, at: now, "\(event.type.bounded) has no id")
        }
        guard let time = event.idTime else {
            return self.breaks(
                .ids, request, id, at: now,
                "\(event.type.bounded) has the id “\(event.id.bounded)”, which is no time and type")
        }
        self.judgeClock(ofID: time, event, request, id, at: now)
        let events = self.jobs[job]?.events ?? []
        if let other = events.first(where: { $0.id == came.id && !$0.isSame(as: came) }) {
            if other.name != came.name {
                self.breaks(
                    .ids, request, id, at: now,
                    "\(event.type.bounded) has the id “\(event.id.bounded)” of another event")
            } else if other.stream == id, now - other.at > .seconds(1) {
                // Events of one millisecond may share an id.
                self.breaks(
                    .ids, request, id, at: now,
                    "two \(event.type.bounded) events \(milliseconds: now - other.at) ms apart have the id “\(event.id.bounded)”"
                )
            }
        }
        guard !event.isInitial else { return }
        let last = self.exchanges.update(id) { exchange -> Int64? in
            defer { exchange.stream?.lastTime = time }
            return exchange.stream?.lastTime
        }
        if self.rules.hasRisingIDs, let last = last ?? nil, time < last {
            self.breaks(
                .ids, request, id, at: now,
                "the id “\(event.id.bounded)” of \(event.type.bounded) goes back by \(last - time) ms")
        }
    }

    /// A client goes on after the id of a ping, too.
    private mutating func judgePing(
        _ event: SSEEvent, _ request: TrialRequest, _ id: UInt64, at now: Instant
    ) {
        guard event.hasOwnID, !event.id.isEmpty, request.journey.version.isJudgedInDetail else { return }
        self.attempt(.ids, request, at: now)
        guard let time = event.idTime else {
            return self.breaks(
                .ids, request, id, at: now,
                "a ping has the id “\(event.id.bounded)”, which is no time and type")
        }
        self.judgeClock(ofID: time, event, request, id, at: now)
    }

    // MARK: Resuming

    private mutating func judgeResume(
        _ came: TrialEvent, _ event: SSEEvent, _ request: TrialRequest, _ id: UInt64, at now: Instant
    ) {
        guard let job = request.job, let resume = self.exchanges[id]?.stream?.resume,
            let known = self.jobs[job], known.isWhole
        else { return }
        let last = request.lastEventID ?? ""
        if known.hasPassed(came) {
            return self.breaks(
                .resume, request, id, at: now,
                "\(event.type.bounded) “\(event.id.bounded)” came with other data than on an earlier stream")
        }
        if let place = known.events.firstIndex(where: { $0.isSame(as: came) }) {
            if place == resume.place || known.isKnown(resume.place, after: place) {
                guard !came.isTerminal, !known.repeatsEvents else { return }
                return self.breaks(
                    .resume, request, id, at: now,
                    "\(event.type.bounded) “\(event.id.bounded)” came again on a stream that goes on after “\(last.bounded)”"
                )
            }
            // Another stream has shown it, and where it belongs is not known.
            guard came.isTerminal || resume.pending.contains(place) else { return }
        }
        let place = resume.pending.firstIndex { place in
            known.events[place].isSame(as: came) || known.events[place].isTerminal && came.isTerminal
        }
        let skipped = resume.pending[..<(place ?? resume.pending.endIndex)]
        let rest = place.map { Array(resume.pending[($0 + 1)...]) } ?? []
        self.exchanges.update(id) { $0.stream?.resume?.pending = rest }
        guard !skipped.isEmpty else { return }
        self.breaks(
            .resume, request, id, at: now,
            "\(skipped.count) of the events after “\(last.bounded)” did not come before \(event.type.bounded) “\(event.id.bounded)”"
        )
    }

    // MARK: Ends

    private mutating func judgeTerminal(
        _ came: TrialEvent, _ name: String, _ request: TrialRequest, _ id: UInt64, at now: Instant
    ) {
        let before = self.exchanges.update(id) { exchange -> (event: TrialEvent?, count: Int) in
            defer {
                if came.isTerminal {
                    let isRepeated = exchange.stream?.terminal?.isSame(as: came) == true
                    exchange.stream?.terminal = came
                    if !isRepeated { exchange.stream?.terminals += 1 }
                }
            }
            return (exchange.stream?.terminal, exchange.stream?.terminals ?? 0)
        }
        guard came.isTerminal || before?.event != nil else { return }
        self.attempt(.terminal, request, at: now)
        guard let first = before?.event, let count = before?.count else { return }
        guard !first.isSame(as: came) else {
            return self.note(.repeatedTerminal, request, id, at: now, "the same one twice")
        }
        if came.isTerminal, count >= self.rules.terminalsMax {
            self.breaks(
                .terminal, request, id, at: now,
                "a second terminal event, \(name.bounded), \(milliseconds: now - first.at) ms after the first"
            )
        } else if !came.isTerminal, self.rules.terminalsMax == 1 {
            self.breaks(.terminal, request, id, at: now, "\(name.bounded) came after the terminal event")
        }
    }

    /// A job that lasts too long shows when it is asked for once more.
    mutating func judgeLength(of job: String, _ id: UInt64, at now: Instant) {
        guard let most = self.rules.jobMax, let request = self.exchanges[id]?.request,
            let known = self.jobs[job], known.end == nil, known.saidCompleted == nil, known.isThere,
            let start = known.accepted
        else { return }
        self.attempt(.terminal, request, at: now)
        guard now - start > most else { return }
        self.breaks(
            .terminal, request, id, at: now,
            "no terminal event \(milliseconds: now - start) ms after the upload; at most \(milliseconds: most) ms are allowed"
        )
    }

    /// A link of the contract's form names the results of this job.
    private static func isResults(_ link: String, of job: String) -> Bool {
        let parts = link.prefix { $0 != "?" && $0 != "#" }.split(
            separator: "/", omittingEmptySubsequences: false)
        guard let start = parts.firstIndex(of: "v3") else { return true }
        let path = "/" + parts[start...].joined(separator: "/")
        return JourneyPath(path: path)?.endpoint == .results(jobId: job)
    }

    /// A key of the contract's form names the results of this job, by its id or by the UUID at its end.
    private static func isResults(key: String, of job: String) -> Bool {
        let prefix = "job-results:"
        return !key.hasPrefix(prefix) || job.hasSuffix(key.dropFirst(prefix.count))
    }

    /// The target has ended a stream by itself.
    mutating func judgeEnd(_ exchange: TrialExchange, _ id: UInt64, at now: Instant) {
        guard let stream = exchange.stream, stream.terminals == 0, exchange.request.probe != .deleted,
            let job = exchange.request.job, let known = self.jobs[job], known.isThere,
            !known.hasTerminal(exchange.request.lastEventID)
        else { return }
        self.attempt(.terminal, exchange.request, at: now)
        let time = now - exchange.sent
        guard time < self.rules.streamMin || known.end != nil else { return }
        self.breaks(
            .terminal, exchange.request, id, at: now,
            "the target ended a stream after \(milliseconds: time) ms, without a terminal event")
    }

    private mutating func finished(
        _ kind: EventKind, _ node: JSONNode?, _ request: TrialRequest, _ id: UInt64, at now: Instant
    ) {
        guard let job = request.job, let known = self.jobs[job] else { return }
        let end: TrialJob.End = kind == .completed ? .completed : .failed
        if let before = known.end, before.0 != end {
            self.breaks(
                .terminal, request, id, at: now,
                "the job has completed on one stream and failed on another")
        }
        if end == .failed, known.saidCompleted != nil {
            self.breaks(
                .statusAgrees, request, id, at: now,
                "the status said that the job was completed, and its stream ends with an error")
        }
        self.jobs.update(job) { if $0.end == nil { $0.end = (end, now) } }
        guard end == .completed else { return }
        if let canceled = known.canceled, now - canceled >= self.rules.settle {
            self.breaks(
                .statusAgrees, request, id, at: now,
                "the job has completed \(milliseconds: now - canceled) ms after its cancel was acknowledged")
        }
        if let link = node?["resultsUrl"]?.text, !Self.isResults(link, of: job) {
            self.breaks(.resultsAgree, request, id, at: now, "the resultsUrl is “\(link.bounded)”")
        }
        if let key = node?["summary"]?["resourceId"]?.text, !Self.isResults(key: key, of: job) {
            self.breaks(.resultsAgree, request, id, at: now, "the resourceId is “\(key.bounded)”")
        }
        if known.end == nil {
            self.probeResults(of: job, at: now)
            self.probeTwin(of: known, request, at: now)
        }
        let books = TrialBooks(node?["books"])
        if request.journey.version.completedHasBooks, books == nil, node?["resultsUrl"]?.text == nil {
            self.breaks(
                .resultsAgree, request, id, at: now, "the completed event has neither books nor a resultsUrl")
        }
        guard let books, books.count > 0 else {
            if books != nil { self.jobs.update(job) { $0.saidNoBooks = true } }
            return
        }
        self.noteCount(books, node, request, id, at: now)
        self.judge(books, from: "the completed event", request, id, at: now)
    }
}

extension SSEEvent {
    private static let initialSuffix = "-initial"

    /// Whether it gives the state of a job, which is not in a log (Docs/contract.md section 2.4).
    var isInitial: Bool { self.hasOwnID && self.id.hasSuffix(Self.initialSuffix) }

    /// The milliseconds of an id of the contract's form, `{ms}-{type}`; nil for another one.
    var idTime: Int64? {
        guard let dash = self.id.firstIndex(of: "-"), self.id.index(after: dash) < self.id.endIndex else {
            return nil
        }
        let digits = self.id[..<dash]
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int64(digits)
    }
}

extension DefaultStringInterpolation {
    mutating func appendInterpolation(milliseconds: Interval) {
        self.appendLiteral(String(milliseconds.nanoseconds / 1_000_000))
    }
}
