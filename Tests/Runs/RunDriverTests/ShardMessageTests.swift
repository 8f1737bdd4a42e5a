import RunControl
import SimBase
import Testing

@testable import RunDriver

@Suite struct ShardMessageTests {
    @Test(arguments: [
        ShardMessage.ready, .judging, .show, .start(zero: 12_345_678_901, wall: 1_900_000_000_000_000_000),
        .progress(RunProgress(numbers: [120, 40, 1, 12, 3, 5, 7, 9, 11])),
        .snapshot(measured: .zero + .seconds(3), lateness: .milliseconds(2)),
        .control(.stop), .control(.holdArrivals), .control(.releaseArrivals),
        .control(.rest(group: 1, phones: 3..<12)), .control(.wake(group: 0, phones: 0..<0)),
        .control(.fault(4)), .control(.offline(for: .seconds(5))), .control(.close),
    ])
    func `messages of shards are read as they are written`(_ message: ShardMessage) {
        #expect(ShardMessage(line: message.line) == message)
    }

    @Test(arguments: [
        "", "ready 1", "start", "start x", "progress 1 2 3", "progress 1 2 3 4 5 6 7 8 x", "halt",
        "snapshot 1", "rest 0 5", "rest 0 5 3", "rest 0 -1 3", "fault", "offline",
    ])
    func `what is no message is none`(_ line: String) {
        #expect(ShardMessage(line: line) == nil)
    }

    @Test func `the numbers of processes add up`() {
        var all = RunProgress(numbers: [120, 40, 1, 12, 3, 5, 7, 9, 11])
        all.add(RunProgress(numbers: [1, 2, 3, 4, 5, 6, 7, 8, 9]))
        #expect(all.numbers == [121, 42, 4, 16, 8, 11, 14, 17, 20])
        #expect(all.settled == 42 + 4 + 16 + 8)
    }
}
