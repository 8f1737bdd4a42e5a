import Histories
import Observations
import SimBase
import Talaria
import Testing

@testable import RunJudge

/// Captures that were segmented: complete with the last of their regions, and named region by region until then.
@Suite struct RegionAccountTests {
    private func note(_ script: (inout History) -> Void) -> String? {
        var account = RegionAccount()
        for observation in History(script).observations { account.record(observation) }
        let summary = account.summary
        guard summary.remark != nil else { return nil }
        let named = summary.named.map(\.text).joined(separator: "; ")
        return "\(summary.complete) of \(summary.captures) complete, \(summary.regions) regions"
            + (named.isEmpty ? "" : "; \(named)") + (summary.more > 0 ? " and \(summary.more) more" : "")
    }

    private func take(_ history: inout History, _ regions: Int, from first: UInt32) {
        for number in 1...regions {
            history.scan = ScanNumber(first + UInt32(number) - 1)
            history.phone(.regionTaken(capture: first, number: number, of: regions))
            history.phone(.captured(scheduled: history.now))
        }
    }

    private func complete(_ history: inout History, _ scan: UInt32) {
        history.scan = ScanNumber(scan)
        history.phone(.completed(took: .seconds(1)))
    }

    @Test func `scans without regions have no note`() {
        #expect(note { $0.wholeScan() } == nil)
    }

    @Test func `a capture is complete with its last region`() {
        #expect(
            note {
                take(&$0, 3, from: 1)
                for scan in [3, 1, 2] as [UInt32] { complete(&$0, scan) }
            } == "1 of 1 complete, 3 regions")
    }

    @Test func `a region that is missing is named, with what was last heard of it`() {
        #expect(
            note {
                take(&$0, 3, from: 5)
                complete(&$0, 5)
                $0.scan = ScanNumber(6)
                $0.phone(.queued(.offline))
                $0.scan = ScanNumber(7)
                $0.phone(.refused(code: "NO_TEXT_DETECTED", cause: .photo))
                take(&$0, 2, from: 8)
                for scan in [8, 9] as [UInt32] { complete(&$0, scan) }
            }
                == "1 of 2 complete, 5 regions; phone 0 scan 6, region 2 of 3 (waiting: offline); phone 0 scan 7, region 3 of 3 (refused: NO_TEXT_DETECTED)"
        )
    }

    @Test func `a capture whose regions were not all taken is not complete`() {
        #expect(
            note {
                $0.phone(.regionTaken(capture: 1, number: 1, of: 2))
                complete(&$0, 1)
            }
                == "0 of 1 complete, 1 regions; phone 0 scan 1, 1 of 2 regions not taken"
        )
    }
}
