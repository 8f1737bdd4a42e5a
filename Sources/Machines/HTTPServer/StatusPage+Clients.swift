import ClientTrial

// What the trial of the clients has found, on the page.

extension StatusPage {
    static func section(_ clients: ClientStatus) -> String {
        let report = clients.report
        let devices = report.clients.map {
            Self.row([
                $0.device ?? "–", $0.userAgent ?? "–", String($0.requests), String($0.jobs), String($0.breaks),
            ])
        }
        let rules = report.results.map { Self.row($0, clients.expectations) }
        return """
            <h2>Clients</h2>
            <p>\(Self.text(clients.verdict)); \(report.requests) requests, \(report.jobs) jobs</p>
            \(devices.isEmpty
                ? "" : Self.table(["device", "User-Agent", "requests", "jobs", "breaks"], devices))
            \(report.isEmpty
                ? "" : Self.table(["rule", "", "broken", "says", "contract", "first break"], rules))
            """
    }

    private static func text(_ verdict: ClientVerdict) -> String {
        switch verdict {
        case .passed: "no rule is broken that is not expected to be"
        case .broken(let rules): "rules that are broken: \(rules.count)"
        case .heldUnexpectedly(let rules): "rules that must be broken, and are not: \(rules.count)"
        case .nothingToJudge: "no client has made a job"
        }
    }

    private static func row(_ result: ClientReport.Result, _ expectations: ClientExpectations) -> String {
        let isBad = result.breaks > 0 && !result.rule.isNote && !expectations.covers(result.rule)
        let standing =
            result.breaks == 0
            ? result.occasions > 0 ? "held" : "no occasion"
            : expectations.covers(result.rule) ? "broken as expected" : isBad ? "broken" : "note"
        let example = result.example.map { example in
            let job = example.job.map { "job \($0)" }
            let device = example.device.map { "device \($0)" }
            return [example.text, example.request, job, device].compactMap(\.self).joined(separator: "; ")
        }
        return Self.row(
            [
                result.rule.id, standing, "\(result.breaks) of \(result.occasions)", result.rule.statement,
                result.rule.source, example ?? "",
            ], isBad: isBad)
    }
}
