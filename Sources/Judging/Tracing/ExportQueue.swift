import JSON
package import SimBase

/// What is sent to a collector, in batches, with retries (OTLP specification, "OTLP/HTTP"): a pure machine. Its size is bounded, and
/// what does not fit is dropped and counted.
package struct ExportQueue: Sendable {
    package enum Signal: String, Sendable { case traces, metrics }

    package struct Limits: Sendable {
        /// Spans of one request.
        package var batchSpans = 512
        /// Spans that wait, those under way included.
        package var spansMax = 20_480
        /// Bytes that wait: a span may have long texts.
        package var bytesMax = 64 << 20
        /// Requests at once.
        package var requestsMax = 4
        /// The time for which a batch is open.
        package var age = Interval.seconds(1)
        /// Requests for one batch.
        package var triesMax = 5
        /// The wait after a first failure. It grows by half, up to ten times this.
        package var backoff = Interval.seconds(1)
        /// A collector may ask for no longer wait.
        package var waitMax = Interval.hours(1)

        package init() {}
    }

    package struct Counts: Equatable, Sendable {
        package var exported = 0
        package var dropped = 0
        /// Whether the metrics have arrived; nil while that is not known.
        package var hasMetrics: Bool?
        /// The last failure in words.
        package var trouble: String?

        package init() {}
    }

    /// A request that is to be sent. `slot`: below `Limits.requestsMax`.
    package struct Request: Equatable, Sendable {
        package let slot: Int
        package let signal: Signal
        package let body: [UInt8]
    }

    private struct Batch: Sendable {
        let signal: Signal
        let body: [UInt8]
        let spans: Int
        var tries = 0
    }

    private let writer: OTLPWriter
    private let head: [UInt8]
    private let limits: Limits
    /// The batch that is being filled: the head, and spans behind it.
    private var open: [UInt8]
    private var openSpans = 0
    private var openSince = Instant.zero
    private var waiting: [Batch] = []
    /// By slot.
    private var sent: [Batch?]
    private var bytes = 0
    /// Failures since the last success.
    package private(set) var failures = 0
    /// Nothing is sent before this.
    private var resumes = Instant.zero
    package private(set) var counts = Counts()

    package init(_ writer: OTLPWriter, _ limits: Limits) {
        self.writer = writer
        self.limits = limits
        self.head = writer.head
        self.open = self.head
        self.sent = Array(repeating: nil, count: limits.requestsMax)
    }

    /// Spans that wait, or are under way.
    package var spans: Int {
        self.openSpans + self.waiting.reduce(0) { $0 + $1.spans }
            + self.sent.reduce(0) { $0 + ($1?.spans ?? 0) }
    }

    package var isEmpty: Bool {
        self.openSpans == 0 && self.waiting.isEmpty && !self.sent.contains { $0 != nil }
    }

    // MARK: Events

    /// Adds a span, if there is room.
    package mutating func add(_ span: Span, at now: Instant) {
        guard self.spans < self.limits.spansMax, self.bytes + self.open.count < self.limits.bytesMax else {
            return self.counts.dropped += 1
        }
        var text = JSONWriter(.standard, reserving: 2_048)
        self.writer.write(span, to: &text)
        if self.openSpans == 0 { self.openSince = now } else { self.open.append(UInt8(ascii: ",")) }
        text.copy(to: &self.open)
        self.openSpans += 1
        if self.openSpans == self.limits.batchSpans { self.seal() }
    }

    /// The end of the run. `metrics`: a whole request.
    package mutating func finish(metrics: [UInt8]) {
        self.seal()
        self.enqueue(Batch(signal: .metrics, body: metrics, spans: 0))
    }

    /// Spans that were lost before they came here.
    package mutating func lost(_ spans: Int) { self.counts.dropped += spans }

    /// The answer to the request of a slot. `wait`: of its Retry-After.
    package mutating func answered(
        _ slot: Int, status: Int, wait: Interval?, body: [UInt8], at now: Instant
    ) {
        guard let batch = self.take(slot) else { return }
        switch status {
        case 200..<300:
            self.failures = 0
            self.arrived(batch, body)
        case 429, 502, 503, 504:
            self.counts.trouble = "status \(status)"
            self.retry(batch, after: wait, at: now)
        default:
            self.failures += 1
            self.counts.trouble = "status \(status)"
            self.drop(batch)
        }
    }

    /// There is no answer.
    package mutating func failed(_ slot: Int, _ reason: String, at now: Instant) {
        guard let batch = self.take(slot) else { return }
        self.counts.trouble = reason
        self.retry(batch, after: nil, at: now)
    }

    /// Returns what is to be sent now.
    package mutating func next(at now: Instant) -> Request? {
        if self.openSpans > 0, now >= self.openSince + self.limits.age { self.seal() }
        guard now >= self.resumes, !self.waiting.isEmpty,
            let slot = self.sent.firstIndex(where: { $0 == nil }),
            // Until one has arrived, one at a time is enough.
            self.failures == 0 || !self.sent.contains(where: { $0 != nil })
        else { return nil }
        var batch = self.waiting.removeFirst()
        batch.tries += 1
        self.sent[slot] = batch
        return Request(slot: slot, signal: batch.signal, body: batch.body)
    }

    /// The time of the next call of `next(at:)`, where nothing else happens before.
    package var nextWake: Instant? {
        if !self.waiting.isEmpty { return self.resumes }
        return self.openSpans > 0 ? self.openSince + self.limits.age : nil
    }

    /// There is no more time: what has not arrived is dropped.
    package mutating func giveUp() {
        self.seal()
        for batch in self.waiting + self.sent.compactMap({ $0 }) { self.drop(batch) }
        self.waiting = []
        self.sent = self.sent.map { _ in nil }
    }

    // MARK: Batches

    private mutating func seal() {
        guard self.openSpans > 0 else { return }
        self.enqueue(Batch(signal: .traces, body: self.open + OTLPWriter.tail, spans: self.openSpans))
        self.open.removeAll(keepingCapacity: true)
        self.open += self.head
        self.openSpans = 0
    }

    private mutating func enqueue(_ batch: Batch) {
        self.waiting.append(batch)
        self.bytes += batch.body.count
    }

    private mutating func take(_ slot: Int) -> Batch? {
        defer { self.sent[slot] = nil }
        return self.sent[slot]
    }

    private mutating func drop(_ batch: Batch) {
        self.bytes -= batch.body.count
        self.counts.dropped += batch.spans
        if batch.signal == .metrics { self.counts.hasMetrics = false }
    }

    private mutating func arrived(_ batch: Batch, _ body: [UInt8]) {
        let answer = JSONNode(body)
        guard body.isEmpty || answer?.kind == .object else {
            // A login page, or what a proxy says in its place.
            self.counts.trouble = "an answer that is not of OTLP"
            return self.drop(batch)
        }
        self.bytes -= batch.body.count
        let partial = answer?["partialSuccess"]
        let key = batch.signal == .traces ? "rejectedSpans" : "rejectedDataPoints"
        // A number of 64 bits: a text. Some collectors write a number.
        let rejected = partial?[key].flatMap { $0.text.flatMap { Int($0) } ?? $0.integer } ?? 0
        if rejected > 0 {
            self.counts.trouble = "rejected: \(Printable.line(partial?["errorMessage"]?.text ?? "no reason"))"
        }
        let spans = min(max(0, rejected), batch.spans)
        self.counts.exported += batch.spans - spans
        self.counts.dropped += spans
        if batch.signal == .metrics { self.counts.hasMetrics = rejected <= 0 }
    }

    private mutating func retry(_ batch: Batch, after wait: Interval?, at now: Instant) {
        self.failures += 1
        if batch.tries < self.limits.triesMax { self.waiting.insert(batch, at: 0) } else { self.drop(batch) }
        var backoff = self.limits.backoff
        for _ in 1..<min(self.failures, 7) { backoff = backoff * 3 / 2 }
        // Fleets of processes do not come back at one time.
        let jitter = KeyedRandom(seed: self.writer.run).below(
            UInt64(backoff.nanoseconds / 4), .backoff, .max, UInt64(self.failures))
        backoff = backoff + .nanoseconds(Int64(jitter))
        self.resumes = max(self.resumes, now + max(backoff, min(wait ?? .zero, self.limits.waitMax)))
    }
}
