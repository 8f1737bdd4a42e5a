import Histories
import Ledger
import SimBase
import Talaria
import Testing

/// What a kill and a reinstallation excuse, and what they do not, beyond the rows of scan.custody.
@Suite struct LifeTests {
    // MARK: Kill

    @Test func `a capture that a kill took before it was durable is discarded, and not lost`() {
        let scans = History {
            $0.launch()
            $0.phone(.captured(scheduled: $0.now))
            $0.phone(.killed)
            $0.launch(restored: 0)
        }.ledger().totals.scans
        #expect(scans.discardedByCause[.notStored] == 1)
        #expect([scans.discarded, scans.lost] == [1, 0] && scans.isConserved)
    }

    @Test func `a capture in doubt that the next process has is its to keep`() {
        func history(onDisk: Bool) -> History {
            History {
                $0.launch()
                $0.phone(.captured(scheduled: $0.now))
                $0.phone(.killed)
                $0.launch(restored: 1)
                $0.phone(.queued(.captured))
                if onDisk { $0.onDisk(.captured) }
            }
        }
        #expect(history(onDisk: true).broken() == [])
        #expect(history(onDisk: true).ledger().totals.scans.waiting == 1)
        #expect(history(onDisk: false).broken() == [.scanCustody])
    }

    @Test func `a capture that was not durable is lost all the same when nobody killed the app`() {
        let history = History {
            $0.launch()
            $0.phone(.captured(scheduled: $0.now))
        }
        #expect(history.broken() == [.scanCustody])
    }

    // MARK: Reinstallation

    @Test func `a reinstallation ends what was unsettled by name`() {
        let history = History {
            $0.streaming()
            $0.phone(.killed)
            $0.phone(.reinstalled(discarded: 1))
            $0.launch(restored: 0)
            $0.scan = ScanNumber(2)
            $0.job = "job-2"
            $0.wholeScan()
        }
        let ledger = history.ledger()
        #expect(history.broken() == [])
        #expect(ledger.totals.scans.discardedByCause[.reinstalled] == 1)
        #expect(ledger.totals.scans.completed == 1)
        #expect(ledger.totals.scans.lost == 0)
        #expect(ledger.totals.scans.isConserved)
    }

    @Test func `a scan that a reinstallation took and that is on disk has two ends`() {
        let history = History {
            $0.streaming()
            $0.phone(.reinstalled(discarded: 1))
            $0.onDisk(.interrupted)
        }
        #expect(history.broken() == [.scanCustody])
    }

    @Test func `scans of an earlier run go with a reinstallation, too`() {
        let history = History {
            $0.launch(restored: 3)
            $0.phone(.queued(.offline))
            $0.phone(.reinstalled(discarded: 3))
            $0.launch(restored: 0)
        }
        #expect(history.broken() == [])
        #expect(history.ledger().totals.scans.discardedByCause[.reinstalled] == 3)
        #expect(history.ledger().totals.scans.isConserved)
    }

    // MARK: Background

    @Test func `a wait that a server asked for holds through the background, and not through a kill`() {
        func history(_ script: (inout History) -> Void) -> History {
            History {
                $0.launch()
                $0.capture()
                $0.send(.upload, job: nil)
                $0.phone(.rateLimited(.upload, retryAfter: .seconds(9)))
                $0.phone(.queued(.rateLimited))
                script(&$0)
                $0.send(.upload, attempt: 2, job: nil)
                $0.onDisk(.interrupted)
            }
        }
        let background = history {
            $0.phone(.suspended)
            $0.phone(.resumed)
        }
        #expect(background.broken() == [.limitHonoured])
        let kill = history {
            $0.phone(.killed)
            $0.launch(restored: 1)
        }
        #expect(kill.broken() == [])
    }
}
