import Foundation
package import SimBase

/// How many cases a fuzz test runs, and which: a fixed few thousand in every test run, and as many as there is time for
/// under `make fuzz`.
///
/// - `SWIFTWING_SIM_FUZZ_SECONDS`: each fuzz test goes on for so long;
/// - `SWIFTWING_SIM_FUZZ_SEED`: from which everything is drawn; without it, always the same;
/// - `SWIFTWING_SIM_FUZZ_CASE`: only this case, to see it again;
/// - `SWIFTWING_SIM_FUZZ_NOTES`: a folder in which each test keeps the number of its present case, so that a crash or a
///   hang can be named.
package enum Fuzz {
    static let seedVariable = "SWIFTWING_SIM_FUZZ_SEED"
    static let caseVariable = "SWIFTWING_SIM_FUZZ_CASE"

    /// Processor time that one case may take, far above what any takes, in an unoptimized build too.
    package static let caseTimeMax = Interval.seconds(5)

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    /// Whether the run is to look at everything instead of a sample.
    package static var isLong: Bool { Self.number("SWIFTWING_SIM_FUZZ_SECONDS") != nil }

    /// After so many cases that went wrong, more of them say nothing new.
    private static let failuresMax = 5

    /// Runs `body` for case after case. An error that it throws, and a case that takes too long, are reported
    /// with the case.
    ///
    /// - Parameters:
    ///   - name: Of the test, for the notes.
    ///   - quick: How many cases an ordinary test run does.
    ///   - report: Called with what is wrong; `Issue.record` in a test.
    package static func run(
        _ name: String, quick: UInt64, report: (String) -> Void, _ body: (FuzzCase) throws -> Void
    ) {
        let seed = Self.number(Self.seedVariable) ?? 0x5EED
        let only = Self.number(Self.caseVariable)
        let seconds = Self.number("SWIFTWING_SIM_FUZZ_SECONDS")
        let notes = Notes(name: name, seed: seed)
        let start = ContinuousClock.now
        var number = only ?? 0
        var failures = 0
        while failures < Self.failuresMax {
            let fuzz = FuzzCase(seed: seed, number: number)
            notes?.note(number)
            let began = Self.processorTime()
            do {
                try body(fuzz)
                let took = Self.processorTime() - began
                guard took <= Self.caseTimeMax else { throw TooSlow(took: took) }
            } catch {
                failures += 1
                report("\(name) at \(fuzz): \("\(error)".prefix(200))")
            }
            number += 1
            if only != nil { return }
            if let seconds {
                if ContinuousClock.now - start >= .seconds(Int64(clamping: seconds)) { break }
            } else if number >= quick {
                break
            }
        }
        if seconds != nil { print("fuzz: \(name): \(number) cases, seed \(seed)") }
    }

    private struct TooSlow: Error, CustomStringConvertible {
        var took: Interval
        var description: String { "\(self.took.wholeMilliseconds) ms of processor time" }
    }

    private static func processorTime() -> Interval {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// The present case on disk: what a process that dies cannot say any more.
    private final class Notes {
        private let file: FileHandle
        private let start: UInt64

        init?(name: String, seed: UInt64) {
            guard let folder = ProcessInfo.processInfo.environment["SWIFTWING_SIM_FUZZ_NOTES"] else {
                return nil
            }
            let path = folder + "/" + String(name.map { $0.isLetter || $0.isNumber ? $0 : "-" })
            guard FileManager.default.createFile(atPath: path, contents: nil),
                let file = FileHandle(forWritingAtPath: path)
            else { return nil }
            self.file = file
            try? file.write(contentsOf: Data("\(Fuzz.seedVariable)=\(seed) \(Fuzz.caseVariable)=".utf8))
            self.start = (try? file.offset()) ?? 0
        }

        deinit { try? self.file.close() }

        func note(_ number: UInt64) {
            try? self.file.seek(toOffset: self.start)
            try? self.file.write(contentsOf: Data("\(number)\n".utf8))
        }
    }
}
