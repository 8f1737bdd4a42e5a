import SimBase

// The times that a scan's times are measured from: when it was due, not when it was sent (coordinated omission). They are in its record, by the run's wall clock, so that
// neither the background nor a relaunch makes a late scan look early.

extension App {
    /// Returns the scheduled time of the capture.
    func scheduled(_ record: DurableScan) -> Instant {
        if let scheduled = record.scheduledUnixNs { return self.instant(ofUnixNanoseconds: scheduled) }
        let (nanoseconds, overflow) = record.capturedUnixMs.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .zero : self.instant(ofUnixNanoseconds: nanoseconds)
    }

    /// Returns the scheduled time of the open upload.
    func uploadDue(_ record: DurableScan) -> Instant? {
        record.uploadDueUnixNs.map { self.instant(ofUnixNanoseconds: $0) }
    }

    /// The next upload counts from this time, unless it was due before already.
    func uploadIsDue(_ scan: inout Scan, at moment: Instant) {
        guard scan.record.uploadDueUnixNs == nil else { return }
        scan.record.uploadDueUnixNs = self.unixNanoseconds(at: moment)
    }

    /// Returns the time at which the user cancels the scan; nil if that is not to be.
    func cancelDue(_ record: DurableScan) -> Instant? {
        record.cancelDueUnixNs.map { self.instant(ofUnixNanoseconds: $0) }
    }

    func unixNanoseconds(at moment: Instant) -> Int64 {
        // Wrapping: read back in the same way, and brought into range there.
        self.wallClockAtZero &* 1_000_000 &+ moment.nanoseconds
    }

    /// A time of the wall clock on the run's clock: before `zero` for an earlier run.
    func instant(ofUnixNanoseconds unix: Int64) -> Instant {
        let (nanoseconds, overflow) = unix.subtractingReportingOverflow(self.wallClockAtZero &* 1_000_000)
        // A century either way: a record of a broken clock must not break ours.
        let most: Int64 = 36_525 * 86_400_000_000_000
        guard !overflow else { return .zero }
        return Instant(nanoseconds: min(max(nanoseconds, -most), most))
    }
}
