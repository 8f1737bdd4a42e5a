package import SimBase

/// A service level objective: the condition that a metric must satisfy.
package struct SLO: Hashable, Sendable {
    package enum Severity: String, CaseIterable, Sendable {
        /// A miss fails the run.
        case error
        /// A miss is printed and changes nothing.
        case warn
    }

    /// Who asks for it.
    package enum Origin: Sendable {
        /// The scenario.
        case stated
        /// Every run has it (Docs/design.md section 11.1).
        case implicit
    }

    package let selector: MetricSelector
    package let condition: SLOCondition
    package let severity: Severity
    /// Whether a miss ends the run before its time: see `SLOResult.endsRun`.
    package let abort: Bool
    /// Whether the objective passes without data; nil for the default, see `SLOResult.noData`.
    package let passesWithoutData: Bool?
    /// Whether a run that cannot judge it may pass (`not-judged: pass`).
    package let mayStayOpen: Bool
    package let origin: Origin

    package init(
        selector: MetricSelector, condition: SLOCondition, severity: Severity, abort: Bool,
        passesWithoutData: Bool? = nil, mayStayOpen: Bool = false, origin: Origin = .stated
    ) {
        precondition(
            condition.aggregation.measure(of: selector.metric.kind) == condition.threshold.measure,
            "a condition is parsed for the kind of metric that it judges")
        self.selector = selector
        self.condition = condition
        self.severity = severity
        self.abort = abort
        self.passesWithoutData = passesWithoutData
        self.mayStayOpen = mayStayOpen
        self.origin = origin
    }

    /// Whether a run that could not judge it is not trustworthy (Docs/design.md section 11).
    package var mustBeJudged: Bool {
        self.origin == .stated && self.severity == .error && !self.mayStayOpen
    }
}

/// Which metric, and of which part of the fleet: `sse.connect.time` or `sse.connect.time{group:commuters}`.
package struct MetricSelector: Hashable, Sendable {
    package let metric: Metric
    package let scope: MetricScope

    package init(metric: Metric, scope: MetricScope) {
        self.metric = metric
        self.scope = scope
    }

    package var isLatency: Bool { if case .latency = self.metric { true } else { false } }
}

extension MetricSelector: CustomStringConvertible {
    package var description: String { self.metric.name + self.scope.suffix }
}

/// The comparison of a measured value with a threshold, and the part of the run: `p(95) < 400ms over 30s`.
package struct SLOCondition: Hashable, Sendable {
    package let aggregation: Aggregation
    package let comparison: Comparison
    package let threshold: Threshold
    package let span: SLOSpan
}

/// Which part of the run an objective judges.
package enum SLOSpan: Hashable, Sendable {
    case wholeRun
    /// Every window of this length, from the start of the run: `over 30s`.
    case everyWindow(Interval)
    /// The time after the end of a fault: `within 10s of offline-1.end`.
    case afterFault(id: String, within: Interval)
}

extension SLOSpan: CustomStringConvertible {
    /// The text after a threshold, with a leading space; empty for the whole run.
    package var description: String {
        switch self {
        case .wholeRun: ""
        case .everyWindow(let length): " over \(Threshold.time(nanoseconds: length.nanoseconds))"
        case .afterFault(let id, let within):
            " within \(Threshold.time(nanoseconds: within.nanoseconds)) of \(id).end"
        }
    }
}

extension SLOCondition {
    /// `count == 0`
    package static let none = SLOCondition(
        aggregation: .count, comparison: .equal, threshold: .number(0), span: .wholeRun)
}

extension SLOCondition: CustomStringConvertible {
    /// The text in the SLO grammar, which parses to the same condition: a report prints it as the expression.
    package var description: String {
        "\(self.aggregation) \(self.comparison.rawValue) \(self.threshold)\(self.span)"
    }
}

/// The way in which the values of a metric are aggregated.
package enum Aggregation: Hashable, Sendable {
    case average
    case minimum
    case maximum
    case median
    case percentile(Percentile)
    /// The number of samples of a latency, of failed operations, or of counted events.
    case count
    /// Failed operations of all operations.
    case rate
    /// An alias of `count` for states: `scans.waiting: value == 0`. Of a cost, the amount.
    case value

    /// Returns the measure for a metric of this kind; nil if they do not fit.
    package func measure(of kind: MetricKind) -> SLOMeasure? {
        switch (kind, self) {
        case (.latency, .average), (.latency, .minimum), (.latency, .maximum), (.latency, .median),
            (.latency, .percentile):
            .time
        case (.rate, .rate), (.answers, .rate): .share
        case (.cost, .value): .money
        case (.latency, .count), (.rate, .count), (.count, .count), (.count, .value), (.answers, .count),
            (.answers, .value):
            .number
        case (.latency, .rate), (.latency, .value), (.rate, .average), (.rate, .minimum), (.rate, .maximum),
            (.rate, .median), (.rate, .percentile), (.rate, .value), (.count, .average), (.count, .minimum),
            (.count, .maximum), (.count, .median), (.count, .percentile), (.count, .rate),
            (.answers, .average), (.answers, .minimum), (.answers, .maximum), (.answers, .median),
            (.answers, .percentile), (.cost, .average), (.cost, .minimum), (.cost, .maximum),
            (.cost, .median), (.cost, .percentile), (.cost, .count), (.cost, .rate):
            nil
        }
    }
}

extension Aggregation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .average: "avg"
        case .minimum: "min"
        case .maximum: "max"
        case .median: "med"
        case .percentile(let percentile): percentile.description
        case .count: "count"
        case .rate: "rate"
        case .value: "value"
        }
    }
}

/// The measure that a threshold applies to.
package enum SLOMeasure: Sendable {
    /// Written with a unit of time.
    case time
    /// Written in percent.
    case share
    /// Written as a plain whole number.
    case number
    /// Written in dollars, as a plain number.
    case money
}

package enum Comparison: String, CaseIterable, Sendable {
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case equal = "=="
    case notEqual = "!="

    package func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
        switch self {
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        case .equal: left == right
        case .notEqual: left != right
        }
    }
}

/// Always whole numbers: a verdict never hangs on a rounded one.
package enum Threshold: Hashable, Sendable {
    case time(nanoseconds: Int64)
    /// A share in parts per million, from 0 to 1,000,000.
    case share(perMillion: Int64)
    case number(Int64)
    case money(microdollars: Int64)

    package var measure: SLOMeasure {
        switch self {
        case .time: .time
        case .share: .share
        case .number: .number
        case .money: .money
        }
    }
}

extension Threshold: CustomStringConvertible {
    package var description: String {
        switch self {
        case .time(let nanoseconds): Self.timeText(nanoseconds)
        case .share(let perMillion): DecimalText.text(perMillion, decimals: 4, shown: 0...4) + "%"
        case .number(let number): String(number)
        case .money(let microdollars): BookPrices.text(microdollars)
        }
    }

    /// Returns a time in its natural unit, for example 2h instead of 7200s.
    private static func timeText(_ nanoseconds: Int64) -> String {
        for unit in [TimeUnit.hours, .minutes] where nanoseconds > 0 && nanoseconds % unit.nanoseconds == 0 {
            return String(nanoseconds / unit.nanoseconds) + unit.rawValue
        }
        return DecimalText.time(nanoseconds, digits: 9)
    }
}
