/// What must be equal in two scenarios for the scans of a group to be pairs: with the same seed, it decides which scans there are,
/// when they begin, what they upload and over which link. Read from `scenario.resolved`.
struct PairingConditions: Equatable {
    private static let keys: Set<String> = [
        "phones", "scans", "arrivals", "spacing", "think", "start", "duration", "photos", "photos-per-scan",
        "regions", "library", "batch-form", "repeats", "reader", "network", "journey",
    ]

    /// The lines of each condition, by group and key.
    private var groups: [String: [String: [String]]] = [:]
    private var duration: [String] = []

    init(scenarioText: String) {
        var (section, group, key) = ("", "", "")
        for line in scenarioText.split(separator: "\n") {
            let indent = line.prefix { $0 == " " }.count
            // Earlier versions wrote `devices`.
            let line =
                indent == 4 && line.hasPrefix("    devices:")
                ? "    phones" + line.dropFirst(11) : String(line)
            let name = String(line.dropFirst(indent).prefix { $0 != ":" })
            switch indent {
            case 0: (section, group, key) = (name, "", "")
            case 2: (group, key) = (name, "")
            case 4: key = name
            default: break
            }
            if section == "duration" { self.duration.append(line) }
            guard section == "fleet", !group.isEmpty, Self.keys.contains(key) else { continue }
            self.groups[group, default: [:]][key, default: []].append(line)
        }
    }

    /// The keys in which a group differs; nil if one of the scenarios has no such group.
    func differences(from other: PairingConditions, group: String) -> [String]? {
        guard let mine = self.groups[group], let theirs = other.groups[group] else { return nil }
        return Self.keys.sorted().filter {
            mine[$0] != theirs[$0] || $0 == "duration" && self.duration != other.duration
        }
    }
}
