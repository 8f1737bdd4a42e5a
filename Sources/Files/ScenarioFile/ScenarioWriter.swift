import Backend
package import Faults
import JSON
import Metrics
package import Phone
package import Plan
import SimBase
import Talaria
import TargetTrial

/// Writes a scenario back as a file, with every default filled in. Reading it gives an equal scenario,
/// provided that objectives of the same selector are adjacent, as they do in every file.
package enum ScenarioWriter {
    package static func resolved(_ scenario: Scenario) -> String {
        var lines = [
            "scenario: \(ScenarioReader.version)",
            "name: \(self.quoted(scenario.name))",
            "description: \(self.quoted(scenario.description))",
            "seed: \(scenario.seed)",
            "drain: \(Units.text(scenario.drain))",
            "duration: \(scenario.duration.map(Units.text) ?? "off")",
            "",
            "fleet:",
        ]
        for group in scenario.groups { lines += self.lines(group) }
        lines +=
            ["", "server:"] + ServerReader.keys.values(scenario.server).map { "  \($0.key): \($0.value)" }
        lines += ["", "faults:" + (scenario.faults.isEmpty ? " []" : "")]
        lines += scenario.faults.map { "  - {\(self.fields($0).joined(separator: ", "))}" }
        lines += ["", "slo:" + (scenario.slos.isEmpty ? " {}" : "")]
        lines += self.lines(scenario.slos)
        if !scenario.expectBroken.isEmpty {
            let names = scenario.expectBroken.map { self.quoted($0.name) }
            lines += ["", "expect-broken: [\(names.joined(separator: ", "))]"]
        }
        if !scenario.coverageGoals.isEmpty {
            lines += ["", "sometimes: [\(scenario.coverageGoals.joined(separator: ", "))]"]
        }
        lines += self.lines(scenario.trial)
        if let prices = scenario.prices { lines += ["", "cost: \(CostReader.keys.text(prices))"] }
        if !scenario.transports.isEmpty {
            lines += ["", "transports: [\(scenario.transports.map(\.rawValue).joined(separator: ", "))]"]
        }
        if let rollout = scenario.rollout {
            lines += ["", "rollout:"] + RolloutReader.keys.values(rollout).map { "  \($0.key): \($0.value)" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Nothing, if all is as it is by default.
    private static func lines(_ trial: TrialSettings) -> [String] {
        guard trial != TrialSettings() else { return [] }
        return ["", "trial:"] + TrialReader.keys.values(trial).map { "  \($0.key): \($0.value)" }
    }

    /// Returns the load model of a group, on one line.
    package static func text(_ load: LoadModel) -> String {
        self.values(load).map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }

    /// Returns the files of a group that imports them, on one line.
    package static func text(_ files: LibraryFiles) -> String { LibraryReader.keys.text(files) }

    /// Returns the scans that the users of a group cancel, and when, on one line.
    package static func text(_ cancel: CancelPolicy) -> String {
        "\(Units.percent(Int64(cancel.chance.perMillion))), \(Units.text(cancel.after)) after their 202"
    }

    // MARK: Fleet

    private static func lines(_ group: FleetGroup) -> [String] {
        let values = FleetReader.values(group)
        return ["  \(self.quoted(group.name)):"] + values.map { "    \($0.key): \($0.value)" }
    }

    @Sendable static func text(_ isOn: Bool) -> String { isOn ? "on" : "off" }

    /// A link, or an itinerary of links, on one line.
    package static func text(_ itinerary: Itinerary) -> String {
        guard itinerary.steps.count > 1 || itinerary.first == nil else { return self.text(itinerary.first) }
        let steps = itinerary.steps.map { step in
            let length = step.length.map { ", for: \(Units.text($0))" } ?? ""
            return "{at: \(Units.text(step.at)), link: \(self.text(step.link))\(length)}"
        }
        return "[\(steps.joined(separator: ", "))]"
    }

    /// A preset by its name; what is not exactly a preset by its numbers.
    private static func text(_ link: NamedLink?) -> String {
        guard let link else { return NetworkReader.tunnel }
        if LinkPreset.named(link.name)?.profile == link.profile { return self.quoted(link.name) }
        return NetworkReader.link.text(link.profile)
    }

    static func values(_ load: LoadModel) -> [(key: String, value: String)] {
        switch load {
        case .open(let curve, let spacing):
            [("arrivals", self.text(curve)), ("spacing", self.text(spacing))]
        case .closed(let time): [("think", Units.text(time.think)), ("start", Units.text(time.start))]
        }
    }

    private static func text(_ curve: ArrivalCurve) -> String {
        switch curve {
        case .constant(let rate): return self.text(rate)
        case .staged(let stages):
            return "[\(stages.stages.map { "{\(self.text($0))}" }.joined(separator: ", "))]"
        case .stepped(let arrivals):
            let steps = arrivals.steps
            let rates =
                "from: \(steps.from), by: \(steps.by), to: \(steps.to), every: \(Units.text(steps.every))"
            return "{steps: {\(rates)}, stop: \(LoadReader.stops), refine: \(steps.refine)}"
        }
    }

    private static func text(_ stage: ArrivalStage) -> String {
        let (from, length) = (self.text(stage.from), Units.text(stage.length))
        return stage.from == stage.to
            ? "rate: \(from), for: \(length)" : "ramp: \(from)..\(self.text(stage.to)), over: \(length)"
    }

    private static func text(_ rate: ArrivalRate?) -> String {
        guard let rate else { return "0/s" }
        // In lowest terms a whole number of arrivals per second, minute or hour is what somebody wrote.
        for unit in [Interval.seconds(1), .minutes(1), .hours(1)] {
            let product = UInt128(rate.arrivals) * UInt128(unit.nanoseconds)
            guard product % UInt128(rate.per.nanoseconds) == 0 else { continue }
            return "\(product / UInt128(rate.per.nanoseconds))/\(Units.text(unit).dropFirst())"
        }
        return "\(rate.arrivals)/\(Units.text(rate.per))"
    }

    private static func text(_ spacing: ArrivalSpacing) -> String {
        switch spacing {
        case .uniform: "uniform"
        case .poisson: "poisson"
        case .burst(let size): "burst(\(size))"
        }
    }

    static func text(_ photos: PhotoSource) -> String {
        switch photos {
        case .folder(let name): self.quoted(name)
        case .list(let names): "[\(names.map(self.quoted).joined(separator: ", "))]"
        case .painted(let count, nil): "{paint: \(count)}"
        case .painted(let count, let size?): "{paint: \(count), size: \(size)}"
        }
    }

    @Sendable static func text(_ quota: Quota) -> String {
        "\(quota.requests) per \(Units.text(quota.window))"
    }

    @Sendable static func text(_ range: ClosedRange<Int>) -> String {
        range.lowerBound == range.upperBound
            ? String(range.lowerBound) : "\(range.lowerBound)..\(range.upperBound)"
    }

    // MARK: Faults

    /// Returns the keys of a fault without its names, with every default filled in.
    package static func content(_ fault: FaultSpec) -> String {
        self.fields(fault, names: []).joined(separator: ", ")
    }

    private static func fields(_ fault: FaultSpec) -> [String] {
        var names = ["id: \(self.quoted(fault.id))"]
        if fault.key != FaultSpec.key(id: fault.id) {
            names.append("key: \"\(Hexadecimal.text(fault.key, digits: 16))\"")
        }
        return self.fields(fault, names: names)
    }

    private static func fields(_ fault: FaultSpec, names: [String]) -> [String] {
        var fields = ["do: \(fault.kind.name)", "on: \(fault.target.rawValue)"] + names
        fields += fault.kind.values.entries.map { "\($0.name): \(self.text($0.value))" }
        let window = fault.window
        let at = window.at...(window.at + fault.spread)
        fields += [
            "chance: \(Units.percent(Int64(fault.chance.perMillion)))", "at: \(Units.text(at))",
        ]
        if let length = window.length { fields.append("for: \(Units.text(length))") }
        if let trigger = self.text(fault.trigger) { fields.append("after: \(trigger)") }
        if FaultTable.entry(fault.kind.name)?.defaultCount != nil {
            fields.append("count: \(Units.text(fault.count))")
        }
        fields.append("scope: \(self.text(fault.scope))")
        if let scan = fault.scan { fields.append("scan: \(scan)") }
        if let attempt = fault.attempt { fields.append("attempt: \(attempt)") }
        if let transport = fault.transport { fields.append("transport: \(transport.rawValue)") }
        return fields
    }

    static func text(_ value: FaultValue) -> String {
        switch value {
        case .durations(let range) where range.upperBound < .zero:
            "-" + Units.text(.zero - range.lowerBound)
        case .durations(let range): Units.text(range)
        case .quota(let quota): self.text(quota)
        case .integers(let range): self.text(range)
        case .share(let share): Units.percent(Int64(share.perMillion))
        case .bitRate(let rate): Units.text(bitsPerSecond: rate)
        case .toggle(let isOn): self.text(isOn)
        case .word(let word): "\"\(word)\""
        case .cut(let cut): self.text(cut)
        }
    }

    private static func text(_ cut: Cut) -> String {
        switch cut {
        case .betweenEvents: "between-events"
        case .insideEvent: "inside-event"
        case .insideUTF8: "inside-utf8"
        case .insideLineEnd: "inside-line-end"
        case .afterBytes(let bytes): "after-bytes(\(bytes))"
        }
    }

    private static func text(_ trigger: FaultTrigger) -> String? {
        switch trigger {
        case .atOnce: nil
        case .afterTime(let range): Units.text(range)
        case .afterEvents(let range): self.text(range) + " events"
        case .afterBytes(let range): self.text(range) + " bytes"
        case .afterRecords(let range): self.text(range) + " records"
        case .afterStep(let step): step.rawValue
        }
    }

    private static func text(_ scope: FaultScope) -> String {
        switch scope {
        case .everyone: "all"
        case .share(let share): Units.percent(Int64(share.perMillion)) + " of phones"
        case .group(let name): self.quoted(name)
        case .phone(let number): "phone \(number.raw)"
        }
    }

    // MARK: Objectives

    /// What it is worth without data, and without a verdict.
    private static func exceptions(_ objective: SLO) -> String {
        (objective.passesWithoutData.map { ", no-data: \($0 ? "pass" : "fail")" } ?? "")
            + (objective.mayStayOpen ? ", not-judged: pass" : "")
    }

    private static func lines(_ objectives: [SLO]) -> [String] {
        var lines: [String] = []
        var selector: MetricSelector?
        for objective in objectives {
            if objective.selector != selector {
                lines.append("  \(self.quoted(objective.selector.description)):")
            }
            selector = objective.selector
            lines.append(
                "    - {expect: \(self.quoted(objective.condition.description)), severity: \(objective.severity.rawValue), abort: \(self.text(objective.abort))\(self.exceptions(objective))}"
            )
        }
        return lines
    }

    // MARK: Text

    /// Returns a plain word if every YAML reader reads it as the same word, otherwise a string in double
    /// quotes. A dollar sign before a brace is doubled, so that it is not read as a variable.
    static func quoted(_ text: String) -> String {
        let words = ["on", "off", "yes", "no", "true", "false", "null", "y", "n"]
        let isPlain =
            text.unicodeScalars.first.map { $0.isASCII && $0.properties.isAlphabetic } ?? false
            && text.unicodeScalars.allSatisfy(Values.isNameScalar) && !words.contains(text.lowercased())
        if isPlain { return text }
        return JSONWriter.string(text, .yaml).replacing("${", with: "$${")
    }
}
