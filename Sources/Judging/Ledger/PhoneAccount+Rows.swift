import Observations
import SimBase
import Talaria

// rows.conserved: the outcomes of the rows of a library file.

/// The rows of one import, as the backend took them and as the phone read it.
struct ImportedRows: Sendable {
    let job: String
    let scan: ScanNumber
    let taken: RowCounts
    /// Whether the phone has read the results.
    var isRead = false
}

/// Whose each import and batch of a foreign backend was, by digests. An import has one file, and a batch one list: what two phones
/// read of the same one, or one phone of two, is counted twice.
struct JobOwners: Sendable {
    /// Imports beyond are not compared.
    static let countMax = 1 << 18

    private var owners: [UInt64: UInt64] = [:]

    /// Returns whether no other file had this import.
    mutating func record(_ job: String, device: DeviceNumber, scan: ScanNumber) -> Bool {
        var digest = Digest()
        digest.absorbInWords(job)
        let owner = UInt64(device.raw) << 32 | UInt64(scan.raw)
        if let known = self.owners[digest.value] { return known == owner }
        if self.owners.count < Self.countMax { self.owners[digest.value] = owner }
        return true
    }
}

extension PhoneAccount {
    /// Imports of one phone whose results were read and may be read again, and of those that may still be.
    private static let readMax = 16
    private static let importsMax = 1_024

    mutating func rowsTaken(
        _ scan: ScanNumber, job: String, _ rows: RowCounts, at: Instant, _ fleet: inout LedgerFleet
    ) {
        guard !self.imports.contains(where: { $0.job == job }) else {
            return self.violate(
                .rowsConserved, scan, at: at, &fleet, "the backend ended import \(job.bounded) twice")
        }
        if self.imports.count(where: \.isRead) > Self.readMax,
            let oldest = self.imports.firstIndex(where: \.isRead)
        {
            self.imports.remove(at: oldest)
        }
        self.imports.append(ImportedRows(job: job, scan: scan, taken: rows), max: Self.importsMax)
        fleet.count(in: self.group) { $0.rows.unread += rows.created + rows.updated }
        if rows.total > 0, self.index(of: scan).map({ self.scans[$0].file }) == .unreadable {
            self.violate(
                .rowsConserved, scan, at: at, &fleet,
                "the backend counts \(rows.total) rows of a file that is no library")
        }
        guard let sent = self.index(of: scan).flatMap({ self.scans[$0].fileRows }), rows.total != sent else {
            return
        }
        self.violate(
            .rowsConserved, scan, at: at, &fleet,
            "the backend counts \(rows.total) rows of a file with \(sent)")
    }

    /// Whether a refusal says of a file what is wrong with it.
    func isUnreadable(_ index: Int, _ code: String) -> Bool {
        self.scans[index].file == .unreadable && code == ImportLimits.unreadableCode
    }

    mutating func rowsRead(
        _ scan: ScanNumber, job: String, _ rows: RowCounts, at: Instant, _ fleet: inout LedgerFleet
    ) {
        self.updateScan(scan) { $0.rowsRead = rows }
        if self.index(of: scan).map({ self.scans[$0].file }) == .unreadable {
            self.violate(
                .rowsConserved, scan, at: at, &fleet,
                "the results have \(rows.total) rows of a file that is no library")
        }
        if let sent = self.index(of: scan).flatMap({ self.scans[$0].fileRows }), rows.total != sent {
            self.violate(
                .rowsConserved, scan, at: at, &fleet,
                "the results have \(rows.total) rows of a file with \(sent)")
        }
        guard fleet.settings.hasBackendView else {
            guard !fleet.findings.jobOwners.record(job, device: self.device, scan: scan) else { return }
            return self.violate(
                .rowsConserved, scan, at: at, &fleet,
                "the results are those of import \(job.bounded), which had another file")
        }
        guard let index = self.imports.lastIndex(where: { $0.job == job }) else {
            // A job of an earlier run ended there.
            guard let known = self.jobIndex(job, of: scan), !self.jobs[known].isInherited else { return }
            return self.violate(
                .rowsConserved, scan, at: at, &fleet,
                "the results of import \(job.bounded) came before its end")
        }
        let taken = self.imports[index].taken
        if taken != rows {
            self.violate(
                .rowsConserved, scan, at: at, &fleet,
                "the results say \(rows.text); the backend counts \(taken.text)")
        }
        guard !self.imports[index].isRead else { return }
        self.imports[index].isRead = true
        fleet.count(in: self.group) { $0.rows.unread -= taken.created + taken.updated }
    }

    /// The results list the books of their rows: one for each that was created or updated.
    func booksListed(_ scan: ScanNumber, _ count: Int, at: Instant, _ fleet: inout LedgerFleet) {
        guard let rows = self.index(of: scan).flatMap({ self.scans[$0].rowsRead }), rows.taken != count
        else { return }
        self.violate(
            .rowsConserved, scan, at: at, &fleet,
            "the results list \(count) books, and count \(rows.taken) rows that were created or updated")
    }

    /// The import of a file is over for its phone.
    mutating func countRows(ofCompleted index: Int, at: Instant, _ fleet: inout LedgerFleet) {
        let scan = self.scans[index]
        guard self.journey == .csvImport || scan.file != nil || scan.rowsRead != nil else { return }
        if !fleet.settings.hasBackendView, let rows = scan.rowsRead, rows.total > 0 {
            fleet.count(in: self.group) {
                $0.rows.imports += 1
                if rows.failed == rows.total { $0.rows.failedWhole += 1 }
                if rows.skipped == rows.total { $0.rows.skippedWhole += 1 }
            }
        }
        let sent = scan.fileRows ?? scan.rowsRead?.total ?? 0
        if let rows = scan.rowsRead {
            fleet.count(in: self.group) {
                $0.rows.sent += sent
                $0.rows.counts = $0.rows.counts + rows
                $0.rows.missing += max(0, sent - rows.total)
            }
        } else if !scan.isInherited || scan.file != nil {
            let rows = scan.fileRows ?? 0
            fleet.count(in: self.group) {
                $0.rows.sent += rows
                $0.rows.missing += rows
            }
            self.violate(
                .rowsConserved, scan.number, at: at, &fleet,
                "completed; of its \(rows) rows nobody knows what became of them")
        }
    }

    func countRows(ofWaiting index: Int, _ fleet: inout LedgerFleet) {
        let rows = self.scans[index].fileRows ?? 0
        fleet.count(in: self.group) {
            $0.rows.sent += rows
            $0.rows.counts.pending += rows
        }
    }

    func countRows(ofWithdrawn index: Int, _ fleet: inout LedgerFleet) {
        let rows = self.scans[index].fileRows ?? 0
        fleet.count(in: self.group) { $0.rows.withdrawn += rows }
    }

    /// The run has no end that could show the outcomes of the imports under way.
    func countUnsettledRows(_ fleet: inout LedgerFleet) {
        let rows = self.scans.reduce(0) { $0 + ($1.state == .open ? $1.fileRows ?? 0 : 0) }
        fleet.count(in: self.group) { $0.rows.unsettled += rows }
    }

    func countRows(ofCanceled index: Int, _ fleet: inout LedgerFleet) {
        let rows = self.scans[index].fileRows ?? 0
        fleet.count(in: self.group) { $0.rows.canceled += rows }
    }

    func countRows(ofLost index: Int, _ fleet: inout LedgerFleet) {
        let rows = self.scans[index].fileRows ?? 0
        fleet.count(in: self.group) {
            $0.rows.sent += rows
            $0.rows.missing += rows
        }
    }
}

extension RowCounts {
    fileprivate var text: String {
        "\(self.created) created, \(self.updated) updated, \(self.skipped) skipped, \(self.failed) failed, \(self.pending) pending"
    }
}
