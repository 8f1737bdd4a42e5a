import Metrics
import Observations
import SimBase
import Talaria

// text.kept-for-cause. Books that the phone has read by itself: what each may be in the library follows from what was read, what
// the backend has found, and whether that came.

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

    mutating func recordText(
        _ payload: PhoneObservation, scan: ScanNumber, at moment: Instant, _ fleet: inout LedgerFleet
    ) {
        if let index = self.index(of: scan), let complaint = self.complaint(of: payload, at: index, fleet) {
            self.violate(.textKeptForCause, scan, at: moment, &fleet, complaint)
        }
        switch payload {
        case .enriched: self.textDecided(scan, isEnriched: true)
        case .readingKept: self.textDecided(scan, isEnriched: false)
        case .photoInstead(let reason):
            if reason == .noEndpoint { self.lacksTexts = true }
            self.updateScan(scan) { $0.isPhotoInstead = true }
        default: break
        }
    }

    /// What is wrong with what the phone does about a reading.
    private func complaint(of payload: PhoneObservation, at index: Int, _ fleet: LedgerFleet) -> String? {
        let settings = fleet.settings
        guard let rule = settings.fleet.value(of: self.device, in: settings.texts) ?? nil else { return nil }
        let scan = self.scans[index]
        let attempt = scan.lookup.attempt
        switch payload {
        case .bookRead:
            return self.isPoor(scan.number, rule, fleet)
                ? "read with a confidence below \(rule.photoBelow) %, and not uploaded as a photo" : nil
        case .photoInstead where !settings.reviews && !scan.library.added.isEmpty:
            return "uploaded as a photo, although an earlier process has filed its book"
        case .photoInstead(.lowConfidence):
            return self.isPoor(scan.number, rule, fleet)
                ? nil : "uploaded as a photo, although what was read is sure enough"
        case .photoInstead(.noEndpoint):
            return self.lacksTexts ? nil : scan.lookup.complaintOfMissingEndpoint
        case .queued(.unexpectedStatus):
            return scan.isPhotoInstead ? nil : scan.lookup.complaintOfMissingPhoto
        case .enriched:
            return scan.lookup.complaint(mergingWhereBackendIsSeen: settings.hasBackendView)
        case .readingKept(let cause):
            let isFinal =
                scan.uploadProblem(attempt: attempt).map { !$0.isRetryable }
                ?? (cause == .unexpectedStatus)
            return scan.lookup.complaint(
                keepingBy: rule,
                isDisturbed: scan.wasFired(.upload, attempt: attempt) || !settings.hasBackendView,
                isFinal: isFinal)
        default: return nil
        }
    }

    private func isPoor(_ scan: ScanNumber, _ rule: TextRule, _ fleet: LedgerFleet) -> Bool {
        guard let reading = fleet.shelf.reading(device: self.device, scan: scan) else { return false }
        return reading.confidencePercent < rule.photoBelow
    }

    /// Whose text the book has is decided: an answer is at hand. A process that was killed may have meant to upload the photo.
    private mutating func textDecided(_ scan: ScanNumber, isEnriched: Bool) {
        self.updateScan(scan) {
            $0.library.answerBegan()
            $0.isPhotoInstead = false
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
        guard isKnown, scan.isEnriched, !scan.isPhotoInstead, let book = scan.finalText else { return }
        for example in self.differences(of: scan.number, in: book, from: truth, fleet) {
            fleet.count(in: self.group) {
                $0.texts.differences.counts[example.kind] += 1
                $0.texts.differences.keep(example)
            }
        }
    }

    /// Where the phone and the backend have different texts. `book`: as it is in the library. `truth`: as it is on the spine.
    private func differences(
        of scan: ScanNumber, in book: Book, from truth: Book, _ fleet: LedgerFleet
    ) -> [TextDifferences.Example] {
        guard let reading = fleet.shelf.reading(device: self.device, scan: scan) else { return [] }
        let found = fleet.shelf.enrichment(device: self.device, scan: scan)
        return Reconciliation(reading: reading, enrichment: found).discrepancies.map { difference in
            let (shelved, real) =
                switch difference.field {
                case .title: (book.title, truth.title)
                case .author: (book.author, truth.author)
                }
            let right: TextDifferences.Right =
                difference.verified == real
                ? .talaria : difference.read == real ? .foundationModels : .neither
            return TextDifferences.Example(
                device: self.device, scan: scan,
                kind: TextDifferences.Kind(
                    field: difference.field,
                    chosen: shelved == difference.verified ? .talaria : .foundationModels, right: right),
                read: difference.read, verified: difference.verified)
        }
    }
}
