import Faults
import Plan
import SimBase

/// Reads `network`: a link preset by its name, a link by its numbers, or an itinerary of them.
struct NetworkReader {
    /// The name for being offline in an itinerary.
    static let tunnel = "none"
    /// A preset of other tools that is not a link.
    private static let blackHole = "loss-100"
    static let perfect = NamedLink(name: "perfect", profile: .perfect)
    private static let delayMax = Interval.hours(1)

    let findings: Findings

    func itinerary(_ node: Node?) -> Itinerary {
        guard let node else { return .always(Self.perfect) }
        if case .list(let nodes) = node.content {
            return self.itinerary(of: nodes, in: node) ?? .always(Self.perfect)
        }
        if case .scalar(Self.tunnel) = node.content {
            self.findings.add(
                node.location, "a phone that is always offline cannot finish its scans",
                help: "use `none` for a time in an itinerary: `{at: 12s, link: none, for: 4s}`")
            return .always(Self.perfect)
        }
        return .always((self.link(node, named: "network", words: []) ?? nil) ?? Self.perfect)
    }

    // MARK: Itineraries

    private func itinerary(of nodes: [Node], in list: Node) -> Itinerary? {
        guard !nodes.isEmpty, nodes.count <= Itinerary.stepsMax else {
            self.findings.add(
                list.location,
                nodes.isEmpty
                    ? "an itinerary needs at least one step" : "more than \(Itinerary.stepsMax) steps",
                help: nodes.isEmpty
                    ? "for example `[{at: 0s, link: lte}, {at: 12s, link: edge, for: 4s}]`" : nil)
            return nil
        }
        var steps: [Itinerary.Step] = []
        var isWhole = true
        for (index, node) in nodes.enumerated() {
            guard let step = self.step(node, isFirst: index == 0, after: steps.last) else {
                isWhole = false
                continue
            }
            steps.append(step)
        }
        return isWhole ? Itinerary(steps) : nil
    }

    private func step(_ node: Node, isFirst: Bool, after last: Itinerary.Step?) -> Itinerary.Step? {
        guard
            let map = MapReader(
                node, what: "a step of an itinerary", keys: ["at", "link", "for"], planned: [],
                findings: self.findings)
        else { return nil }
        let at = map.required("at", example: "12s") { text throws(ValueError) in
            let at = try Values.duration(text, max: ScenarioLimit.timeMax)
            if isFirst && at != .zero {
                throw ValueError("the first step of an itinerary must begin at 0s", help: "write `at: 0s`")
            }
            if let last, at <= last.at {
                throw ValueError("the steps of an itinerary must be in ascending order of `at`")
            }
            return at
        }
        let length: Interval? = map.value("for") { text throws(ValueError) in
            let length = try Values.duration(text, max: ScenarioLimit.timeMax)
            guard length > .zero else { throw ValueError("the duration of a step must be above zero") }
            return length
        }
        if isFirst, let entry = map.entry("for") {
            self.findings.add(
                entry.keyLocation, "the first step cannot have `for`: there is no earlier link to return to",
                help: "leave out `for`: a step lasts until the next one")
            return nil
        }
        guard let entry = map.entry("link") else {
            self.findings.add(
                map.location, "a step of an itinerary needs `link`",
                help: "for example `link: edge`, or `link: none` in a tunnel")
            return nil
        }
        guard let link = self.link(entry.value, named: "link", words: [Self.tunnel]), let at else {
            return nil
        }
        return Itinerary.Step(at: at, link: link, length: length)
    }

    // MARK: Links

    /// Nil when it is wrong, which is reported; within that, nil for none. `words`: what it may be other than
    /// a preset.
    private func link(_ node: Node, named key: String, words: [String]) -> NamedLink?? {
        if case .map = node.content {
            return self.customLink(node).map { NamedLink(name: NamedLink.custom, profile: $0) }
        }
        return self.findings.value(of: node, named: key) { text throws(ValueError) -> NamedLink? in
            if text == Self.tunnel { return nil }
            guard let preset = LinkPreset.named(text) else {
                if text == Self.blackHole { throw Self.losesEverything }
                throw ValueError(
                    "unknown link \(Findings.quoted(text))",
                    help: Self.help(text, LinkPreset.all.map(\.name) + words))
            }
            return NamedLink(preset)
        }
    }

    /// What was meant, and all that there are: the nearest word can be the farthest link.
    private static func help(_ text: String, _ known: [String]) -> String {
        guard let link = LinkAlias.link(for: text), known.contains(link) else {
            return Values.choices(text, known)
        }
        return "did you mean `\(link)`? use \(Values.list(known))"
    }

    private static var losesEverything: ValueError {
        ValueError(
            "a link cannot lose every packet",
            help: "use a `silence` fault, or `link: none` in an itinerary")
    }

    private func customLink(_ node: Node) -> LinkProfile? {
        guard let map = Self.link.map(node, self.findings) else { return nil }
        var link = LinkProfile.perfect
        Self.link.read(map, into: &link)
        return link
    }

    static let link = ScenarioKeys<LinkProfile>(
        what: "a link",
        rows: [
            .init("up", \.up, Self.direction, "from the phone"),
            .init("down", \.down, Self.direction, "to the phone"),
            .init(
                "dns-delay", \.nameLookup,
                ValueForm(
                    .duration,
                    read: { _, text throws(ValueError) in try Values.duration(text, max: Self.delayMax) },
                    write: { $0 > .zero ? Units.text($0) : nil }),
                "time of a name lookup"),
        ])

    private static let direction = ScenarioKeys<LinkDirection>(
        what: "a direction of a link", planned: ["jitter"],
        rows: [
            .init("delay", \.delay, .duration(max: Self.delayMax), "delay in this direction"),
            .init("rate", \.bitsPerSecond, .bitRateOrOff, "bits per second; off: unlimited"),
            .init(
                "loss", \.loss, ValueForm.share.checked(Self.losesEverything) { $0 < .always },
                "segments that are lost once"),
        ])
}

extension NamedLink {
    /// The name of a link that the scenario defines by its values.
    static let custom = "custom"
}
