import SimBase
import Talaria

// Admissions, recounted by the rule of the limit: an upload is admitted if fewer than the quota were admitted in the window
// that ends with it, and a refused one counts for nothing.

/// The uploads of one phone that count against quotas.
struct QuotaAccount: Sendable {
    struct Upload: Sendable {
        let scan: ScanNumber
        let attempt: UInt32
        /// The `rate-limit` faults that it meets, a bit for each index in the list.
        var faults: UInt64
        var status = 0
        var retryAfter: Interval?
        /// The fault that refused it.
        var refusedBy: Int?
    }

    struct Admission: Sendable {
        /// Nil for the backend's own.
        let fault: Int?
        let at: Instant
        /// Otherwise it may have been refused before it was counted.
        let isCertain: Bool
    }

    /// An upload whose faults were decided comes soon, or never.
    static let decidedMax = 8

    var decided: [Upload] = []
    var admissions: [Admission] = []
    private var scanMax = ScanNumber.none
    /// Scans up to this one are those of an app that was removed, whose device id was another.
    private var forgotten = ScanNumber.none

    var remembered: Int { self.decided.count + self.admissions.count }

    mutating func sent(_ scan: ScanNumber) { self.scanMax = max(self.scanMax, scan) }

    func counts(_ scan: ScanNumber) -> Bool { self.forgotten < scan }

    /// The app was reinstalled, with a device id that has not been counted.
    mutating func forget() {
        self.decided = []
        self.admissions = []
        self.forgotten = self.scanMax
    }
}

extension HarnessPhone {
    /// A fault meets an upload whose head has been read.
    mutating func decided(_ fault: Int, _ scan: ScanNumber, attempt: UInt32, _ fleet: inout HarnessFleet) {
        guard fault < Self.lastFaultBit, fleet.settings.faults.indices.contains(fault),
            case .limit(_, _, isRecounted: true, let from, let to) = fleet.settings.faults[fault],
            from <= fleet.now, fleet.now < to
        else { return }
        let bit: UInt64 = 1 << UInt64(fault)
        // Faults are observed behind the backend: the upload may have come at this instant.
        if let index = self.uploadIndex(&fleet, where: { $0.scan == scan && $0.attempt == attempt }) {
            fleet.uploads[index].upload.faults |= bit
            return
        }
        let known = self.quotas.decided.firstIndex { $0.scan == scan && $0.attempt == attempt }
        if let known {
            self.quotas.decided[known].faults |= bit
            return
        }
        self.quotas.decided.append(
            .init(scan: scan, attempt: attempt, faults: bit), max: QuotaAccount.decidedMax)
    }

    /// An upload comes: its limits are asked at once.
    mutating func uploadRequested(_ scan: ScanNumber, attempt: UInt32, _ fleet: inout HarnessFleet) {
        let known = self.quotas.decided.firstIndex { $0.scan == scan && $0.attempt == attempt }
        var upload = QuotaAccount.Upload(scan: scan, attempt: attempt, faults: 0)
        if let known { upload = self.quotas.decided.remove(at: known) }
        fleet.uploads.append(HarnessFleet.AskedUpload(phone: self.index, upload: upload))
    }

    private func uploadIndex(_ fleet: inout HarnessFleet, where fits: (QuotaAccount.Upload) -> Bool) -> Int? {
        fleet.uploads.lastIndex { $0.phone == self.index && fits($0.upload) }
    }

    mutating func uploadAnswered(
        _ scan: ScanNumber, attempt: UInt32, _ status: Int, _ fleet: inout HarnessFleet
    ) {
        guard let index = self.uploadIndex(&fleet, where: { $0.scan == scan && $0.attempt == attempt })
        else {
            return  // It was admitted before.
        }
        fleet.uploads[index].upload.status = status
    }

    mutating func uploadLimited(
        _ scan: ScanNumber, attempt: UInt32, retryAfter: Interval, _ fleet: inout HarnessFleet
    ) {
        guard let index = self.uploadIndex(&fleet, where: { $0.scan == scan && $0.attempt == attempt })
        else {
            return self.error("an upload that did not arrive was limited", scan, &fleet)
        }
        fleet.uploads[index].upload.retryAfter = retryAfter
    }

    /// A fault has refused an upload.
    mutating func limitFired(_ fault: Int, _ scan: ScanNumber, attempt: UInt32, _ fleet: inout HarnessFleet) {
        guard let index = self.uploadIndex(&fleet, where: { $0.scan == scan && $0.attempt == attempt })
        else {
            return
        }
        fleet.uploads[index].upload.refusedBy = fault
    }

    /// All that happened to an upload when it was requested is known.
    mutating func judge(_ upload: QuotaAccount.Upload, _ fleet: inout HarnessFleet) {
        // Whoever changes its device id is counted as several devices.
        guard self.quotas.counts(upload.scan), !self.deviates else { return }
        if upload.status == 429, upload.refusedBy == nil, upload.retryAfter == nil {
            self.error("an upload was answered with 429, but nothing limited it", upload.scan, &fleet)
        }
        // 400 may have come before its limits were asked.
        let isCertain = upload.status != 400
        let refusedBy = upload.refusedBy ?? .max
        for fault in fleet.settings.faults.indices where fault <= refusedBy {
            guard
                case .limit(let quota, let retryAfter, isRecounted: true, _, _) = fleet.settings.faults[fault],
                fault < Self.lastFaultBit
            else { continue }
            if fault == refusedBy {
                self.limited(upload, by: fault, quota, told: retryAfter, &fleet)
            } else if upload.faults & (1 << UInt64(fault)) != 0 {
                self.admitted(upload, by: fault, quota, isCertain: isCertain, &fleet)
            }
        }
        guard upload.refusedBy == nil else { return }
        self.judgeServer(upload, isCertain: isCertain, &fleet)
    }

    /// Holds an upload against the limits of the server. Which of several has refused it is not known, nor what phones of
    /// other processes have uploaded: only the admitted ones are counted for a shared quota.
    private mutating func judgeServer(
        _ upload: QuotaAccount.Upload, isCertain: Bool, _ fleet: inout HarnessFleet
    ) {
        let hasOthers = fleet.server?.hasOtherUploadLimits == true
        let isLimited = upload.retryAfter != nil
        if !isLimited, upload.status != 429, isCertain,
            let excess = fleet.admitted(uploadOf: self.device)
        {
            self.error(
                "\(excess.count) uploads were admitted in a window with a shared quota of \(excess.quota.requests)",
                upload.scan, &fleet)
        }
        guard let quota = fleet.server?.quota else {
            if isLimited, !hasOthers {
                self.error("an upload was limited, but there is no limit", upload.scan, &fleet)
            }
            return
        }
        if isLimited {
            if !hasOthers { self.limited(upload, by: nil, quota, told: nil, &fleet) }
        } else if upload.status != 429 {
            self.admitted(upload, by: nil, quota, isCertain: isCertain, &fleet)
        }
    }

    private mutating func admitted(
        _ upload: QuotaAccount.Upload, by fault: Int?, _ quota: Quota, isCertain: Bool,
        _ fleet: inout HarnessFleet
    ) {
        self.forget(fault, quota, &fleet)
        self.quotas.admissions.append(.init(fault: fault, at: fleet.now, isCertain: isCertain))
        let count = self.quotas.admissions.count { $0.fault == fault && $0.isCertain }
        guard count > quota.requests else { return }
        self.error(
            "\(count) uploads were admitted in a window with a quota of \(quota.requests)", upload.scan,
            &fleet)
    }

    private mutating func limited(
        _ upload: QuotaAccount.Upload, by fault: Int?, _ quota: Quota, told: Interval?,
        _ fleet: inout HarnessFleet
    ) {
        self.forget(fault, quota, &fleet)
        let counted = self.quotas.admissions.filter { $0.fault == fault }
        guard counted.count >= quota.requests else {
            self.error(
                "an upload was limited after \(counted.count) of \(quota.requests) admissions", upload.scan,
                &fleet)
            return
        }
        guard let retryAfter = upload.retryAfter, counted.allSatisfy(\.isCertain) else { return }
        let due = told ?? counted.first.map { $0.at + quota.window - fleet.now } ?? quota.window
        guard retryAfter != due else { return }
        self.error(
            "a 429 requested a wait of \(retryAfter.nanoseconds) ns, but \(due.nanoseconds) ns were left",
            upload.scan, &fleet)
    }

    /// Drops the admissions that have left the window.
    private mutating func forget(_ fault: Int?, _ quota: Quota, _ fleet: inout HarnessFleet) {
        let now = fleet.now
        self.quotas.admissions.removeAll { $0.fault == fault && $0.at + quota.window <= now }
    }
}
