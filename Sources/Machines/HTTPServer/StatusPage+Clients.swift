import ClientTrial

// What the trial of the clients has found, on the page.

extension StatusPage {
    static func section(_ clients: ClientStatus) -> String {
        let report = clients.report
        let devices = report.clients.map {
            Self.row([
                $0.device ?? "–", $0.userAgent ?? "–", String($0.requests), String($0.jobs),
                String($0.breaks),
            ])
        }
        let rules = Standing.allCases.flatMap { standing in
            report.results.filter { Standing($0, clients.expectations) == standing }
                .map { Self.rows($0, standing) }
        }
        return """
            <h2>Clients</h2>
            <p>\(Self.text(clients.verdict)); \(report.requests) requests, \(report.jobs) jobs</p>
            \(devices.isEmpty
                ? "" : Self.table(["device", "User-Agent", "requests", "jobs", "breaks"], devices))
            <p></p>
            \(report.isEmpty ? "" : Self.table(["rule", "", "broken", "contract", "says"], rules))
            """
    }

    /// The outcome of a rule, the worst first.
    private enum Standing: String, CaseIterable {
        case broken, note
        case expected = "broken as expected"
        case held
        case idle = "no occasion"

        init(_ result: ClientReport.Result, _ expectations: ClientExpectations) {
            guard result.breaks > 0 else {
                self = result.occasions > 0 ? .held : .idle
                return
            }
            self = expectations.covers(result.rule) ? .expected : result.rule.isNote ? .note : .broken
        }
    }

    private static func text(_ verdict: ClientVerdict) -> String {
        switch verdict {
        case .passed: "no rule is broken that is not expected to be"
        case .broken(let rules): "rules that are broken: \(rules.count)"
        case .heldUnexpectedly(let rules): "rules that must be broken, and are not: \(rules.count)"
        case .nothingToJudge: "no client has made a job"
        }
    }

    private static func rows(_ result: ClientReport.Result, _ standing: Standing) -> String {
        let row = Self.row(
            [
                result.rule.id, standing.rawValue, "\(result.breaks) of \(result.occasions)",
                result.rule.source, result.rule.statement,
            ], isBad: standing == .broken)
        guard let example = result.example else { return row }
        let job = example.job.map { "job \($0)" }
        let device = example.device.map { "device \($0)" }
        let text = [example.text, example.request, job, device].compactMap(\.self).joined(separator: "; ")
        return row + "<tr><td></td><td class=example colspan=4>\(Self.escaped(text))</td></tr>"
    }
}
