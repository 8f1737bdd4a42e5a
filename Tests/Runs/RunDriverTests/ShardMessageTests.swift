import Testing

@testable import RunDriver

@Suite struct ShardMessageTests {
    @Test func `messages of shards are read as they are written`() {
        let progress = ShardProgress(numbers: [120, 40, 1, 12, 3])
        for message in [
            ShardMessage.ready, .judging, .start(at: 1_900_000_000_000_000_000), .progress(progress),
        ] {
            #expect(ShardMessage(line: message.line) == message)
        }
        for line in ["", "ready 1", "start", "start x", "progress 1 2 3", "progress 1 2 3 4 x", "stop"] {
            #expect(ShardMessage(line: line) == nil, "\(line)")
        }
    }
}
