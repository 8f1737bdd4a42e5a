import LocustWorker
import SimBase
import Testing

/// Messages of the master, as they are read.
@Suite struct MasterMessageTests {
    private static func message(_ type: String, _ data: MessageValue) -> MessageValue {
        .list([.text(type), data, .text("host_1")])
    }

    private static func map(_ members: (String, MessageValue)...) -> MessageValue {
        .map(members.map { .init(.text($0.0), $0.1) })
    }

    @Test func `an order to spawn has counts and a host`() {
        let counts = Self.map(("a", .integer(2)), ("b", .integer(0)))
        let data = Self.map(
            ("timestamp", .decimal(billionths: 1_500_000_000)), ("user_classes_count", counts),
            ("host", .text("http://127.0.0.1:80")), ("stop_timeout", .decimal(billionths: 0)))
        #expect(
            MasterMessage(Self.message("spawn", data))
                == .spawn(
                    SpawnOrder(
                        timestamp: 1_500_000_000,
                        counts: [.init(group: "a", phones: 2), .init(group: "b", phones: 0)],
                        host: "http://127.0.0.1:80")))
        let plain = Self.map(
            ("timestamp", .integer(3)), ("user_classes_count", counts), ("host", .null))
        guard case .spawn(let order) = MasterMessage(Self.message("spawn", plain)) else {
            Issue.record("not read")
            return
        }
        #expect(order.host == nil)
        #expect(order.timestamp == 3_000_000_000)
    }

    @Test func `phones come with their last scans`() {
        let phones = Self.map(("a", .list([.list([.integer(4), .integer(7)])])))
        #expect(
            MasterMessage(
                Self.message("swiftwing.leased", Self.map(("test", .text("t")), ("phones", phones))))
                == .leased(
                    test: "t",
                    [LeasedPhone(group: "a", number: DeviceNumber(4), lastScan: ScanNumber(7))]))
    }

    private static func leased(_ phones: [MessageValue]) -> MessageValue {
        Self.message(
            "swiftwing.leased", Self.map(("test", .text("t")), ("phones", Self.map(("a", .list(phones))))))
    }

    private static func phone(_ number: Int64, scan: Int64) -> MessageValue {
        .list([.integer(number), .integer(scan)])
    }

    /// What follows a number is one more than it.
    @Test func `numbers of a master are in range`() {
        let most = Int64(ScanNumber.greatest.raw)
        #expect(MasterMessage(Self.leased([Self.phone(0, scan: most)])) != nil)
        #expect(MasterMessage(Self.leased([Self.phone(0, scan: most + 1)])) == nil)
        let phones = (0..<Int64(LeasedPhone.countMax)).map { Self.phone($0, scan: 0) }
        #expect(MasterMessage(Self.leased(phones)) != nil)
        #expect(MasterMessage(Self.leased(phones + [Self.phone(0, scan: 0)])) == nil)
        func begin(_ started: Int64) -> MasterMessage? {
            MasterMessage(
                Self.message(
                    "swiftwing.begin",
                    Self.map(
                        ("test", .text("t")), ("started_ms", .integer(started)), ("groups", Self.map()),
                        ("device_salt", .text("7")))))
        }
        // In April 2262: later times are not a number of nanoseconds.
        #expect(begin(9_223_372_036_854) != nil && begin(9_223_372_036_855) == nil)
        #expect(begin(10_413_792_000_000) == nil && begin(-1) == nil)
    }

    @Test func `the scenario has the version that merges, and a refusal has its reason`() {
        let offer = Self.map(("name", .text("n")), ("text", .text("s")), ("tool", .text("x")))
        #expect(
            MasterMessage(Self.message("swiftwing.scenario", offer))
                == .scenario(ScenarioOffer(name: "n", text: Array("s".utf8), tool: "x")))
        #expect(
            MasterMessage(Self.message("swiftwing.refused", Self.map(("reason", .text("old")))))
                == .refused(reason: "old"))
        #expect(MasterMessage(Self.message("swiftwing.refused", .null)) == nil)
    }

    @Test func `a test has the salt of the device ids of all its workers`() {
        func order(_ more: (String, MessageValue)...) -> MasterMessage? {
            let members: [(String, MessageValue)] = [
                ("test", .text("t")), ("started_ms", .integer(5)),
                ("groups", Self.map(("a", .integer(3)))),
            ]
            let all = (members + more).map { MessageValue.Member(.text($0.0), $0.1) }
            return MasterMessage(Self.message("swiftwing.begin", .map(all)))
        }
        func expected(isNew: Bool) -> MasterMessage {
            .begin(
                TestOrder(
                    test: "t", started: 5, deviceSalt: DeviceSalt(bits: 0xAB), hasNewDevices: isNew,
                    groups: [.init(group: "a", phones: 3)], command: []))
        }
        let salt = ("device_salt", MessageValue.text("00000000000000ab"))
        #expect(order(salt, ("new_devices", .flag(true))) == expected(isNew: true))
        #expect(order(salt) == expected(isNew: false))
        #expect(order() == nil)
        #expect(order(("device_salt", .text("pear"))) == nil)
    }

    @Test(
        arguments: [
            .null, .list([]), .list([.text("stop"), .null]), Self.message("spawn", .null),
            Self.message("spawn", Self.map(("timestamp", .integer(1)))),
            Self.message(
                "spawn",
                Self.map(
                    ("timestamp", .integer(1)), ("user_classes_count", Self.map(("a", .integer(-1)))))),
            Self.message(
                "swiftwing.begin",
                Self.map(
                    ("test", .text("../x")), ("started_ms", .integer(1)), ("groups", Self.map()))),
            Self.message(
                "swiftwing.leased",
                Self.map(
                    ("test", .text("t")),
                    ("phones", Self.map(("a", .list([.list([.integer(1 << 40), .integer(0)])])))))),
        ] as [MessageValue]) func `what is damaged is no message`(value: MessageValue)
    {
        #expect(MasterMessage(value) == nil)
    }

    @Test func `a type that is not known is kept by its name`() {
        #expect(MasterMessage(Self.message("locustfile", .null)) == .other("locustfile"))
        #expect(MasterMessage(Self.message("heartbeat", .null)) == .heartbeat)
    }
}
