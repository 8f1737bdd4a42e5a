import SimBase
import Talaria

// What a phone's books cost, and what was sent for them (`cost` of a scenario).

extension PhoneAccount {
    /// The account of this scan; nil if it has no price. A book whose look-up has failed costs nothing, but its requests
    /// are those of a text.
    private func way(
        of scan: ScanAccount, isRequest: Bool
    ) -> WritableKeyPath<CostTotals, CostTotals.Way>? {
        if self.journey.hasPhotos || scan.isPhotoInstead { return \.photo }
        return self.journey == .textEnrichment && (isRequest || scan.isEnriched) ? \.text : nil
    }

    mutating func prepared(_ scan: ScanNumber, bytes: Int, at: Instant, _ fleet: inout LedgerFleet) {
        // One of an earlier run is heard of here for the first time.
        if self.inheritedUnnamed > 0 { _ = self.take(scan, for: "prepared", at: at, &fleet) }
        self.updateScan(scan) {
            $0.isPrepared = true
            $0.contentBytes = max(0, bytes)
        }
    }

    func countCost(ofUpload number: ScanNumber, _ fleet: inout LedgerFleet) {
        guard fleet.settings.prices != nil, let index = self.index(of: number) else { return }
        let scan = self.scans[index]
        guard let way = self.way(of: scan, isRequest: true) else { return }
        fleet.count(in: self.group) {
            $0.costs[keyPath: way].requests += 1
            $0.costs[keyPath: way].bytes = $0.costs[keyPath: way].bytes.addingSaturating(
                scan.contentBytes.multipliedSaturating(by: max(1, scan.photos)))
        }
    }

    /// Each book counts once, whatever became of its scan and however often it came.
    func countCost(ofSettled index: Int, _ fleet: inout LedgerFleet) {
        guard fleet.settings.prices != nil else { return }
        let scan = self.scans[index]
        let books = scan.library.places.count
        let way = self.way(of: scan, isRequest: false)
        fleet.count(in: self.group) {
            if let way { $0.costs[keyPath: way].books += books } else { $0.costs.otherBooks += books }
        }
    }
}
