import SimBase
import Talaria

// limit.honoured and slots.bounded.

extension PhoneAccount {
    mutating func rateLimited(_ operation: Operation, scan: ScanNumber, retryAfter: Interval, at: Instant) {
        self.limits.limited(operation, scan: scan, wait: retryAfter, at: at)
    }

    mutating func checkLimit(
        _ operation: Operation, scan: ScanNumber, job: String?, at: Instant, _ fleet: inout LedgerFleet
    ) {
        guard let early = self.limits.early(operation, scan: scan, job: job, at: at) else { return }
        self.violate(
            .limitHonoured, scan, at: at, &fleet,
            "\(operation.name) sent \(early.wholeMilliseconds) ms (\(early.nanoseconds) ns) too early")
    }

    /// The backend has answered a request for a stream with 200.
    mutating func streamOpened(
        _ scan: ScanNumber, job: String, attempt: UInt32, at: Instant, _ fleet: inout LedgerFleet
    ) {
        let open = self.streams.opened(scan, job: job, attempt: attempt, at: at)
        guard open > fleet.settings.slotsMax else { return }
        self.violate(
            .slotsBounded, scan, at: at, &fleet,
            "\(open) streams open at the backend; the phone has \(fleet.settings.slotsMax) slots")
    }

    mutating func slotTaken(_ scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet) {
        self.slots += 1
        guard self.slots > fleet.settings.slotsMax else { return }
        self.violate(
            .slotsBounded, scan, at: at, &fleet, "\(self.slots) slots taken of \(fleet.settings.slotsMax)")
    }

    mutating func slotGiven(_ scan: ScanNumber, at: Instant, _ fleet: inout LedgerFleet) {
        guard self.slots == 0 else {
            self.slots -= 1
            return
        }
        self.violate(.slotsBounded, scan, at: at, &fleet, "a slot was released that was not taken")
    }
}
