import SimBase
import Testing

@Suite struct FleetShardTests {
    @Test(arguments: 1...9) func `every phone is in one shard, at its place`(count: Int) {
        let shards = (0..<count).map { FleetShard(index: $0, count: count) }
        for range in [0..<40, 5..<6, 7..<30, 12..<12] as [Range<UInt32>] {
            let phones = shards.map { Array($0.phones(of: range)) }
            #expect(phones.flatMap(\.self).sorted() == Array(range))
            #expect(phones.map(\.count) == shards.map { $0.phoneCount(of: range) })
            for (shard, phones) in zip(shards, phones) {
                #expect(phones.allSatisfy { shard.has(DeviceNumber($0)) })
            }
        }
        for shard in shards {
            let all = shard.phones(of: 0..<40).map { shard.index(of: DeviceNumber($0)) }
            #expect(all == Array(0..<all.count))
        }
    }

    @Test func `a shard is read as it is written`() {
        #expect(FleetShard("3/4") == FleetShard(index: 3, count: 4))
        #expect("\(FleetShard(index: 3, count: 4))" == "3/4")
        for text in ["4/4", "-1/4", "1/0", "1", "1/2/3", "+1/4", "a/b", "", "0/1001", "1/ 2"] {
            #expect(FleetShard(text) == nil, "\(text)")
        }
    }
}
