import Faults
import Plan
import SimBase
import Talaria

/// Reads `faults` by the table of kinds.
struct FaultReader {
    let findings: Findings
    /// The names that `scope` may use.
    let groups: [String]
    /// The number of phones.
    let devices: Int

    func faults(_ node: Node?) -> [FaultSpec] {
        guard let node else { return [] }
        switch node.content {
        case .list(let nodes):
            guard nodes.count <= ScenarioLimit.faultsMax else {
                self.findings.add(node.location, "more than \(ScenarioLimit.faultsMax) faults")
                return []
            }
            self.rejectRepeatedIDs(nodes)
            var sameContent: [String: Int] = [:]
            return zip(nodes, FaultIDs.of(nodes)).compactMap { node, id in
                guard var fault = self.fault(node, id: id ?? "") else { return nil }
                if node["id"] == nil, node["key"] == nil {
                    // The text of a scope as earlier versions wrote it, so that their draws stay.
                    let content = ScenarioWriter.content(fault).replacing("% of phones", with: "% of devices")
                    fault.key = FaultSpec.key(content: content, ordinal: sameContent[content, default: 0])
                    sameContent[content, default: 0] += 1
                }
                return fault
            }
        case .scalar(""), .reported:
            return []
        case .scalar, .map:
            self.findings.add(
                node.location, "`faults` must be a list, not \(node.text)",
                help: "begin each fault with a dash: `- {do: reset, on: stream}`")
            return []
        }
    }

    private func rejectRepeatedIDs(_ nodes: [Node]) {
        var seen: Set<String> = []
        for (node, id) in zip(nodes, FaultIDs.of(nodes)) {
            guard let id, !seen.insert(id).inserted else { continue }
            self.findings.add(
                node["id"]?.location ?? node.location, "two faults have the id \(Findings.quoted(id))",
                help: "change one `id`")
        }
    }

    private func fault(_ node: Node, id: String) -> FaultSpec? {
        guard let anyMap = MapReader(node, what: "a fault", findings: self.findings),
            let entry = anyMap.required("do", example: "reset", self.kindEntry),
            let map = MapReader(
                node, what: Self.article(entry.name), keys: entry.keys, planned: ["when", "every"],
                findings: self.findings)
        else { return nil }
        _ = map.value("id") { text throws(ValueError) in try Values.name(text, what: "an id") }
        let key = self.key(map)
        // Where the kind takes no `after`, the key was reported as unknown.
        let trigger: FaultTrigger =
            entry.triggers.isEmpty
            ? .atOnce
            : map.value("after", default: .atOnce) { text throws(ValueError) in
                try Values.trigger(text, forms: entry.triggers)
            }
        let target = self.target(map, entry)
        let at = self.start(map, entry)
        let window = FaultWindow(
            at: at.lowerBound,
            length: map.value("for") { text throws(ValueError) in
                let length = try Values.duration(text, max: ScenarioLimit.timeMax)
                guard length > .zero else { throw ValueError("the duration of a fault must be above zero") }
                return length
            } ?? entry.defaultLength)
        let chance = map.value("chance", default: .always) { text throws(ValueError) in try Values.share(text)
        }
        let count = map.value("count", default: entry.defaultCount ?? .oncePerScan) {
            text throws(ValueError) in
            try Values.count(text)
        }
        let scope = map.value("scope", default: .everyone) { text throws(ValueError) in
            try Values.scope(text, groups: self.groups, devices: self.devices)
        }
        let (scan, attempt) = (self.number("scan", map), self.number("attempt", map))
        guard let kind = self.kind(map, entry, trigger), let target else { return nil }
        var fault = FaultSpec(
            id: id, key: key, kind: kind, target: target, chance: chance, window: window,
            spread: at.upperBound - at.lowerBound, trigger: trigger, count: count, scope: scope)
        (fault.scan, fault.attempt) = (scan, attempt)
        fault.transport = self.transport(map, target)
        return fault
    }

    private func key(_ map: MapReader) -> UInt64? {
        map.value("key") { text throws(ValueError) in
            guard text.utf8.count == 16, text.allSatisfy(\.isHexDigit), let key = UInt64(text, radix: 16)
            else {
                throw ValueError("a key must have 16 hexadecimal digits", help: "leave it out, or use `id`")
            }
            return key
        }
    }

    /// The times at which it may begin.
    private func start(_ map: MapReader, _ entry: FaultKindEntry) -> ClosedRange<Interval> {
        map.value("at", default: Interval.zero...Interval.zero) { text throws(ValueError) in
            let times = try Values.durations(text, max: ScenarioLimit.timeMax)
            guard entry.hasSpread || times.lowerBound == times.upperBound else {
                throw ValueError(
                    "`at` must be a single time here", help: "only faults of the phone accept a range")
            }
            return times
        }
    }

    /// The one scan or attempt that a fault may affect; nil for all.
    private func number(_ key: String, _ map: MapReader) -> UInt32? {
        map.value(key) { text throws(ValueError) in
            UInt32(try Values.integer(text, 1...ScenarioLimit.scansPerDeviceMax, what: "`\(key)`"))
        }
    }

    /// The transport of the streams that a fault may affect; nil for both.
    private func transport(_ map: MapReader, _ target: FaultTarget) -> StreamTransport? {
        let words = StreamTransport.allCases.map(\.rawValue)
        return map.value("transport") { text throws(ValueError) -> StreamTransport? in
            guard target == .stream else {
                throw ValueError(
                    "only a stream has a transport", help: "leave `transport` out, or write `on: stream`")
            }
            return StreamTransport(rawValue: try Values.choice(text, of: words, what: "`transport`"))
        } ?? nil
    }

    private static func article(_ kind: String) -> String {
        let isVowel = kind.first.map { "aeiou".contains($0) } ?? false
        return "\(isVowel ? "an" : "a") \(kind) fault"
    }

    /// What people and other tools call them (Toxiproxy 2.9: latency, slicer, timeout, reset_peer, slow_close, limit_data).
    private static let foreignNames = [
        "tunnel": "`offline`, or a link with a time of `none` in `network`", "drop": "`offline` or `loss`",
        "latency": "`delay`", "jitter": "`delay`", "slicer": "`slice`", "timeout": "`silence`",
        "reset_peer": "`reset`", "slow_close": "`end-cleanly`", "limit_data": "`close` with `after`",
        "throttle": "`bandwidth`", "packet-loss": "`loss`", "error": "`http-error`", "crash": "`kill`",
    ]

    private func kindEntry(_ text: String) throws(ValueError) -> FaultKindEntry {
        guard let entry = FaultTable.entry(text) else {
            throw ValueError(
                "unknown fault \(Findings.quoted(text))",
                help: Self.foreignNames[text].map { "did you mean \($0)?" }
                    ?? Values.didYouMean(text, FaultTable.all.map(\.name))
                    ?? "use \(Values.list(FaultTable.all.map(\.name)))")
        }
        return entry
    }

    private func target(_ map: MapReader, _ entry: FaultKindEntry) -> FaultTarget? {
        let targets = entry.targets
        if map.entry("on") == nil, let target = entry.defaultTarget { return target }
        return map.required("on", example: targets.first?.rawValue ?? "stream") { text throws(ValueError) in
            guard let target = FaultTarget(rawValue: text) else {
                throw ValueError(
                    "\(Self.article(entry.name)) acts on \(Values.list(targets.map(\.rawValue))), not on \(Findings.quoted(text))",
                    help: Values.didYouMean(text, targets.map(\.rawValue)))
            }
            guard targets.contains(target) else {
                throw ValueError(
                    "\(Self.article(entry.name)) acts on \(Values.list(targets.map(\.rawValue))), not on `\(text)`"
                )
            }
            return target
        }
    }

    /// The kind with its own keys; nil when one that it needs is missing or wrong.
    private func kind(_ map: MapReader, _ entry: FaultKindEntry, _ trigger: FaultTrigger) -> FaultKind? {
        var values = FaultValues()
        for field in entry.fields {
            if let value = self.value(map, field, trigger) { values[field.name] = value }
        }
        return FaultKind(entry.id, values)
    }

    private func value(_ map: MapReader, _ field: FaultField, _ trigger: FaultTrigger) -> FaultValue? {
        guard let node = map.entry(field.name)?.value else {
            if field.type == .cut, case .afterBytes = trigger { return .cut(.afterBytes(0)) }
            if let text = field.defaultText { return try? Values.fault(text, field) }
            if !field.isOptional {
                // Reports that it is missing.
                _ = map.required(field.name, example: field.example) { text throws(ValueError) in text }
            }
            return nil
        }
        if field.type == .cut, case .map = node.content { return self.cut(node) }
        return map.value(field.name) { text throws(ValueError) in try Values.fault(text, field) }
    }

    private func cut(_ node: Node) -> FaultValue? {
        MapReader(node, what: "a cut", keys: ["after-bytes"], planned: [], findings: self.findings)?
            .required("after-bytes", example: "120") { text throws(ValueError) in
                try Values.integer(text, 0...Int(Int32.max), what: "`after-bytes`")
            }
            .map { .cut(.afterBytes($0)) }
    }
}
