import Faults
import Observations
import Phone
import SimBase
import Talaria
import Testing

/// A photo that the app segments: each region is a scan with an upload of its own (Docs/apps.md section 4.2, step 2b).
struct RegionTests {
    private static func bench(_ regions: ClosedRange<Int>) -> Bench {
        Bench { $0.upload.regions = regions }
    }

    private func regions(_ bench: Bench) -> [PhoneObservation] {
        bench.seen.filter { if case .regionTaken = $0 { true } else { false } }
    }

    @Test(arguments: [2, 7, 20]) func `a capture gives a scan for each region`(count: Int) {
        var bench = Self.bench(count...count)
        bench.capture()
        #expect(bench.phone.captures == 1 && bench.phone.lastScan == ScanNumber(UInt32(count)))
        #expect(
            regions(bench) == (1...count).map { .regionTaken(capture: 1, number: $0, of: count) })
        #expect(bench.seen.count { if case .captured = $0 { true } else { false } } == count)
        let begun = bench.take().count { if case .use(_, beginsCapture: true) = $0 { true } else { false } }
        #expect(begun == 1)
    }

    @Test func `a photo of one region is a scan like any other`() {
        var (one, plain) = (Self.bench(1...1), Bench())
        one.capture()
        plain.capture()
        #expect(one.seen == plain.seen && regions(one) == [])
    }

    @Test func `a batch has no photo to be segmented`() {
        var bench = Bench {
            $0.journey = .batchEnrichment
            $0.upload.regions = 3...3
        }
        bench.capture()
        #expect(bench.phone.lastScan == ScanNumber(1) && regions(bench) == [])
    }

    @Test func `the number of regions is drawn for each capture`() {
        func taken() -> [UInt32] {
            var bench = Self.bench(1...20)
            return (0..<30).map { _ in
                let before = bench.phone.lastScan.raw
                bench.capture()
                return bench.phone.lastScan.raw - before
            }
        }
        #expect(taken() == taken() && Set(taken()).count > 10)
        #expect(taken().allSatisfy { (1...20).contains($0) })
    }

    @Test func `the user waits until every region is settled`() {
        var bench = Self.bench(3...3)
        bench.capture()
        for region in 1...3 as ClosedRange<UInt32> {
            #expect(!bench.wanted.contains("awaited settled"))
            bench.flush()
            bench.handle(app: .photoRejected(scan: ScanNumber(region), reason: "too dark"))
        }
        #expect(bench.wanted.count { $0 == "awaited settled" } == 1)
    }
}
