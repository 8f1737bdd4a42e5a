import SimBase
import Talaria

// limit.honoured and slots.bounded.

/// Until when a phone was told to leave a resource alone. Uploads all go to one resource; any other request has one of
/// its own for each scan. Gone with the process: its monotonic clock starts over.
struct LimitAccount: Sendable {
    private struct Limit: Sendable {
        var operation: Operation
        var scan: ScanNumber
        var until: Instant
    }

    private var limits: [Limit] = []

    private static func owner(_ operation: Operation, _ scan: ScanNumber) -> ScanNumber {
        operation == .upload ? .none : scan
    }

    mutating func limited(_ operation: Operation, scan: ScanNumber, until: Instant, now: Instant) {
        self.limits.removeAll { $0.until <= now }
        let owner = Self.owner(operation, scan)
        guard let index = self.limits.firstIndex(where: { $0.operation == operation && $0.scan == owner })
        else {
            self.limits.append(Limit(operation: operation, scan: owner, until: until))
            return
        }
        // A second 429 can be for a request that was on its way: the first one's word still holds.
        self.limits[index].until = max(self.limits[index].until, until)
    }

    /// How much too early a request at this moment is; nil when it may go.
    func early(_ operation: Operation, scan: ScanNumber, at: Instant) -> Interval? {
        let owner = Self.owner(operation, scan)
        guard let limit = self.limits.first(where: { $0.operation == operation && $0.scan == owner }),
            at < limit.until
        else { return nil }
        let (early, overflow) = limit.until.nanoseconds.subtractingReportingOverflow(at.nanoseconds)
        return Interval(nanoseconds: overflow ? .max : early)
    }
}

extension PhoneAccount {
    mutating func rateLimited(
        _ operation: Operation, scan: ScanNumber, retryAfter: Interval, at: Instant
    ) {
        let (sum, overflow) = at.nanoseconds.addingReportingOverflow(max(0, retryAfter.nanoseconds))
        let until = overflow ? Instant.distantFuture : Instant(nanoseconds: sum)
        self.limits.limited(operation, scan: scan, until: until, now: at)
    }

    func checkLimit(
        _ operation: Operation, scan: ScanNumber, at: Instant, into findings: inout Findings
    ) {
        guard let early = self.limits.early(operation, scan: scan, at: at) else { return }
        findings.violate(
            .limitHonoured, device: self.device, scan: scan, at: at,
            "\(operation.name) sent \(early.wholeMilliseconds) ms (\(early.nanoseconds) ns) too early")
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
            .slotsBounded, device: self.device, scan: scan, at: at, "a slot given back that was not taken")
    }
}
