package import SimBase

/// A message of a Locust master to a worker, as Locust 2.47 sends it (`locust/runners.py`), or of the plugin in
/// `Distributed/locustfile.py`, whose types begin with `swiftwing.`.
package enum MasterMessage: Hashable, Sendable {
    /// Answers `client_ready`.
    case acknowledged
    case spawn(SpawnOrder)
    case stop
    case quit
    /// The master could not read a message of this worker.
    case reconnect
    case heartbeat
    case scenario(ScenarioOffer)
    /// The master rejects this worker.
    case refused(reason: String)
    case begin(TestOrder)
    case leased(test: String, [LeasedPhone])
    case finish(test: String)
    /// A type that this worker does not use.
    case other(String)
}

/// The users that a worker runs from now on. The users of a class are the phones of the group of the same name.
package struct SpawnOrder: Hashable, Sendable {
    package struct Count: Hashable, Sendable {
        package var group: String
        package var phones: Int

        package init(group: String, phones: Int) {
            self.group = group
            self.phones = phones
        }
    }

    /// Nanoseconds since 1970. A message with an earlier timestamp than the last one is late.
    package var timestamp: Int64
    package var counts: [Count]
    /// The address of the backend to load; nil for the worker's own backend.
    package var host: String?

    package init(timestamp: Int64, counts: [Count], host: String?) {
        self.timestamp = timestamp
        self.counts = counts
        self.host = host
    }
}

/// The scenario of all tests of a master.
package struct ScenarioOffer: Hashable, Sendable {
    package var name: String
    /// The resolved scenario, as YAML in UTF-8.
    package var text: [UInt8]
    /// The name and version of the program that merges the results of the workers; nil if the master omits it.
    package var tool: String?

    package init(name: String, text: [UInt8], tool: String?) {
        self.name = name
        self.text = text
        self.tool = tool
    }
}

/// One test, from start to stop.
package struct TestOrder: Hashable, Sendable {
    package var test: String
    /// The start of the schedule of all workers, in milliseconds since 1970.
    package var started: Int64
    /// The salt of the device ids of all workers, for a test with a target.
    package var deviceSalt: DeviceSalt
    /// Whether the master drew the salt for this test.
    package var hasNewDevices: Bool
    /// The number of phones of each group of the scenario in the whole fleet.
    package var groups: [SpawnOrder.Count]
    /// The arguments of the command that repeats the test; empty if the master omits it.
    package var command: [String]

    package init(
        test: String, started: Int64, deviceSalt: DeviceSalt, hasNewDevices: Bool,
        groups: [SpawnOrder.Count], command: [String]
    ) {
        self.test = test
        self.started = started
        self.deviceSalt = deviceSalt
        self.hasNewDevices = hasNewDevices
        self.groups = groups
        self.command = command
    }
}

/// A phone that this worker may run.
package struct LeasedPhone: Hashable, Sendable {
    package var group: String
    package var number: DeviceNumber
    /// The last scan that it made on another worker.
    package var lastScan: ScanNumber

    package init(group: String, number: DeviceNumber, lastScan: ScanNumber) {
        self.group = group
        self.number = number
        self.lastScan = lastScan
    }
}

/// A phone that has stopped.
package struct ClosedPhone: Hashable, Sendable {
    package var number: DeviceNumber
    package var lastScan: ScanNumber

    package init(number: DeviceNumber, lastScan: ScanNumber) {
        self.number = number
        self.lastScan = lastScan
    }
}

// MARK: Reading

extension MasterMessage {
    /// Is nil if the value is not a message or lacks a field that its type requires.
    package init?(_ value: MessageValue) {
        guard let parts = value.list, parts.count == 3, let type = parts[0].text else { return nil }
        let data = parts[1]
        switch type {
        case "ack": self = .acknowledged
        case "spawn":
            guard let order = SpawnOrder(data) else { return nil }
            self = .spawn(order)
        case "stop": self = .stop
        case "quit": self = .quit
        case "reconnect": self = .reconnect
        case "heartbeat": self = .heartbeat
        case "swiftwing.scenario":
            guard let name = data["name"]?.text, let text = data["text"]?.bytes else { return nil }
            self = .scenario(ScenarioOffer(name: name, text: text, tool: data["tool"]?.text))
        case "swiftwing.refused":
            guard let reason = data["reason"]?.text else { return nil }
            self = .refused(reason: reason)
        case "swiftwing.begin":
            guard let order = TestOrder(data) else { return nil }
            self = .begin(order)
        case "swiftwing.leased":
            guard let test = data["test"]?.text, let phones = LeasedPhone.list(data["phones"]) else {
                return nil
            }
            self = .leased(test: test, phones)
        case "swiftwing.finish":
            guard let test = data["test"]?.text else { return nil }
            self = .finish(test: test)
        default: self = .other(type)
        }
    }
}

extension SpawnOrder {
    fileprivate init?(_ data: MessageValue) {
        guard let timestamp = data["timestamp"]?.billionths,
            let counts = Count.list(data["user_classes_count"])
        else { return nil }
        let host = data["host"]?.text ?? ""
        self.init(timestamp: timestamp, counts: counts, host: host.isEmpty ? nil : host)
    }
}

extension SpawnOrder.Count {
    /// The limit of a count in a message. A worker has far fewer phones.
    private static let phonesMax: Int64 = 1_000_000

    fileprivate static func list(_ value: MessageValue?) -> [Self]? {
        guard let members = value?.members else { return nil }
        var counts: [Self] = []
        for member in members {
            guard let group = member.key.text, let phones = member.value.integer,
                (0...Self.phonesMax).contains(phones)
            else { return nil }
            counts.append(Self(group: group, phones: Int(phones)))
        }
        return counts
    }
}

extension TestOrder {
    /// April 2262: later times in nanoseconds since 1970 do not fit into 64 bits.
    private static let startedMax = Int64.max / 1_000_000

    /// The limit of the arguments of a command.
    private static let wordsMax = 1_000

    fileprivate init?(_ data: MessageValue) {
        guard let test = data["test"]?.text, Self.isName(test), let started = data["started_ms"]?.integer,
            (0...Self.startedMax).contains(started), let groups = SpawnOrder.Count.list(data["groups"]),
            let salt = data["device_salt"]?.text.flatMap({ DeviceSalt($0) })
        else { return nil }
        let command = (data["command"]?.list ?? []).prefix(Self.wordsMax).compactMap(\.text)
        self.init(
            test: test, started: started, deviceSalt: salt,
            hasNewDevices: data["new_devices"] == .flag(true), groups: groups, command: command)
    }

    /// Whether a test can be a part of the name of a folder.
    private static func isName(_ test: String) -> Bool {
        (1...64).contains(test.utf8.count)
            && test.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

extension LeasedPhone {
    /// The limit of the phones in one message. A worker requests more in several messages, and sends heartbeats between them.
    package static let countMax = 10_000

    /// Reads `{group: [[number, last scan], …]}`.
    fileprivate static func list(_ value: MessageValue?) -> [LeasedPhone]? {
        guard let members = value?.members else { return nil }
        var phones: [LeasedPhone] = []
        for member in members {
            guard let group = member.key.text, let pairs = member.value.list else { return nil }
            for pair in pairs {
                guard let numbers = pair.list, numbers.count == 2,
                    let number = numbers[0].integer.flatMap({ UInt32(exactly: $0) }),
                    let scan = numbers[1].integer.flatMap({ UInt32(exactly: $0) }),
                    scan <= ScanNumber.greatest.raw, phones.count < Self.countMax
                else { return nil }
                phones.append(
                    LeasedPhone(group: group, number: DeviceNumber(number), lastScan: ScanNumber(scan)))
            }
        }
        return phones
    }
}
