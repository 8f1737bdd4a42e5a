import SimBase
import Talaria

// limit.honoured and slots.bounded.

extension PhoneAccount {
    mutating func rateLimited(
        _ operation: Operation, scan: ScanNumber, retryAfter: Interval, at: Instant
    ) {
        self.limits.limited(operation, scan: scan, wait: retryAfter, at: at)
    }

    mutating func checkLimit(
        _ operation: Operation, scan: ScanNumber, job: String?, at: Instant, into findings: inout Findings
    ) {
        guard let early = self.limits.early(operation, scan: scan, job: job, at: at) else { return }
        findings.violate(
            .limitHonoured, device: self.device, scan: scan, at: at,
            "\(operation.name) sent \(early.wholeMilliseconds) ms (\(early.nanoseconds) ns) too early")
    }

    /// The backend has answered a request for a stream with 200.
    mutating func streamOpened(
        _ scan: ScanNumber, job: String, attempt: UInt32, at: Instant, rules: Rules,
        into findings: inout Findings
    ) {
        let open = self.streams.opened(scan, job: job, attempt: attempt, at: at)
        guard open > rules.settings.slotsMax else { return }
        findings.violate(
            .slotsBounded, device: self.device, scan: scan, at: at,
            "\(open) streams open at the backend; the phone has \(rules.settings.slotsMax) slots")
    }

    mutating func slotTaken(_ scan: ScanNumber, at: Instant, rules: Rules, into findings: inout Findings) {
        self.slots += 1
        guard self.slots > rules.settings.slotsMax else { return }
        findings.violate(
            .slotsBounded, device: self.device, scan: scan, at: at,
            "\(self.slots) slots taken of \(rules.settings.slotsMax)")
    }

    mutating func slotGiven(_ scan: ScanNumber, at: Instant, into findings: inout Findings) {
        guard self.slots == 0 else {
            self.slots -= 1
            return
        }
        findings.violate(
            .slotsBounded, device: self.device, scan: scan, at: at, "a slot was released that was not taken")
    }
}
