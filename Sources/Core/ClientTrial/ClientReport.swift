package import SimBase

/// One break of a rule.
package struct ClientBreak: Hashable, Sendable {
    package var at: Instant
    /// The device id as it was sent; nil without one.
    package var device: String?
    package var job: String?
    /// Method and path of the request that shows it; nil for what was missing at the end.
    package var request: String?
    package var text: String
}

/// What a trial of clients has found so far.
package struct ClientReport: Hashable, Sendable {
    package struct Result: Hashable, Sendable {
        package var rule: ClientRule
        /// How often it could have been broken.
        package var occasions: Int
        package var breaks: Int
        package var example: ClientBreak?
    }

    package struct Client: Hashable, Sendable {
        package var device: String?
        package var userAgent: String?
        package var requests: Int
        package var jobs: Int
        package var breaks: Int
        package var last: Instant
    }

    /// In the order of `ClientRule.allCases`.
    package var results: [Result]
    /// The clients that uploaded something or broke a rule, in the order in which they came.
    package var clients: [Client]
    package var requests: Int
    package var jobs: Int

    /// Whether there was nothing to judge.
    package var isEmpty: Bool { self.jobs == 0 && self.broken.isEmpty }

    package var broken: [ClientRule] { self.results.filter { $0.breaks > 0 }.map(\.rule) }
}

/// The rules that a client is expected to break.
package struct ClientExpectations: Hashable, Sendable {
    /// Must be broken.
    package var breaks: [ClientRule] = []
    /// May be broken: what the profile of the client is known for.
    package var known: [ClientRule] = []

    package init() {}

    package func covers(_ rule: ClientRule) -> Bool {
        self.breaks.contains(rule) || self.known.contains(rule)
    }
}

/// What a report comes to.
package enum ClientVerdict: Hashable, Sendable {
    case passed
    /// These rules are broken and not expected to be.
    case broken([ClientRule])
    /// These rules must be broken, and are not.
    case heldUnexpectedly([ClientRule])
    /// No client has made a job.
    case nothingToJudge

    package init(_ report: ClientReport, _ expectations: ClientExpectations) {
        let broken = report.broken.filter { !$0.isNote && !expectations.covers($0) }
        let held = expectations.breaks.filter { !report.broken.contains($0) }
        if !broken.isEmpty {
            self = .broken(broken)
        } else if report.isEmpty {
            self = .nothingToJudge
        } else {
            self = held.isEmpty ? .passed : .heldUnexpectedly(held)
        }
    }
}
