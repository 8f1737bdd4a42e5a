import ClientTrial
import JSON
import SimBase

/// What the trial of the clients has found, for `/_sim`.
struct ClientStatus: Hashable, Sendable {
    let report: ClientReport
    let expectations: ClientExpectations
    /// The time of the report.
    let at: Instant

    var verdict: ClientVerdict { ClientVerdict(self.report, self.expectations) }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.array("devices", self.report.clients) { writer, client in
                self.write(client, to: &writer)
            }
            writer.member("jobs", self.report.jobs)
            writer.member("requests", self.report.requests)
            writer.array("rules", self.report.results) { writer, result in
                self.write(result, to: &writer)
            }
            writer.member("verdict", self.verdict.word)
        }
    }

    private func write(_ client: ClientReport.Client, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("breaks", client.breaks)
            writer.member("device", client.device)
            writer.member("jobs", client.jobs)
            writer.member("lastMsAgo", (self.at - client.last).wholeMilliseconds)
            writer.member("requests", client.requests)
            writer.member("userAgent", client.userAgent)
        }
    }

    private func write(_ result: ClientReport.Result, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("breaks", result.breaks)
            if let example = result.example {
                writer.object("example") { writer in
                    writer.member("device", example.device)
                    writer.member("job", example.job)
                    writer.member("msAgo", (self.at - example.at).wholeMilliseconds)
                    writer.member("request", example.request)
                    writer.member("text", example.text)
                }
            }
            writer.member("id", result.rule.id)
            writer.member("isExpected", self.expectations.covers(result.rule))
            writer.member("isNote", result.rule.isNote)
            writer.member("occasions", result.occasions)
            writer.member("source", result.rule.source)
            writer.member("statement", result.rule.statement)
        }
    }
}

extension ClientVerdict {
    fileprivate var word: String {
        switch self {
        case .passed: "passed"
        case .broken: "broken"
        case .heldUnexpectedly: "held-unexpectedly"
        case .nothingToJudge: "nothing-to-judge"
        }
    }
}
