import Ledger
import Metrics
import SimBase
import Talaria
import Testing

/// The texts in which phone and backend differ, as they are kept.
@Suite struct TextDifferencesTests {
    private static func example(device: UInt32, scan: UInt32, _ field: Reconciliation.Field)
        -> TextDifferences.Example
    {
        TextDifferences.Example(
            device: DeviceNumber(device), scan: ScanNumber(scan),
            kind: .init(field: field, chosen: .talaria, right: .neither), read: "Ernma", verified: "Emma")
    }

    /// Two of each of five scans of nine phones.
    private static let all = (0..<9 as Range<UInt32>).flatMap { device in
        (1...5 as ClosedRange<UInt32>).flatMap { scan in
            [example(device: device, scan: scan, .title), example(device: device, scan: scan, .author)]
        }
    }

    private static func kept(_ examples: [TextDifferences.Example]) -> TextDifferences {
        examples.reduce(into: TextDifferences()) {
            $0.counts[$1.kind] += 1
            $0.keep($1)
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `the first are the same in any order, and whole or in parts`(seed: UInt64) {
        let random = KeyedRandom(seed: seed)
        var (shuffled, parts) = (Self.all, [[TextDifferences.Example]](repeating: [], count: 3))
        for index in shuffled.indices {
            shuffled.swapAt(
                index, Int(random.below(UInt64(shuffled.count), .spineReading, UInt64(index))))
        }
        for (index, example) in shuffled.enumerated() {
            parts[Int(random.below(3, .spineReading, UInt64(index), 1))].append(example)
        }
        var sum = TextDifferences()
        for part in parts { sum.add(Self.kept(part)) }
        #expect(sum == Self.kept(Self.all))
        #expect(sum.first == Array(Self.all.prefix(TextDifferences.firstMax)))
        #expect(sum.counts.total == 90)
    }

    @Test func `long texts are cut`() {
        let long = String(repeating: "é", count: 1_000)
        let example = TextDifferences.Example(
            device: DeviceNumber(0), scan: ScanNumber(1),
            kind: .init(field: .title, chosen: .talaria, right: .talaria), read: long, verified: long)
        #expect(example.read.utf8.count < 100 && example.verified.utf8.count < 100)
    }
}
