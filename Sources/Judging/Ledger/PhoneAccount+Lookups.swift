import Observations
import SimBase
import Talaria

// lookup.billed-once: what a look-up of a single book costs.

/// One time that a provider was asked for a key.
struct LookupBill: Sendable {
    /// Digests of the key and of what it was asked for.
    let key: UInt64
    let barcode: UInt64
    let isFound: Bool
    let at: Instant
}

extension PhoneAccount {
    /// Keys that are remembered, of one phone.
    private static let billsMax = 1_024

    mutating func keySent(
        _ scan: ScanNumber, attempt: UInt32, _ key: String, at: Instant, _ fleet: inout LedgerFleet
    ) {
        guard let index = self.index(of: scan) else { return }  // Custody is broken already.
        self.scans[index].keyDue = nil
        let first = self.scans[index].lookupKey
        self.scans[index].lookupKey = first ?? key
        guard let first, first != key else { return }
        self.violate(
            .lookupBilledOnce, scan, at: at, &fleet,
            "request \(attempt) has the key \(key.bounded); an earlier one had \(first.bounded)")
    }

    /// A look-up is requested: its key is reported at once.
    mutating func lookupSent(_ scan: ScanNumber, attempt: UInt32) {
        guard self.journey == .bookEnrichment else { return }
        self.updateScan(scan) { $0.keyDue = attempt }
    }

    /// The request of a look-up has ended. One without a key is billed each time that it is repeated.
    mutating func lookupEnded(_ scan: ScanNumber, attempt: UInt32, at: Instant, _ fleet: inout LedgerFleet) {
        guard let index = self.index(of: scan), self.scans[index].keyDue == attempt else { return }
        self.scans[index].keyDue = nil
        self.violate(.lookupBilledOnce, scan, at: at, &fleet, "request \(attempt) has no idempotency key")
    }

    mutating func bookLookedUp(
        _ scan: ScanNumber, _ lookup: BookLookup, at: Instant, _ fleet: inout LedgerFleet
    ) {
        fleet.count(in: self.group) {
            if lookup.isBilled { $0.lookups.billed += 1 } else { $0.lookups.repeated += 1 }
            if lookup.isBilled, !lookup.isFound { $0.lookups.unknown += 1 }
        }
        guard let key = lookup.key else { return }
        let (keyDigest, barcode) = (Digest.of(key), Digest.of(lookup.barcode))
        let known = self.bills.last { $0.key == keyDigest && at < $0.at + EnrichmentRequest.keyLifetime }
        let complaint: String?
        switch (lookup.isBilled, known) {
        case (true, let known?):
            complaint =
                "a provider was asked again for the key \(key.bounded), \((at - known.at).wholeMilliseconds) ms later"
        case (true, nil): complaint = self.complaint(billing: scan, key, at: at)
        case (false, let known?):
            complaint =
                known.barcode == barcode && known.isFound == lookup.isFound
                ? nil : "a repeated request with the key \(key.bounded) was answered otherwise"
        case (false, nil):
            complaint =
                self.bills.count < Self.billsMax
                ? "the key \(key.bounded) was answered as before, but no provider had been asked" : nil
        }
        if let complaint {
            self.violate(.lookupBilledOnce, scan, at: at, &fleet, complaint)
        }
        guard lookup.isBilled else { return }
        self.updateScan(scan) { $0.billedAt = at }
        if self.bills.count == Self.billsMax { self.bills.removeFirst() }
        self.bills.append(LookupBill(key: keyDigest, barcode: barcode, isFound: lookup.isFound, at: at))
    }

    /// The complaint about a first request for a key by which a look-up is billed again.
    private func complaint(billing scan: ScanNumber, _ key: String, at: Instant) -> String? {
        guard self.journey == .bookEnrichment,
            let billedAt = self.index(of: scan).flatMap({ self.scans[$0].billedAt }),
            at < billedAt + EnrichmentRequest.keyLifetime
        else { return nil }
        return "a provider was asked again for the same \(self.noun.one), under the key \(key.bounded)"
    }

    /// Whether a 404 to a look-up may say that no provider has its book: where the backend is observed, one that is not on the
    /// shelf, or a fault that says so. Of a foreign backend only the answers of faults are known.
    func isToldUnknown(_ index: Int, attempt: UInt32, _ fleet: LedgerFleet) -> Bool {
        let scan = self.scans[index]
        if scan.isInherited || scan.isUploadRefused(attempt: attempt) { return true }
        guard fleet.settings.hasBackendView else {
            return scan.uploadProblem(attempt: attempt) == nil || !scan.wasFired(.upload, attempt: attempt)
        }
        return fleet.shelf.count(device: self.device, scan: scan.number) == 0
    }

    /// Whether a refusal says of a barcode that no provider has its book, which is true. For a foreign
    /// backend it is not known.
    func isUnknownBook(_ index: Int, _ code: String, _ fleet: LedgerFleet) -> Bool {
        guard self.journey == .bookEnrichment, code == ProblemCode.notFound.rawValue else { return false }
        return !fleet.settings.hasBackendView
            || fleet.shelf.count(device: self.device, scan: self.scans[index].number) == 0
    }
}
