import SimBase

/// retry.budget: the uploads that a phone makes by itself after jobs that ended without books.
///
/// The number of attempts is not limited while a job lives, but the number of jobs is (Docs/design.md section
/// 6): a retryable `error` event leads to one upload, after 2 s, and a job rejected with 401, 404 or 410 to
/// three. The scan then waits until the app is opened, or after an `error` event until the path returns.
/// Counted from the start of the process to its end.
struct RestartBudget: Sendable {
    /// Jobs of one scan that ended without its books.
    private struct Restarts: Sendable {
        let scan: ScanNumber
        /// The number of `error` events.
        var errors = 0
        var erredAt = Instant.zero
        /// The path has returned since the last one, or the app was opened.
        var mayFollowError = false
        /// The number of refusals of its stream or its results.
        var refusals = 0
        /// Whether the app was opened since the last refusal.
        var mayFollowRefusal = false
        /// Whether such a response has arrived and the scan has not returned to the queue yet.
        var isRefused = false
    }

    /// Uploads that the contract has a phone make by itself, and the pause before the first of them.
    static let errorRetriesMax = 1
    static let errorPause = Interval.seconds(2)
    static let refusalRetriesMax = 3

    private var scans: [Restarts] = []

    var remembered: Int { self.scans.count }

    static func endsJob(_ status: Int) -> Bool { status == 401 || status == 404 || status == 410 }

    /// An `error` event arrived. If it is final, the scan is refused next.
    mutating func erred(_ scan: ScanNumber, at moment: Instant) {
        self.change(scan) { restarts in
            restarts.errors += 1
            restarts.erredAt = moment
            restarts.mayFollowError = false
        }
    }

    /// A stream or results were answered with a status that ends the job.
    mutating func refused(_ scan: ScanNumber) { self.change(scan) { $0.isRefused = true } }

    /// The scan has returned to the queue. An app that goes to the background gives its scans back, whatever they were
    /// answered.
    mutating func queued(_ scan: ScanNumber, isOnScreen: Bool) {
        guard let index = self.scans.firstIndex(where: { $0.scan == scan && $0.isRefused }) else { return }
        self.scans[index].isRefused = false
        guard isOnScreen else { return }
        self.scans[index].refusals += 1
        self.scans[index].mayFollowRefusal = false
    }

    /// The path has returned or the app was opened: the retries that waited for it may come.
    mutating func released(isOpened: Bool) {
        for index in self.scans.indices {
            self.scans[index].mayFollowError = true
            if isOpened { self.scans[index].mayFollowRefusal = true }
        }
    }

    mutating func settled(_ scan: ScanNumber) { self.scans.removeAll { $0.scan == scan } }

    /// Returns what is wrong with an upload of this time.
    func complaints(of scan: ScanNumber, at moment: Instant) -> [String] {
        guard let restarts = self.scans.first(where: { $0.scan == scan }) else { return [] }
        var complaints: [String] = []
        let pause = moment - restarts.erredAt
        if restarts.errors == 1, pause < Self.errorPause {
            complaints.append(
                "uploaded again \(pause.wholeMilliseconds) ms after an error event (minimum: \(Self.errorPause.wholeMilliseconds) ms)"
            )
        }
        if restarts.errors > Self.errorRetriesMax, !restarts.mayFollowError {
            complaints.append(
                "uploaded again by itself after error event \(restarts.errors) of the scan's jobs (allowed: once)"
            )
        }
        if restarts.refusals > Self.refusalRetriesMax, !restarts.mayFollowRefusal {
            complaints.append(
                "uploaded again by itself after its jobs were rejected \(restarts.refusals) times (allowed: \(Self.refusalRetriesMax) times)"
            )
        }
        return complaints
    }

    private mutating func change(_ scan: ScanNumber, _ change: (inout Restarts) -> Void) {
        if let index = self.scans.firstIndex(where: { $0.scan == scan }) {
            change(&self.scans[index])
        } else {
            var restarts = Restarts(scan: scan)
            change(&restarts)
            self.scans.append(restarts)
        }
    }
}
