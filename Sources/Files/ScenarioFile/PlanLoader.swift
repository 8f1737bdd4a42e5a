import Phone
import Plan
import SimBase

/// The loader of plans: it returns typed values, or all errors. JSON is read by the reader of scenarios, so
/// that an edited plan gets the same error messages.
package enum PlanLoader {
    private static let keys = [
        "plan", "tool", "note", "scenario", "photos", "captures", "settle", "wall-clock", "splits",
        "heap-max",
        "instant-max", "stays-broken", "ties", "digest", "events", "live",
    ]

    package static func load(path: String, bytes: [UInt8]) throws(ScenarioErrors) -> SavedPlan {
        let findings = Findings()
        let plan = ScenarioLoader.tree(
            path, bytes, bytesMax: PlanLimit.bytesMax, what: "plan", findings
        ).flatMap { self.plan($0, findings) }
        if let errors = findings.errors { throw errors }
        guard let plan else { preconditionFailure("a plan that cannot be read has its reasons") }
        return plan
    }

    private static func plan(_ root: Node, _ findings: Findings) -> SavedPlan? {
        // Before anything else: what another format means nobody here knows.
        guard self.hasFormat(root, findings) else { return nil }
        guard
            let map = MapReader(root, what: "a plan", keys: self.keys, planned: [], findings: findings)
        else { return nil }
        _ = map.required("plan", example: SavedPlan.format) { _ throws(ValueError) in }
        guard let tree = map.entry("scenario")?.value else {
            findings.add(map.location, "a plan needs `scenario`")
            return nil
        }
        guard let scenario = ScenarioLoader.read(embedded: tree, findings) else { return nil }
        let photos = self.photos(map, scenario, findings)
        guard findings.isEmpty else { return nil }
        let outcome = self.outcome(map)
        var plan = SavedPlan(
            tool: map.value("tool", default: "") { text throws(ValueError) in try self.words(text) },
            note: self.isEmpty(map, "note")
                ? "" : map.value("note", default: "") { text throws(ValueError) in try self.words(text) },
            scenario: scenario, photos: photos,
            captures: self.captures(map, scenario, photos, findings),
            settle: map.value("settle", default: nil) { text throws(ValueError) in
                text == "off" ? nil : try Values.duration(text, max: ScenarioLimit.timeMax)
            },
            wallClockAtZero: Int64(
                map.required("wall-clock", example: "1769947200000") { text throws(ValueError) in
                    try Values.integer(text, 0...PlanLimit.wallClockMax, what: "milliseconds since 1970")
                } ?? 0),
            splits: map.value("splits", default: true) { text throws(ValueError) in try Values.boolean(text)
            },
            heapMax: self.eventsMax(map, "heap-max"),
            eventsPerInstantMax: self.eventsMax(map, "instant-max"), outcome: outcome)
        plan.staysOffline = map.value("stays-broken", default: .never) { text throws(ValueError) in
            try Values.share(text)
        }
        plan.shufflesTies = map.value("ties", default: false) { text throws(ValueError) in
            try self.ties(text)
        }
        plan.live = map.entry("live").flatMap { self.live($0.value, findings) }
        return plan
    }

    /// Whether this program reads the plan's format. Another one is reported.
    private static func hasFormat(_ root: Node, _ findings: Findings) -> Bool {
        guard let version = root["plan"], case .scalar(let text) = version.content, text != SavedPlan.format
        else { return true }
        findings.add(
            version.location,
            "the plan has format \(Findings.quoted(text)); this program reads format \(SavedPlan.format)",
            help: "replay it with the build that wrote it, or save it again with `simulate --save-plan`")
        return false
    }

    private static func outcome(_ map: MapReader) -> SavedPlan.Outcome? {
        map.value("digest", self.digest).map {
            SavedPlan.Outcome(
                digest: $0,
                events: map.value("events", default: 0) { text throws(ValueError) in
                    try Values.integer(text, 0...Int.max, what: "a number of events")
                })
        }
    }

    private static func eventsMax(_ map: MapReader, _ key: String) -> Int {
        map.value(key, default: PlanLimit.eventsMax) { text throws(ValueError) in
            try Values.integer(text, 1...PlanLimit.eventsMax, what: "a number of events")
        }
    }

    private static func isEmpty(_ map: MapReader, _ key: String) -> Bool {
        guard case .scalar("")? = map.entry(key)?.value.content else { return false }
        return true
    }

    static func words(_ text: String) throws(ValueError) -> String {
        guard text.utf8.count <= PlanLimit.noteBytesMax else {
            throw ValueError("the maximum is \(PlanLimit.noteBytesMax) bytes")
        }
        return text
    }

    static func ties(_ text: String) throws(ValueError) -> Bool {
        switch text {
        case "fixed": false
        case "shuffled": true
        default: throw ValueError("ties must be fixed or shuffled, not \(Findings.quoted(text))")
        }
    }

    private static func digest(_ text: String) throws(ValueError) -> String {
        let isHexadecimal = text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        guard text.utf8.count == 16, isHexadecimal else {
            throw ValueError("a digest must have 16 hexadecimal digits, not \(Findings.quoted(text))")
        }
        return text
    }

    // MARK: Photos

    private static func photos(_ map: MapReader, _ scenario: Scenario, _ findings: Findings) -> [[Int]] {
        guard let node = map.entry("photos")?.value else {
            findings.add(
                map.location, "a plan needs `photos`", help: "list the sizes in bytes for each group")
            return []
        }
        guard case .list(let groups) = node.content, groups.count == scenario.groups.count else {
            findings.add(
                node.location,
                "`photos` must have a list of sizes for each of the \(scenario.groups.count) groups")
            return []
        }
        return groups.map { group in
            guard case .list(let sizes) = group.content, (1...PlanLimit.photosMax).contains(sizes.count)
            else {
                findings.add(
                    group.location, "a group must have the sizes of 1 to \(PlanLimit.photosMax) photos")
                return []
            }
            return sizes.compactMap {
                findings.value(of: $0, named: "photos") { text throws(ValueError) in
                    try Values.integer(text, 1...PlanLimit.photoBytesMax, what: "a size in bytes")
                }
            }
        }
    }

    // MARK: Captures

    private static func captures(
        _ map: MapReader, _ scenario: Scenario, _ photos: [[Int]], _ findings: Findings
    ) -> [Arrival]? {
        guard let node = map.entry("captures")?.value else { return nil }
        if case .scalar("scheduled") = node.content { return nil }
        guard case .list(let nodes) = node.content, nodes.count <= PlanLimit.capturesMax else {
            findings.add(node.location, "`captures` must be `scheduled` or a list of captures")
            return nil
        }
        let run = RunPlan(scenario, target: .embedded)
        var ordinals = [Int](repeating: 0, count: run.devices)
        var last = Interval.zero
        return nodes.compactMap { node in
            guard
                let map = MapReader(
                    node, what: "a capture", keys: ["at", "device", "photo"], planned: [], findings: findings),
                let at = map.required(
                    "at", example: "1s",
                    { text throws(ValueError) in try Values.duration(text, max: ScenarioLimit.timeMax) }),
                let device = map.required(
                    "device", example: "0",
                    { text throws(ValueError) in
                        try Values.integer(text, 0...(run.devices - 1), what: "a phone")
                    })
            else { return nil }
            guard at >= last else {
                findings.add(map.location(of: "at"), "captures must be in ascending order of `at`")
                return nil
            }
            last = at
            let group = run.groups.firstIndex { $0.devices.contains(UInt32(device)) } ?? 0
            let count = photos[group].count
            let photo = map.value("photo", default: 0) { text throws(ValueError) in
                try Values.integer(text, 0...(count - 1), what: "a photo of the group")
            }
            ordinals[device] += 1
            return Arrival(
                scheduled: .zero + at, device: DeviceNumber(UInt32(device)), ordinal: ordinals[device],
                photo: photo, of: count)
        }
    }
}
