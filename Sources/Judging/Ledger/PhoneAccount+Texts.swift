import Observations
import SimBase
import Talaria

// Books that the phone has read by itself: what each may be in the library follows from what was read, what the backend has
// found, and whether that came.

extension PhoneAccount {
    /// What the book of a scan may be, the expected one first: after a kill, the library may have what an earlier attempt has
    /// made of it. Empty for another journey.
    func texts(of scan: ScanNumber, _ fleet: LedgerFleet) -> [Book] {
        guard self.journey == .textEnrichment,
            self.index(of: scan).map({ self.scans[$0].isPhotoInstead }) != true,
            let reading = fleet.shelf.reading(device: self.device, scan: scan)
        else { return [] }
        let found = fleet.shelf.enrichment(device: self.device, scan: scan)
        let books = [Reconciliation(reading: reading, enrichment: found).book, reading.book]
        let isEnriched = self.index(of: scan).map { self.scans[$0].isEnriched } ?? false
        return isEnriched ? books : books.reversed()
    }

    /// Whose text the book has is decided: an answer is at hand.
    mutating func textDecided(_ scan: ScanNumber, isEnriched: Bool) {
        self.updateScan(scan) {
            $0.library.answerBegan()
            $0.isEnriched = isEnriched
        }
    }

    /// What the library has in the end is compared with the spine, which only the ledger knows.
    mutating func countText(ofCompleted index: Int, _ fleet: inout LedgerFleet) {
        guard self.journey == .textEnrichment else { return }
        let scan = self.scans[index]
        let truth = fleet.shelf.book(device: self.device, scan: scan.number, ordinal: 0)
        let isKnown = fleet.settings.hasBackendView
        fleet.count(in: self.group) {
            if scan.isPhotoInstead {
                $0.texts.photos += 1
            } else if scan.isEnriched {
                $0.texts.enriched += 1
            } else {
                $0.texts.kept += 1
            }
            guard isKnown, let book = scan.finalText else { return }
            for isRight in [book.title == truth.title, book.author == truth.author] {
                if isRight { $0.texts.right += 1 } else { $0.texts.wrong += 1 }
            }
        }
    }
}
