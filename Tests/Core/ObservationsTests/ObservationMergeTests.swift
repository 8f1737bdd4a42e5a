import Observations
import SimBase
import Talaria
import Testing

@Suite struct MergeTests {
    private func seen(_ at: Int64, _ device: UInt32) -> Observation {
        Observation(
            at: Instant(nanoseconds: at), device: DeviceNumber(device), scan: .none, what: .phone(.resumed))
    }

    private func take(_ merge: inout ObservationMerge) -> [Int64] {
        var moments: [Int64] = []
        while let observation = merge.next() { moments.append(observation.at.nanoseconds) }
        return moments
    }

    @Test func `several stories become one in the order of time`() {
        var merge = ObservationMerge(sources: 3)
        for at in [1, 4, 7] { merge.add(self.seen(Int64(at), 0), of: 0) }
        for at in [2, 5] { merge.add(self.seen(Int64(at), 1), of: 1) }
        for at in [3, 6] { merge.add(self.seen(Int64(at), 2), of: 2) }
        for source in 0..<3 { merge.close(source: source) }
        #expect(self.take(&merge) == [1, 2, 3, 4, 5, 6, 7])
        #expect(merge.count == 0)
    }

    @Test func `nothing is told that another source may still precede`() {
        var merge = ObservationMerge(sources: 2)
        merge.add(self.seen(10, 0), of: 0)
        merge.add(self.seen(20, 0), of: 0)
        merge.mark(source: 0, upTo: Instant(nanoseconds: 30))
        #expect(self.take(&merge) == [])
        merge.mark(source: 1, upTo: Instant(nanoseconds: 15))
        #expect(self.take(&merge) == [10])
        merge.add(self.seen(17, 1), of: 1)
        merge.mark(source: 1, upTo: Instant(nanoseconds: 30))
        #expect(self.take(&merge) == [17, 20])
    }

    @Test func `a story that is told a little out of order is put in order`() {
        var merge = ObservationMerge(sources: 1)
        for at in [1, 5, 3, 2, 9, 4] { merge.add(self.seen(Int64(at), 0), of: 0) }
        merge.close(source: 0)
        #expect(self.take(&merge) == [1, 2, 3, 4, 5, 9])
    }

    @Test func `of one moment the lower source comes first, and of one source what came first`() {
        var merge = ObservationMerge(sources: 2)
        merge.add(self.seen(1, 21), of: 1)
        merge.add(self.seen(1, 11), of: 0)
        merge.add(self.seen(1, 12), of: 0)
        merge.close(source: 0)
        merge.close(source: 1)
        var devices: [UInt32] = []
        while let observation = merge.next() { devices.append(observation.device.raw) }
        #expect(devices == [11, 12, 21])
    }

    @Test func `a long story is told on without keeping what was told`() {
        var merge = ObservationMerge(sources: 1)
        var told = 0
        for at in 0..<10_000 {
            merge.add(self.seen(Int64(at), 0), of: 0)
            merge.mark(source: 0, upTo: Instant(nanoseconds: Int64(at) - 100))
            told += self.take(&merge).count
            #expect(merge.count <= 101)
        }
        #expect(told == 9_900)
    }
}
