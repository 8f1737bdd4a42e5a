import SimBase

/// Finds processes that have become silent. Each reports its state four times a second, until its phones have
/// ended.
struct ShardSilence {
    /// A process as it was looked at.
    struct Look {
        /// How often it has said something.
        var messages: Int
        /// Whether it judges the run and writes its reports, and sends nothing during this time.
        var isJudging: Bool
    }

    /// A process that judges may be silent so many times as long.
    static let judgingFactor: Int64 = 20
    /// A longer time between two looks means that this process did not run itself: then no process counts as
    /// silent.
    private static let pauseMax = Interval.seconds(1)

    private let silenceMax: Interval
    private var lookedAt: Instant
    private var heard: [(messages: Int, at: Instant)]

    init(_ silenceMax: Interval, processes: Int, at now: Instant) {
        self.silenceMax = silenceMax
        self.lookedAt = now
        self.heard = Array(repeating: (messages: 0, at: now), count: processes)
    }

    /// Returns the indexes of those that have been silent for too long. `looks`: at all processes, in their order.
    mutating func silent(_ looks: [Look], at now: Instant) -> [Int] {
        let pause = now - self.lookedAt
        self.lookedAt = now
        return looks.enumerated().filter { index, look in
            if look.messages != self.heard[index].messages { self.heard[index] = (look.messages, now) }
            if pause > Self.pauseMax { self.heard[index].at = self.heard[index].at + pause }
            let most = look.isJudging ? self.silenceMax * Self.judgingFactor : self.silenceMax
            return now - self.heard[index].at > most
        }.map(\.offset)
    }
}
