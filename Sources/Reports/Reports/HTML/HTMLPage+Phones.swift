import Ledger
import Metrics
import Observations
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Talaria

extension HTMLPage {
    /// The errors of a phone that are named.
    private static let errorsOfPhoneMax = 6

    var phones: Section {
        let timelines = self.report.timelines.filter { !$0.observations.isEmpty }
        guard !timelines.isEmpty else { return Section(id: "worst", title: "Phones", body: "") }
        let list: [HTML] = timelines.map(\.mark.device.raw).map { "<a href=\"#phone-\($0)\">phone \($0)</a>" }
        return Section(
            id: "worst", title: "Worst-affected phones",
            lead: """
                The app, its \(self.result.noun.many), the link and the streams of each phone over time, those of the broken \
                invariants that this page names first. \
                For any other phone, run <code>swiftwing-sim inspect RUNDIR --phone N</code>.
                """,
            body: """
                <p>\(list.joined(separator: " · "))</p>
                \(PhoneLanes.legend)\(timelines.map { self.phone($0) }.joined())
                """)
    }

    private func phone(_ timeline: PhoneTimeline) -> HTML {
        let device = timeline.mark.device
        let noun = WorkNoun(self.result.journey(of: device))
        let slow = ScanTime(slowestOf: timeline.observations, until: .zero + self.result.length)
        let reason: HTML? = slow.map {
            "<p class=\"why\"><b>Why it was slow:</b> \(sentence: $0.sentence(noun), bytesMax: 600)</p>"
        }
        return """
            <article class="phone" id="phone-\(device.raw)"><h3>Phone \(device.raw)</h3>
            <p>\(self.facts(timeline, noun, slow).joined(separator: " · "))</p>\(reason ?? "")\(self.troubles(timeline))
            \(PhoneLanes(timeline, noun, slow: slow, axis: self.axis, faults: self.faultIDs).html)</article>

            """
    }

    private func facts(_ timeline: PhoneTimeline, _ noun: WorkNoun, _ slow: ScanTime?) -> [HTML] {
        let mark = timeline.mark
        var facts: [HTML] = [
            "\(Figures.count(mark.captured, noun))", "\(Figures.count(mark.completed)) completed",
        ]
        let rest = [(mark.refused, "refused"), (mark.canceled, "canceled"), (mark.unsettled, "unfinished")]
        for (count, word) in rest where count > 0 { facts.append("\(Figures.count(count)) \(word)") }
        facts.append("\(Figures.count(mark.losses, "stream lost", "streams lost"))")
        if mark.kills > 0 { facts.append("killed \(Figures.count(mark.kills, "time", "times"))") }
        if mark.longestReconnect > .zero {
            facts.append("slowest reconnect \(HTML.time(mark.longestReconnect.nanoseconds))")
        }
        if mark.longestScan > .zero {
            facts.append("slowest \(noun.one) \(HTML.time(mark.longestScan.nanoseconds))")
        }
        if let mostly = slow?.parts.first?.activity.words { facts.append("mostly \(mostly)") }
        if timeline.leftOut > 0 {
            facts.append("\(Figures.count(timeline.leftOut)) later observations omitted")
        }
        return facts
    }

    /// The errors and the violations of a phone.
    private func troubles(_ timeline: PhoneTimeline) -> HTML {
        var errors = Counters()
        for observation in timeline.observations {
            guard case .phone(let payload) = observation.what, let error = RunError(payload) else { continue }
            errors.add(1, to: error.name)
        }
        let most = errors.entries.sorted { $0.count > $1.count }.prefix(Self.errorsOfPhoneMax)
        let shown: [HTML] = most.map { "\($0.name, bytesMax: 80) ×\(Figures.count($0.count))" }
        let more = errors.names.count - shown.count
        let violations = self.result.verdicts.flatMap { verdict in
            verdict.examples.filter { $0.device == timeline.mark.device }
        }
        let broken: [HTML] = violations.map { violation in
            """
            <li>\(HTML.mono(violation.invariant.rawValue)) \(self.result.place(of: violation)): \
            \(violation.text)</li>
            """
        }
        var troubles: HTML = ""
        if !shown.isEmpty {
            troubles += "<p>Errors: \(shown.joined(separator: ", "))\(more > 0 ? ", \(more) more" : "")</p>"
        }
        if !broken.isEmpty { troubles += "<ul class=\"reasons\">\(broken.joined())</ul>" }
        return troubles
    }
}
