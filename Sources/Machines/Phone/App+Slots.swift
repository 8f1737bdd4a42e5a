import Observations
import SimBase
import Talaria

// The scans that a phone follows at one time (`StreamPolicy.slots`): each has a slot, and the others wait in the queue.

extension App {
    /// Slots in use.
    package var slotsTaken: Int {
        var taken = self.outlasted.count
        // By index: a closure would get a copy of each scan.
        for index in self.active.indices where self.active[index].stage.holdsSlot { taken += 1 }
        return taken
    }

    /// Gives free slots to the next scans. Scans with only a DELETE left need none.
    mutating func startWaiting(at now: Instant, into effects: inout [PhoneEffect]) {
        // The queue first: nearly always it is empty, and a look at the slots is a look at each active scan.
        guard self.queue.count > 0, self.phase == .running else { return }
        while let index = self.queue.nextDecided(self.conditions(at: now)) {
            self.startFinishing(self.queue.remove(at: index).scan, at: now, into: &effects)
        }
        while self.slotsTaken < self.profile.stream.slots,
            let index = self.queue.next(self.conditions(at: now))
        {
            let waiting = self.queue.remove(at: index)
            var scan = waiting.scan
            scan.isDrained = self.profile.queue.drain == .once && waiting.cause == .offline
            self.endOutlasted(scan.number, at: now, into: &effects)
            self.observe(.slotTaken, of: scan.number, at: now, into: &effects)
            switch scan.work {
            case .upload: self.startUpload(scan, at: now, into: &effects)
            case .follow: self.startFollowing(scan, at: now, into: &effects)
            case .finish: preconditionFailure("a scan without a stream waits for a slot")
            }
        }
    }

    /// Releases the slots of decided scans whose stream has ended, unless they are held through the DELETE.
    mutating func giveIdleSlots(at now: Instant, into effects: inout [PhoneEffect]) {
        for index in self.active.indices {
            // In place: to read a stage of the array copies it.
            guard self.active.update(index, { $0.stage.slot }) == .untilStreamEnds else { continue }
            let scan = self.active[index].number
            guard !self.isDraining(scan) else { continue }
            self.active[index].stage = self.active[index].stage.slotGiven()
            self.observe(.slotGiven, of: scan, at: now, into: &effects)
        }
        self.giveOutlastedSlots(at: now, into: &effects)
    }

    /// The slot is given at a time, and not before the end of the stream that had the terminal event.
    mutating func leaveSlot(
        of scan: ScanNumber, until moment: Instant, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        if self.isDraining(scan) || moment > now {
            self.outlasted.append(HeldSlot(scan: scan, until: moment))
        } else {
            self.observe(.slotGiven, of: scan, at: now, into: &effects)
        }
    }

    private mutating func giveOutlastedSlots(at now: Instant, into effects: inout [PhoneEffect]) {
        guard !self.outlasted.isEmpty else { return }
        var left: [HeldSlot] = []
        for slot in self.outlasted {
            if self.isDraining(slot.scan) || slot.until > now {
                left.append(slot)
            } else {
                self.observe(.slotGiven, of: slot.scan, at: now, into: &effects)
            }
        }
        self.outlasted = left
    }

    /// A scan that is to have a slot again does not wait for its last stream.
    private mutating func endOutlasted(
        _ scan: ScanNumber, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard self.outlasted.contains(where: { $0.scan == scan }) else { return }
        for exchange in self.exchanges where exchange.purpose == .drain && exchange.scan == scan {
            effects.append(.app(.abort(exchange.id)))
        }
        self.exchanges.removeAll { $0.purpose == .drain && $0.scan == scan }
        self.giveOutlastedSlots(at: now, into: &effects)
    }

    func isDraining(_ scan: ScanNumber) -> Bool {
        for index in self.exchanges.indices
        where self.exchanges[index].scan == scan && self.exchanges[index].purpose == .drain {
            return true
        }
        return false
    }
}
