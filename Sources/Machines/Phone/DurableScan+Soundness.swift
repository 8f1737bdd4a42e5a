import SimBase
import Talaria

extension DurableScan {
    /// The end of the year 9999, in milliseconds.
    private static let capturedMax: Int64 = 253_402_300_799_999

    /// Whether a phone can have written it and can continue from it. A store asks when it reads: a record that was damaged
    /// on its way may still be a record by its shape.
    package var isSound: Bool {
        let attempts = [
            self.attempts.upload, self.attempts.stream, self.attempts.results, self.attempts.cleanup,
            self.attempts.status, self.attempts.refresh,
        ]
        let isCounted =
            attempts.allSatisfy { $0 <= AppLimits.attemptsMax }
            && (0...AppLimits.endingsMax).contains(self.tokenExpiries)
            && (0...AppLimits.endingsMax).contains(self.retryableErrors)
        let isFiled = self.booksApplied.count <= AppLimits.booksPerScanMax
        let isEnded = self.refusal.map { ServerText.isCode($0) && !self.completed } ?? !self.isCanceled
        let hasPhotos = (1...ContractLimit.photosMax).contains(self.photos)
        return hasPhotos && (1...ScanNumber.greatest.raw).contains(self.scan) && self.photo >= 0
            && (0...Self.capturedMax).contains(self.capturedUnixMs) && isCounted && isFiled
            && isEnded && self.job?.isSound ?? true && (self.job == nil || self.journey.hasJobs)
    }
}

extension DurableJob {
    fileprivate var isSound: Bool {
        Endpoint.isJobID(self.jobId) && ServerText.isTarget(self.sseUrl)
            && self.authToken.map(ServerText.isToken) ?? true && ServerText.isEventID(self.lastEventID)
    }
}
