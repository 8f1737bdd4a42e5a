import RunControl
import SimBase

/// The messages between a run in several processes and its shards, as lines of numbers on two pipes.
enum ShardMessage: Equatable {
    // From a shard:

    /// It can start.
    case ready
    /// Its state.
    case progress(RunProgress)
    /// Its snapshot is written. All intervals that begin before `measured` are in its files. `lateness`: the maximum timer lag
    /// of its phones.
    case snapshot(measured: Instant, lateness: Interval)
    /// Its phones have ended. It judges the run and writes its reports, and sends nothing during this time.
    case judging

    // To a shard:

    /// A dashboard shows the run: it is to write a snapshot once a second.
    case show
    /// Its zero, as this machine's monotonic clock reads it, and in nanoseconds since 1970: that clock may be
    /// set in between.
    case start(zero: Int64, wall: Int64)
    /// What the operator has ordered. Phones are counted among all of their group.
    case control(ControlEffect)

    var line: String {
        switch self {
        case .ready: "ready"
        case .progress(let progress): Self.line("progress", progress.numbers.map { Int64($0) })
        case .snapshot(let measured, let lateness):
            Self.line("snapshot", [measured.nanoseconds, lateness.nanoseconds])
        case .judging: "judging"
        case .show: "show"
        case .start(let zero, let wall): Self.line("start", [zero, wall])
        case .control(let effect): Self.line(effect)
        }
    }

    private static func line(_ word: String, _ numbers: [Int64]) -> String {
        ([word] + numbers.map(String.init)).joined(separator: " ")
    }

    private static func line(_ effect: ControlEffect) -> String {
        func phones(_ word: String, _ group: Int, _ phones: Range<Int>) -> String {
            Self.line(word, [group, phones.lowerBound, phones.upperBound].map { Int64($0) })
        }
        return switch effect {
        case .stop: "stop"
        case .holdArrivals: "hold"
        case .releaseArrivals: "release"
        case .rest(let group, let numbers): phones("rest", group, numbers)
        case .wake(let group, let numbers): phones("wake", group, numbers)
        case .fault(let index): Self.line("fault", [Int64(index)])
        case .offline(let time): Self.line("offline", [time.nanoseconds])
        case .close: "close"
        }
    }

    init?(line: String) {
        let words = line.split(separator: " ")
        let numbers = words.dropFirst().compactMap { Int64($0) }
        guard numbers.count == words.count - 1 else { return nil }
        switch (words.first ?? "", numbers.count) {
        case ("ready", 0): self = .ready
        case ("judging", 0): self = .judging
        case ("show", 0): self = .show
        case ("start", 2): self = .start(zero: numbers[0], wall: numbers[1])
        case ("snapshot", 2):
            self = .snapshot(
                measured: Instant(nanoseconds: numbers[0]), lateness: Interval(nanoseconds: numbers[1]))
        case ("progress", RunProgress.count):
            self = .progress(RunProgress(numbers: numbers.map { Int($0) }))
        default:
            guard let effect = Self.effect(words.first ?? "", numbers) else { return nil }
            self = .control(effect)
        }
    }

    private static func effect(_ word: Substring, _ numbers: [Int64]) -> ControlEffect? {
        switch (word, numbers.count) {
        case ("stop", 0): return .stop
        case ("hold", 0): return .holdArrivals
        case ("release", 0): return .releaseArrivals
        case ("close", 0): return .close
        case ("fault", 1): return .fault(Int(numbers[0]))
        case ("offline", 1): return .offline(for: Interval(nanoseconds: numbers[0]))
        case ("rest", 3), ("wake", 3):
            guard numbers[0] >= 0, numbers[1] >= 0, numbers[1] <= numbers[2] else { return nil }
            let phones = Int(numbers[1])..<Int(numbers[2])
            return word == "rest"
                ? .rest(group: Int(numbers[0]), phones: phones)
                : .wake(group: Int(numbers[0]), phones: phones)
        default: return nil
        }
    }
}
