import JSON
import Phone
import Plan
import RunJudge
import SimBase

/// Writes a plan as JSON with one value, one fault and one capture on a line, so that two plans can be compared by eye.
package enum PlanWriter {
    package static func text(_ plan: SavedPlan) -> String {
        var members: [(key: String, value: String)] = [
            ("plan", SavedPlan.format),
            ("tool", self.quoted(plan.tool)),
            ("note", self.quoted(plan.note)),
            ("scenario", self.text(self.tree(of: plan.scenario), depth: 1)),
            ("photos", self.list(plan.photos.map { "[\($0.map(String.init).joined(separator: ", "))]" })),
            ("captures", plan.captures.map { self.list(self.lines($0, plan)) } ?? self.quoted("scheduled")),
            ("settle", self.quoted(plan.settle.map(Units.text) ?? "off")),
            ("wall-clock", String(plan.wallClockAtZero)),
            ("splits", self.quoted(plan.splits ? "on" : "off")),
            ("heap-max", String(plan.heapMax)),
            ("instant-max", String(plan.eventsPerInstantMax)),
        ]
        if plan.staysOffline > .never {
            members.append(("stays-broken", self.quoted(Units.percent(Int64(plan.staysOffline.perMillion)))))
        }
        if plan.shufflesTies { members.append(("ties", self.quoted("shuffled"))) }
        if let outcome = plan.outcome {
            members.append(("digest", self.quoted(outcome.digest)))
            members.append(("events", String(outcome.events)))
        }
        if let live = plan.live { members.append(("live", self.text(live))) }
        let lines = members.map { "  \(self.quoted($0.key)): \($0.value)" }
        return "{\n" + lines.joined(separator: ",\n") + "\n}\n"
    }

    private static func lines(_ captures: [Arrival], _ plan: SavedPlan) -> [String] {
        let groups = RunPlan(plan.scenario, target: .embedded).groups
        var group = 0
        return captures.map { capture in
            // Mostly the same group again.
            if !groups[group].devices.contains(capture.device.raw) {
                group = groups.firstIndex { $0.devices.contains(capture.device.raw) } ?? 0
            }
            let photo = capture.photo(of: plan.photos[group].count)
            let at = Units.text(capture.scheduled - .zero)
            return "{\"at\": \(self.quoted(at)), \"device\": \(capture.device.raw), \"photo\": \(photo)}"
        }
    }

    // MARK: The live run

    private static func text(_ live: LiveRecord) -> String {
        let failures = live.failures.map { failure in
            let about =
                (failure.device.map { ", \"device\": \($0.raw)" } ?? "")
                + (failure.scan == .none ? "" : ", \"scan\": \(failure.scan.raw)")
            let at = Units.text(failure.at - .zero)
            return "      {\"what\": \(self.quoted(failure.name))\(about), \"at\": \(self.quoted(at)), "
                + "\"text\": \(self.quoted(failure.text))}"
        }
        let list = failures.isEmpty ? "[]" : "[\n\(failures.joined(separator: ",\n"))\n    ]"
        return """
            {
                "command": \(self.quoted(live.command)),
                "phones-left-out": \(live.phonesLeftOut),
                "faults-left-out": \(live.faultsLeftOut),
                "failures": \(list)
              }
            """
    }

    private static func list(_ elements: [String]) -> String {
        guard !elements.isEmpty else { return "[]" }
        return "[\n" + elements.map { "    \($0)" }.joined(separator: ",\n") + "\n  ]"
    }

    // MARK: The scenario

    /// Returns the tree of the resolved file, in JSON's syntax.
    private static func tree(of scenario: Scenario) -> Node {
        let findings = Findings()
        let text = ScenarioWriter.resolved(scenario)
        let source = findings.add(SourceText(name: "plan", isOption: false, text: text))
        let reader = YAMLReader(Array(text.utf8), source: source, columnShift: 0, findings: findings)
        guard let root = reader.document() else {
            preconditionFailure(
                "a resolved scenario that cannot be read: \(String(describing: findings.errors))")
        }
        return root
    }

    /// Maps a value on a line, lists of maps a map on a line, everything else on one.
    private static func text(_ node: Node, depth: Int) -> String {
        let indent = String(repeating: "  ", count: depth + 1)
        let end = String(repeating: "  ", count: depth)
        switch node.content {
        case .map(let entries) where !entries.isEmpty:
            let lines = entries.map {
                "\(indent)\(self.quoted($0.key)): \(self.text($0.value, depth: depth + 1))"
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(end)}"
        case .list(let nodes)
        where nodes.contains(where: { if case .map = $0.content { true } else { false } }):
            return "[\n" + nodes.map { indent + self.line($0) }.joined(separator: ",\n") + "\n\(end)]"
        case .map, .list, .scalar, .reported:
            return self.line(node)
        }
    }

    private static func line(_ node: Node) -> String {
        switch node.content {
        case .scalar(let text): self.isNumber(text) ? text : self.quoted(text)
        case .list(let nodes): "[\(nodes.map(self.line).joined(separator: ", "))]"
        case .map(let entries):
            "{\(entries.map { "\(self.quoted($0.key)): \(self.line($0.value))" }.joined(separator: ", "))}"
        case .reported: "null"
        }
    }

    /// A whole number that every reader of JSON keeps as it is.
    private static func isNumber(_ text: String) -> Bool {
        let digits = text.utf8
        return (1...15).contains(digits.count) && digits.allSatisfy { (0x30...0x39).contains($0) }
            && (digits.first != 0x30 || digits.count == 1)
    }

    private static func quoted(_ text: String) -> String { JSONWriter.string(text, .yaml) }
}
