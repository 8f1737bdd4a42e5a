import Histories
import Ledger
import SimBase
import Talaria
import Testing

/// Runs that do not come to their end: what was broken before stays broken, and no one is blamed for what is
/// missing.
@Suite struct ShortenedRunTests {
    /// What happens before the end, the end, and what is seen after it.
    private struct Story {
        var before: @Sendable (inout History) -> Void
        var after: @Sendable (inout History) -> Void = { _ in }

        func ledger(_ end: (inout Ledger, Instant) -> Void) -> Ledger {
            let first = History(self.before)
            var whole = first
            whole.pass(.seconds(1))
            let moment = whole.now
            whole.pass(.seconds(1))
            self.after(&whole)
            var ledger = Ledger(shelf: History.shelf, settings: .embedded)
            for observation in first.observations { ledger.record(observation) }
            end(&ledger, moment)
            for observation in whole.observations.dropFirst(first.observations.count) {
                ledger.record(observation)
            }
            ledger.finish(waitingOnDisk: whole.waiting, at: whole.now)
            return ledger
        }
    }

    private func standing(_ invariant: Invariant, in ledger: Ledger) -> Verdict.Standing? {
        ledger.verdicts.first { $0.invariant == invariant }?.standing
    }

    private func interrupted(_ story: Story) -> Ledger { story.ledger { $0.interrupted(at: $1) } }

    private func withoutBackend(_ story: Story) -> Ledger { story.ledger { $0.lostBackend(after: $1) } }

    /// A completed scan whose job is not deleted yet.
    private static let undeleted: @Sendable (inout History) -> Void = {
        $0.streaming()
        $0.terminal(2)
        $0.addBooks()
        $0.complete()
    }

    // MARK: Interruption

    @Test func `what an interruption leaves undone is not available`() {
        let ledger = self.interrupted(
            Story(
                before: {
                    Self.undeleted(&$0)
                    $0.scan = ScanNumber(2)
                    $0.capture()
                    $0.phone(.slotTaken)
                },
                after: { $0.phone(.suspended) }))
        #expect(!ledger.isBroken)
        for invariant in [Invariant.jobCleaned, .scanCustody, .bookNeverLost, .serverAgrees] {
            #expect(self.standing(invariant, in: ledger) == .notAvailable, "\(invariant)")
        }
        #expect(self.standing(.slotsBounded, in: ledger) == .held)
        #expect(self.standing(.limitHonoured, in: ledger) == .held)
        // It may be on its way to the disk.
        #expect(ledger.totals.scans.open == 1 && ledger.totals.scans.lost == 0)
        #expect(ledger.totals.scans.isConserved)
    }

    @Test func `a scan that waits on disk at an interruption waits`() {
        let ledger = self.interrupted(
            Story(
                before: { $0.streaming() },
                after: {
                    $0.phone(.suspended)
                    $0.onDisk(.suspended)
                }))
        #expect(!ledger.isBroken)
        #expect(ledger.totals.scans.waiting == 1 && ledger.totals.scans.open == 0)
    }

    @Test func `what was broken before an interruption stays broken`() {
        let ledger = self.interrupted(
            Story(before: {
                $0.streaming()
                $0.addBooks([0, 0])
            }))
        #expect(self.standing(.bookNeverDoubleAdded, in: ledger) == .broken)
    }

    @Test func `what breaks after an interruption is not available`() {
        let ledger = self.interrupted(
            Story(before: { $0.streaming() }, after: { $0.addBooks([0, 0]) }))
        #expect(self.standing(.bookNeverDoubleAdded, in: ledger) == .notAvailable)
    }

    // MARK: The backend's death

    @Test func `an event whose writing a dead backend never told is held against nobody`() {
        let story = Story(
            before: { $0.streaming() },
            after: {
                $0.apply(2)
                $0.onDisk(.suspended)
            })
        #expect(self.standing(.streamIDMonotone, in: story.ledger { _, _ in }) == .broken)
        let ledger = self.withoutBackend(story)
        #expect(!ledger.isBroken)
        #expect(self.standing(.streamIDMonotone, in: ledger) == .notAvailable)
    }

    @Test func `what needs a dead backend is not available, and what the phones tell is judged`() {
        let ledger = self.withoutBackend(
            Story(before: { Self.undeleted(&$0) }, after: { $0.phone(.suspended) }))
        #expect(!ledger.isBroken)
        #expect(self.standing(.jobCleaned, in: ledger) == .notAvailable)
        #expect(self.standing(.serverAgrees, in: ledger) == .notAvailable, "nothing speaks against it")
        #expect(self.standing(.scanCustody, in: ledger) == .held)
        let lost = self.withoutBackend(Story(before: { $0.streaming() }, after: { $0.addBooks([0, 0]) }))
        #expect(self.standing(.bookNeverDoubleAdded, in: lost) == .broken)
        #expect(self.standing(.scanCustody, in: lost) == .broken, "nothing is on disk")
    }

    @Test func `what a backend had told before it died still convicts`() {
        let ledger = self.withoutBackend(
            Story(before: {
                $0.streaming()
                $0.apply(3)
            }))
        #expect(self.standing(.streamIDMonotone, in: ledger) == .broken)
    }
}
