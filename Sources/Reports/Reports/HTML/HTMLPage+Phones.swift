import Ledger
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
        let list = timelines.map { timeline in
            "<a href=\"#phone-\(timeline.mark.device.raw)\">phone \(timeline.mark.device.raw)</a>"
        }.joined(separator: " · ")
        return Section(
            id: "worst", title: "Worst-affected phones",
            lead: "The app, its \(self.result.noun.many), the link and the streams of each phone over time. "
                + "For any other phone, run <code>swiftwing-sim inspect RUNDIR --device N</code>.",
            body: "<p>\(list)</p>\n\(PhoneLanes.legend)" + timelines.map { self.phone($0) }.joined())
    }

    private func phone(_ timeline: PhoneTimeline) -> String {
        let device = timeline.mark.device
        let noun = WorkNoun(self.result.journey(of: device))
        let slow = ScanTime(slowestOf: timeline.observations, until: .zero + self.result.length)
        let reason = slow.map {
            "<p class=\"why\"><b>Why it was slow:</b> \(HTMLText.sentence($0.sentence(noun), bytesMax: 600))</p>"
        }
        return """
            <article class="phone" id="phone-\(device.raw)"><h3>Phone \(device.raw)</h3>
            <p>\(self.facts(timeline, noun).joined(separator: " · "))</p>\(reason ?? "")\(self.troubles(timeline))
            \(PhoneLanes(timeline, noun, slow: slow, axis: self.axis, faults: self.faultIDs).html)</article>

            """
    }

    private func facts(_ timeline: PhoneTimeline, _ noun: WorkNoun) -> [String] {
        let mark = timeline.mark
        var facts = [
            Figures.count(mark.captured, noun), "\(Figures.count(mark.completed)) completed",
        ]
        if mark.refused > 0 { facts.append("\(Figures.count(mark.refused)) refused") }
        if mark.canceled > 0 { facts.append("\(Figures.count(mark.canceled)) canceled") }
        if mark.unsettled > 0 { facts.append("\(Figures.count(mark.unsettled)) unfinished") }
        facts.append(Figures.count(mark.losses, "stream lost", "streams lost"))
        if mark.kills > 0 { facts.append("killed \(Figures.count(mark.kills, "time", "times"))") }
        if mark.longestReconnect > .zero {
            facts.append("slowest reconnect \(HTMLText.time(mark.longestReconnect.nanoseconds))")
        }
        if mark.longestScan > .zero {
            facts.append("slowest \(noun.one) \(HTMLText.time(mark.longestScan.nanoseconds))")
        }
        if timeline.leftOut > 0 {
            facts.append("\(Figures.count(timeline.leftOut)) later observations omitted")
        }
        return facts
    }

    /// The errors and the violations of a phone.
    private func troubles(_ timeline: PhoneTimeline) -> String {
        var errors: [(name: String, count: Int)] = []
        for observation in timeline.observations {
            guard case .phone(let payload) = observation.what, let error = RunError(payload) else { continue }
            if let index = errors.firstIndex(where: { $0.name == error.name }) {
                errors[index].count += 1
            } else {
                errors.append((error.name, 1))
            }
        }
        let shown = errors.sorted { $0.count > $1.count }.prefix(Self.errorsOfPhoneMax).map {
            "\(HTMLText.escaped($0.name, bytesMax: 80)) ×\(Figures.count($0.count))"
        }
        let more = errors.count - shown.count
        let violations = self.result.verdicts.flatMap { verdict in
            verdict.examples.filter { $0.device == timeline.mark.device }
        }
        let broken = violations.map { violation in
            "<li>\(HTMLText.mono(violation.invariant.rawValue)) \(HTMLText.escaped(self.result.place(of: violation))): "
                + "\(HTMLText.escaped(violation.text))</li>"
        }.joined()
        return
            (shown.isEmpty
            ? "" : "<p>Errors: \(shown.joined(separator: ", "))\(more > 0 ? ", \(more) more" : "")</p>")
            + (broken.isEmpty ? "" : "<ul class=\"reasons\">\(broken)</ul>")
    }
}
