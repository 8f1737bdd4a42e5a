import Observations
import SimBase
import Talaria

// A scan's life outside the slots: capture, photo, queue, and the way in and out of a slot.

extension App {
    mutating func launched(
        _ restored: [DurableScan], pathAvailable: Bool, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        precondition(self.phase == .off, "a phone is launched once; a relaunch is a fresh phone")
        self.phase = .running
        self.pathAvailable = pathAvailable
        for record in restored {
            precondition(self.queue.index(of: ScanNumber(record.scan)) == nil, "a scan was restored twice")
            var scan = Scan(record: record, scheduled: self.scheduled(record))
            self.uploadIsDue(&scan, at: now)
            self.queue.insert(
                WaitingScan(
                    scan: scan, cause: WaitingCause(rawValue: record.cause) ?? .interrupted, hold: .none,
                    floor: now, writeID: WriteID(0), isAnnounced: true))
        }
        self.observe(.launched(restored: self.waiting.count), of: .none, at: now, into: &effects)
        for (scan, cause) in self.waiting {
            self.observe(.queued(cause), of: scan, at: now, into: &effects)
        }
        for unsettled in restored where !unsettled.completed && unsettled.refusal == nil {
            guard let file = unsettled.file else { continue }
            self.observe(.filePrepared(file), of: ScanNumber(unsettled.scan), at: now, into: &effects)
        }
        if !pathAvailable { self.observe(.pathLost, of: .none, at: now, into: &effects) }
    }

    mutating func captured(
        _ number: ScanNumber, _ photo: PhotoReference, scheduled: Instant, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        guard !self.phase.isAway else { return }  // The app is not on the screen: there is no shutter.
        precondition(
            self.queue.index(of: number) == nil && self.activeIndex(number) == nil,
            "a scan number was used twice")
        self.observe(.captured(scheduled: scheduled), of: number, at: now, into: &effects)
        let photos = self.photoCount(of: number)
        if photos > 1 { self.observe(.photosTaken(photos), of: number, at: now, into: &effects) }
        guard self.unsettledCount < AppLimits.unsettledMax else {
            self.note(.settled(number, .refused(code: AppLimits.queueFullCode)), into: &effects)
            self.observe(
                .refused(code: AppLimits.queueFullCode, cause: .queue), of: number, at: now, into: &effects)
            return
        }
        let cause = self.presentCause(at: now) ?? .captured
        var record = DurableScan(
            scan: number.raw, photo: photo.raw,
            capturedUnixMs: self.wallClockAtZero + now.nanoseconds / 1_000_000,
            scheduledUnixNs: self.unixNanoseconds(at: scheduled),
            uploadDueUnixNs: self.unixNanoseconds(at: scheduled), job: nil, booksApplied: [],
            cause: cause.rawValue, attempts: DurableAttempts(), tokenExpiries: 0,
            retryableErrors: 0, completed: false, refusal: nil)
        record.isVolatile = self.isVolatile(waitingFor: cause)
        record.photos = photos
        record.journey = self.profile.journey
        let writeID = self.store(.put(record), into: &effects)
        let scan = Scan(record: record, scheduled: scheduled)
        self.queue.insert(
            WaitingScan(
                scan: scan, cause: cause, hold: .none, floor: now, writeID: writeID, isAnnounced: false))
    }

    /// Returns the number of photos that the user takes for a scan; 1 for what has none.
    private func photoCount(of scan: ScanNumber) -> Int {
        guard self.profile.journey.hasPhotos else { return 1 }
        let photos = self.profile.upload.photos
        // Nothing is drawn where there is no choice.
        guard photos.count > 1 else { return photos.lowerBound }
        let more = self.random.below(
            UInt64(photos.count), .photosPerScan, UInt64(self.number.raw), UInt64(scan.raw))
        return photos.lowerBound + Int(more)
    }

    /// Why a scan would wait now even with a slot to be had.
    func presentCause(at now: Instant) -> WaitingCause? {
        if !self.pathAvailable { return .offline }
        return self.gate.isOpen(at: now) ? nil : .rateLimited
    }

    // MARK: Photo

    mutating func photoPrepared(
        _ number: ScanNumber, bytes: Int, took: Interval?, file: LibraryContent?, barcode: String?,
        reading: BookReading?, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        self.observe(.photoPrepared(took: took, bytes: bytes), of: number, at: now, into: &effects)
        if let reading, self.readBook(reading, of: number, at: now, into: &effects) == .photo { return }
        if let file { self.observe(.filePrepared(file), of: number, at: now, into: &effects) }
        guard let index = self.queue.index(of: number) else {
            // Asked for twice, because it was released in between, and the first that came is in use.
            if let active = self.activeIndex(number), self.active[active].scan.photo != .absent {
                return
            }
            effects.append(.app(.releasePhoto(number)))
            return
        }
        switch self.queue.scans[index].scan.photo {
        case .preparing:
            self.queue.update(at: index) {
                $0.scan.photo = .prepared(bytes: bytes)
                $0.scan.record.file = file
                $0.scan.barcode = barcode
                $0.scan.reading = reading
            }
            if let reading { self.show(reading, at: index, at: now, into: &effects) }
        case .prepared: break  // Asked for twice, because it was released in between.
        case .absent: effects.append(.app(.releasePhoto(number)))
        }
    }

    private enum ReadBook { case text, photo }

    /// What a reading leads to. One that comes after the photo was released, such as in the background, is read again.
    private mutating func readBook(
        _ reading: BookReading, of number: ScanNumber, at now: Instant, into effects: inout [PhoneEffect]
    ) -> ReadBook {
        guard let index = self.queue.index(of: number), self.queue.scans[index].scan.photo == .preparing
        else { return .text }
        if let reason = self.photoReason(reading), self.filedReading(of: self.queue.scans[index].scan) == nil
        {
            self.observe(.photoInstead(reason), of: number, at: now, into: &effects)
            self.queue.update(at: index) { Self.uploadPhoto(of: &$0.scan, into: &effects) }
            return .photo
        }
        if self.queue.scans[index].scan.record.attempts.upload == 0 {
            let took = now - self.queue.scans[index].scan.scheduled
            self.observe(.bookRead(took: took), of: number, at: now, into: &effects)
        }
        return .text
    }

    mutating func photoRejected(
        _ number: ScanNumber, _ reason: String, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let index = self.queue.index(of: number), self.queue.scans[index].scan.photo == .preparing
        else {
            return  // Settled or given back in the meantime: whoever takes it up next asks again.
        }
        _ = self.queue.remove(at: index)
        self.observe(.photoRejected(reason: reason), of: number, at: now, into: &effects)
        // Shown once it is durable: a process that dies before finds the scan as it was.
        let settled = StoreChange.settled(number, .refused(code: AppLimits.photoUnusableCode))
        self.rejected.append(RejectedScan(scan: number, writeID: self.store(settled, into: &effects)))
        self.abandonCleanups(of: number, cause: .scanRefused, at: now, into: &effects)
    }

    /// Has the photos prepared of the scans that are the next to be uploaded. A scan that serves a backoff, or a wait
    /// that a server requested, is not among them: those after it overtake it.
    mutating func prepareAhead(at now: Instant, into effects: inout [PhoneEffect]) {
        guard self.phase == .running else { return }
        var ahead = 0
        for index in self.queue.scans.indices
        where self.queue.scans[index].scan.work == .upload && self.queue.scans[index].isReady(at: now) {
            guard ahead < AppLimits.photosAheadMax else { return }
            ahead += 1
            guard self.queue.scans[index].scan.photo == .absent else { continue }
            self.queue.update(at: index) { $0.scan.photo = .preparing }
            let scan = self.queue.scans[index].scan.number
            let photo = PhotoReference(self.queue.scans[index].scan.record.photo)
            let isRead = self.queue.scans[index].scan.record.journey == .textEnrichment
            effects.append(.app(isRead ? .readSpine(scan, photo) : .preparePhoto(scan, photo)))
        }
    }

    static func release(_ scan: inout Scan, into effects: inout [PhoneEffect]) {
        guard scan.photo != .absent else { return }
        scan.photo = .absent
        effects.append(.app(.releasePhoto(scan.number)))
    }

    // MARK: The queue

    /// Returns a scan to the durable queue and releases its slot.
    mutating func requeue(
        _ number: ScanNumber, _ cause: WaitingCause, _ hold: WaitingScan.Hold, floor: Instant,
        at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        guard let index = self.activeIndex(number) else {
            preconditionFailure("only a scan in a slot is requeued")
        }
        guard !self.removesDrained(index, cause) else {
            self.remove(index, overlay: self.profile.failureOverlay, at: now, into: &effects)
            return
        }
        var scan = self.active.remove(at: index).scan
        if hold.isParked || self.phase.isAway
            || self.queue.photosHeldBack(at: now) >= AppLimits.photosHeldBackMax
        {
            Self.release(&scan, into: &effects)
        }
        scan.record.cause = cause.rawValue
        scan.record.isVolatile = self.isVolatile(waitingFor: cause)
        scan.isDrained = false
        if self.preview?.scan == number { self.preview = nil }
        let writeID = self.store(.put(scan.record), into: &effects)
        self.queue.insert(
            WaitingScan(
                scan: scan, cause: cause, hold: hold, floor: floor, writeID: writeID, isAnnounced: true)
        )
        self.observe(.queued(cause), of: number, at: now, into: &effects)
        self.leaveSlot(of: number, until: now, at: now, into: &effects)
    }

    /// A path that returns ends every backoff, and the wait of scans that were parked until then.
    mutating func releaseQueue(at moment: Instant) {
        self.queueOpensAt = max(self.queueOpensAt, moment)
        for (index, waiting) in self.queue.scans.enumerated() {
            switch waiting.hold {
            case .none, .nextLaunch: break
            case .until, .nextPath: self.release(waiting: index, at: moment)
            }
        }
    }

    /// Releases a waiting scan from everything except a wait that a server requested.
    mutating func release(waiting index: Int, at moment: Instant) {
        var scan = self.queue.scans[index].scan
        self.uploadIsDue(&scan, at: moment)
        self.queue.update(at: index) { waiting in
            waiting.hold = .none
            waiting.scan = scan
        }
    }

    // MARK: Store

    mutating func stored(_ writeID: WriteID, at now: Instant, into effects: inout [PhoneEffect]) {
        precondition(writeID.raw <= self.lastWriteID, "a ticket that was never given")
        self.durable = max(self.durable, writeID)
        for index in self.queue.scans.indices
        where !self.queue.scans[index].isAnnounced && self.queue.scans[index].writeID <= self.durable {
            self.queue.update(at: index) { $0.isAnnounced = true }
            let (scan, cause) = (self.queue.scans[index].scan.number, self.queue.scans[index].cause)
            self.observe(.queued(cause), of: scan, at: now, into: &effects)
        }
        while let rejected = self.rejected.first, rejected.writeID <= self.durable {
            self.rejected.removeFirst()
            self.observe(
                .refused(code: AppLimits.photoUnusableCode, cause: .photo), of: rejected.scan, at: now,
                into: &effects)
        }
        self.announceReviews(at: now, into: &effects)
        for index in self.cleanups.indices { self.cleanups[index].stored(self.durable, at: now) }
        for number in self.active.indices.map({ self.active[$0].number }) {
            guard let index = self.activeIndex(number) else { continue }
            self.observeDurableBooks(index, at: now, into: &effects)
            switch self.active[index].stage {
            case .recording(let writeID) where writeID <= self.durable:
                self.jobRecorded(number, at: now, into: &effects)
            case .filing(let filing) where filing.writeID <= self.durable:
                self.filed(number, filing, at: now, into: &effects)
            case .recording, .filing, .uploading, .opening, .streaming, .disconnected, .polling, .unpolled,
                .fetching, .unfetched, .cleaning:
                break
            }
        }
    }

    /// A capture that finds no room for its record is refused at once, and shown: it is never kept in memory only.
    /// Every other write stays where it is, in memory, and what waits for it continues waiting.
    mutating func storeFailed(
        _ writeID: WriteID, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        precondition(writeID.raw <= self.lastWriteID, "a ticket that was never given")
        guard let index = self.queue.scans.firstIndex(where: { !$0.isAnnounced && $0.writeID == writeID })
        else { return }
        var scan = self.queue.remove(at: index).scan
        Self.release(&scan, into: &effects)
        let code = AppLimits.storageFullCode
        self.note(.settled(scan.number, .refused(code: code)), into: &effects)
        self.observe(.refused(code: code, cause: .storage), of: scan.number, at: now, into: &effects)
    }
}
