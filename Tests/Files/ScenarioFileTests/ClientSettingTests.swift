import Plan
import Testing

@testable import ScenarioFile

/// The values of a client that a scenario sets by keys of their own: the table of keys has them as well.
@Suite struct ClientSettingTests {
    @Test func `every setting is a key of a group`() {
        // What `request-timeout` sets beside its own value.
        let keys = ClientSetting.all.map(\.key).filter { $0 != "timeouts" }
        #expect(keys.filter { !FleetReader.valueKeys.names.contains($0) } == [])
    }

    @Test(arguments: [
        ("resume", "off"), ("cleanup", "off"), ("inline-books", "off"), ("streams-max", "3"),
        ("status-polling", "always"), ("result-events", "collected"), ("status-requests-max", "7"),
    ])
    func `what a key sets is a deviation of its name`(key: String, value: String) throws {
        let scenario = try load(minimal, set: ["fleet.phones.\(key)=\(value)", "fleet.phones.gap-8=on"])
        #expect(scenario.groups[0].deviations == ["gap-8: on", "\(key): \(value)"])
    }

    @Test func `a group as the contract has it deviates in nothing`() throws {
        #expect(try load(minimal).groups[0].deviations == [])
        let head = try load(minimal, set: ["fleet.phones.profile=swiftwing-head"])
        #expect(head.groups[0].deviations == ["profile: swiftwing-head"])
    }
}
