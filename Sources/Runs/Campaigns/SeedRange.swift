import RunDriver
import RunJudge

/// The seeds of a search: `1..10000`, or `@REV+N`, which are N seeds that follow from the commit REV.
package struct SeedRange: Hashable, Sendable {
    package static let seedsMax: UInt64 = 100_000_000

    package let first: UInt64
    package let last: UInt64

    package var count: Int { Int(self.last - self.first + 1) }

    private init(_ first: UInt64, _ last: UInt64) {
        self.first = first
        self.last = last
    }

    /// Reads the value of `--seeds`.
    package init(_ text: String) throws {
        if text.hasPrefix("@") {
            self = try Self.ofCommit(text)
            return
        }
        let ends = text.split(separator: "..", omittingEmptySubsequences: false).map { UInt64($0) }
        if ends.count == 2, let first = ends[0], let last = ends[1], first > last {
            throw CommandFailure(
                .usage, "--seeds \(text) ends before it begins", hint: "write \(last)..\(first)")
        }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last else {
            throw CommandFailure(
                .usage, "--seeds expects a range of seeds such as 1..10000, or @HEAD+1000, not '\(text)'")
        }
        try self.init(checked: first, last)
    }

    private init(checked first: UInt64, _ last: UInt64) throws {
        guard last < .max else {
            throw CommandFailure(.usage, "--seeds expects seeds below \(UInt64.max)")
        }
        guard last - first < Self.seedsMax else {
            throw CommandFailure(.usage, "--seeds has more than \(Self.seedsMax) seeds")
        }
        self.init(first, last)
    }

    /// The value of `--seeds` that repeats the search: a range, also where it was given by a commit.
    package var text: String { "\(self.first)..\(self.last)" }

    // MARK: Commits

    private static func ofCommit(_ text: String) throws -> SeedRange {
        let parts = text.dropFirst().split(separator: "+", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty, let count = UInt64(parts[1]), count > 0 else {
            throw CommandFailure(.usage, "--seeds expects @REV+N such as @HEAD+1000, not '\(text)'")
        }
        let hash = try GitCommit.hash(of: parts[0])
        // 48 bits of the commit, so that every commit has seeds of its own.
        guard hash.count >= 12, let bits = UInt64(hash.prefix(12), radix: 16) else {
            throw CommandFailure(.usage, "git does not know the commit '\(parts[0])'")
        }
        return try SeedRange(checked: bits, bits + min(count - 1, Self.seedsMax))
    }
}
