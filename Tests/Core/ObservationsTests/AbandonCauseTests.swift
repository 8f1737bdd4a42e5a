import Observations
import Testing

@Suite struct AbandonCauseTests {
    @Test func `a cause is read from its name`() {
        let causes =
            WaitingCause.allCases.map { AbandonCause.waiting($0) } + [
                .status(403), .status(100), .status(999), .jobIDReused, .scanRefused,
            ]
        for cause in causes { #expect(AbandonCause(name: cause.name) == cause) }
        #expect(Set(causes.map(\.name)).count == causes.count)
    }

    @Test(arguments: ["", "tired", "status-", "status-99", "status-1000", "status-4x3", "Offline"])
    func `another name is no cause`(name: String) {
        #expect(AbandonCause(name: name) == nil)
    }
}
