import Metrics
import SimBase
import Talaria

/// What all phones share: the plan of the run, and what was found.
struct LedgerFleet: Sendable {
    let shelf: Shelf
    let settings: LedgerSettings
    var findings: LedgerFindings

    init(shelf: Shelf, settings: LedgerSettings) {
        self.shelf = shelf
        self.settings = settings
        self.findings = LedgerFindings(settings: settings)
    }

    /// `index`: that of the group in the totals.
    mutating func count(in index: Int, _ change: (inout LedgerTotals) -> Void) {
        self.findings.count(in: index, change)
    }

    /// Returns the number of regions that a photo has by the plan, by the first of its scans; nil for a phone of no group.
    func regions(ofCapture first: ScanNumber, by device: DeviceNumber) -> Int? {
        guard let regions = self.settings.fleet.value(of: device, in: self.settings.regions) else {
            return nil
        }
        guard regions.count > 1 else { return regions.lowerBound }
        let more = KeyedRandom(seed: self.shelf.seed).below(
            UInt64(regions.count), .regionsPerCapture, UInt64(device.raw), UInt64(first.raw))
        return regions.lowerBound + Int(more)
    }
}
