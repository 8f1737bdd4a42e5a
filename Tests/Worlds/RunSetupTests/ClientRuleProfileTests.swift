import ClientTrial
import Phone
import Plan
import RunSetup
import Testing

/// Which profile is known to break which rule of a trial of clients.
@Suite struct ClientRuleProfileTests {
    private static func known(_ name: String) throws -> [ClientRule] {
        let profile = try #require(ProfileTable.named(name)).profile()
        return ClientRule.allCases.filter { $0.isKnown(of: profile) }
    }

    @Test func `the client of the contract is known to break nothing`() throws {
        #expect(try Self.known("contract") == [])
    }

    @Test(
        arguments: [
            (
                "swiftwing-legacy",
                [.deviceID, .deviceKept, .lastEventID, .resultsNeeded, .resultsLean, .jobDeleted]
            ),
            (
                "swiftwing-head",
                [.deviceKept, .lastEventID, .retryOnce, .jobNotDeletedEarly, .deleteRepeated]
            ),
            ("swiftwing-polling", [.jobDeleted]), ("wingtip", [.deviceID, .uploadForm, .lastEventID]),
            ("books-v3", [.lastEventID, .backoff, .streamClosed]), ("books-v3-old", [.streamResumed]),
            ("books-v3-handler", [.streamResumed]),
        ] as [(String, [ClientRule])])
    func `a shipping client is known for what its values say`(name: String, rules: [ClientRule]) throws {
        let known = try Self.known(name)
        #expect(rules.filter { !known.contains($0) } == [])
        #expect(!known.contains(.tokenURL) && !known.contains(.uploadSize))
    }

    @Test func `what a profile is known for is expected, and need not happen`() throws {
        var expectations = ClientExpectations()
        expectations.add(try #require(ProfileTable.named("swiftwing-polling")).profile())
        #expect(expectations.covers(.jobDeleted) && !expectations.covers(.lastEventID))
        #expect(expectations.breaks == [])
    }
}
