import Foundation
import Testing

/// The real program as a child process, over real sockets. Every suite is an extension of this type or of
/// ``SideBySide``. The tests of this type run one after another: they measure times, need the processors, or need a port that
/// no other program takes. No test may take longer than a minute.
@Suite(.serialized, .timeLimit(.minutes(1))) enum EndToEnd {}

/// Tests whose programs mostly wait, or that measure nothing: six tests run at once. Each has its own folder, and
/// ports that the system chose. Since they share the processors, each may take ten minutes.
@Suite(.atOnceWithinWidth, .timeLimit(.minutes(10))) enum SideBySide {}

/// Searches through thousands of seeds, and a page from hundreds of runs: in `make searches`, and not in `make test`. Each
/// keeps all processors busy.
@Suite(.serialized, .timeLimit(.minutes(10))) enum Searches {}

/// Runs tests at once if the environment says how many, as `make unit` does. Without a number Swift Testing would
/// start all of them, so they run one after another then.
struct WidthTrait: SuiteTrait, TestScoping {
    private static let isGiven =
        ProcessInfo.processInfo.environment["SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH"] != nil

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard !Self.isGiven else { return try await function() }
        try await ParallelizationTrait.serialized.provideScope(
            for: test, testCase: testCase, performing: function)
    }
}

extension Trait where Self == WidthTrait {
    static var atOnceWithinWidth: Self { Self() }
}
