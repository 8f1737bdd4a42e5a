import Testing

@testable import RunJudge

@Suite struct ExitCodeTests {
    @Test func `of several runs the gravest reason decides`() {
        // The order of the table: an objective on a count before a measurement that cannot be trusted, one on a latency after it.
        let table = ExitReason.allCases
        for (index, grave) in table.enumerated() {
            for lesser in table[index...] {
                var reasons = ExitReasons([lesser])
                reasons.add([grave])
                #expect(reasons.all.first == grave)
                #expect(reasons.exit == grave.exit)
            }
        }
        #expect(ExitReasons().exit == .success)
        #expect(
            table.map(\.exit.rawValue) == [
                97, 97, 70, 74, 105, 99, 99, 99, 99, 98, 98, 98, 98, 98, 98, 99, 99, 98,
            ])
    }

    @Test func `codes of runs are ordered by the table, and others count only alone`() {
        #expect(ExitCode.worst([]) == .success)
        #expect(ExitCode.worst([.success, .unavailable]) == .unavailable)
        #expect(ExitCode.worst([.unavailable, .untrusted]) == .untrusted)
        #expect(ExitCode.worst([.interrupted, .cannotWrite, .sloFailed]) == .cannotWrite)
    }

    @Test func `a command that could not run and could not print ends with what it could not print`() {
        #expect(ExitCode.worst([.usage, .cannotWrite]) == .cannotWrite)
        #expect(ExitCode.worst([.invariantBroken, .cannotWrite]) == .invariantBroken)
    }

    @Test func `a run that was cut short is not compared`() {
        #expect(
            ExitCode.allCases.filter(\.isVerdict) == [.success, .invariantBroken, .untrusted, .sloFailed])
    }
}
