import Observations
import SimBase
import Talaria

// A book that the phone has read by itself: the look-up of its text adds what the backend knows (seed 002, US-A2 and US-A3). It
// never stands in the way: where it fails, the book keeps what was read, and the user is shown nothing.

extension App {
    mutating func textAnswered(
        _ exchange: Exchange, _ answer: Answer, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let index = self.activeIndex(exchange.scan), let reading = self.active[index].scan.reading
        else {
            preconditionFailure("a look-up without a reading")
        }
        guard !self.fallsBackToPhoto(exchange, answer, index, at: now, into: &effects) else { return }
        var answer = answer
        let judgement = TextJudgement.judge(&answer, self.profile.upload)
        self.observe(answer, exchange, at: now, into: &effects)
        switch judgement {
        case .found(let enrichment):
            self.observe(
                .lookupAnswered(
                    found: true, repeated: false, took: now - self.uploadBegan(exchange, index),
                    service: now - exchange.sentAt),
                of: exchange.scan, at: now, into: &effects)
            let merged = Reconciliation(reading: reading, enrichment: enrichment)
            self.observe(
                .enriched(
                    TextOutcome(merged), took: now - self.active[index].scan.scheduled,
                    service: now - exchange.sentAt),
                of: exchange.scan, at: now, into: &effects)
            self.file([merged.book], promised: nil, index, at: now, into: &effects)
        case .failed(.refused):
            self.keepReading(exchange.scan, .unexpectedStatus, at: now, into: &effects)
        case .failed(.limited) where !self.profile.upload.repeatsLimited:
            self.keepReading(exchange.scan, .rateLimited, at: now, into: &effects)
        case .failed(let judgement): self.act(on: judgement, exchange, answer, at: now, into: &effects)
        case .unreadable(let bad):
            self.observe(bad: bad, exchange, at: now, into: &effects)
            self.keepReading(exchange.scan, .unreadableAnswer, at: now, into: &effects)
        }
    }

    // MARK: The photo instead

    /// Why the book is to be looked up by its photo; nil if it is looked up by what was read.
    func photoReason(_ reading: BookReading) -> PhotoReason? {
        if self.lacksTexts { return .noEndpoint }
        return reading.confidencePercent < self.profile.upload.photoBelow ? .lowConfidence : nil
    }

    static func uploadPhoto(of scan: inout Scan, into effects: inout [PhoneEffect]) {
        Self.release(&scan, into: &effects)
        scan.reading = nil
        scan.record.journey = .scan
    }

    /// The journey of one scan: one that was to be looked up by its text may have become one of a photo.
    func journey(of scan: ScanNumber) -> Journey {
        guard self.profile.journey == .textEnrichment else { return self.profile.journey }
        if let index = self.activeIndex(scan) { return self.active[index].scan.record.journey }
        return self.queue.index(of: scan).map { self.queue.scans[$0].scan.record.journey } ?? .scan
    }

    /// Whether the answer says that there is nothing at the path, or nothing for the method: the phone uploads the photo, and that of
    /// each further book.
    private mutating func fallsBackToPhoto(
        _ exchange: Exchange, _ answer: Answer, _ index: Int, at now: Instant,
        into effects: inout [PhoneEffect]
    ) -> Bool {
        guard TextRequest.statusesWithoutIt.contains(answer.head.status) else { return false }
        self.observe(answer, exchange, at: now, into: &effects)
        self.lacksTexts = true
        self.observe(.photoInstead(.noEndpoint), of: exchange.scan, at: now, into: &effects)
        Self.uploadPhoto(of: &self.active[index].scan, into: &effects)
        let retry = UploadRetry(cause: .unexpectedStatus, wait: .none, atLeast: .zero)
        self.uploadAgain(exchange.scan, retry, at: now, into: &effects)
        return true
    }

    // MARK: The reading

    /// The book is filed as it was read. Nothing is shown, because nothing is lost.
    mutating func keepReading(
        _ scan: ScanNumber, _ cause: WaitingCause, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let index = self.activeIndex(scan), let reading = self.active[index].scan.reading else {
            preconditionFailure("a reading that is gone")
        }
        self.observe(.readingKept(cause), of: scan, at: now, into: &effects)
        self.file([reading.book], promised: nil, index, at: now, into: &effects)
    }

    /// The book that a killed process has filed. It stays as it is: another look-up, or the photo, could only name another. A book that
    /// waits for its person takes over what is found.
    func filedReading(of scan: Scan) -> Book? {
        self.profile.reviewer.isMade ? nil : scan.record.booksApplied.first
    }

    /// The book of a reading that is not looked up.
    func bookWithoutLookup(of scan: Scan) -> Book? {
        guard let reading = scan.reading else { return nil }
        return self.filedReading(of: scan) ?? (self.profile.upload.enriches ? nil : reading.book)
    }
}

/// The meaning of the response to a look-up by text (Docs/contract.md section 1.5).
enum TextJudgement: Hashable, Sendable {
    case found(Enrichment)
    /// A success whose body is not the one that the client expects.
    case unreadable(BadAnswer)
    /// As for any upload.
    case failed(UploadJudgement)

    static func judge(_ answer: inout Answer, _ policy: UploadPolicy) -> TextJudgement {
        guard answer.head.status == 200 else {
            if (201...299).contains(answer.head.status) {
                answer.note(.unexpectedStatus)
                return .unreadable(.unexpectedStatus)
            }
            return .failed(
                UploadJudgement.judge(&answer, policy.answer, obeysRetryable: policy.obeysRetryable))
        }
        guard !answer.isCut else {
            return .failed(.again(.backoff(.transport, atLeast: answer.serverWait), nil))
        }
        let enrichment = answer.read(
            { Enrichment.read($0, policy.enrichment, into: &$1) }, bytesMax: AppLimits.answerBytesMax)
        return enrichment.map { .found($0) } ?? .unreadable(answer.badness)
    }
}
