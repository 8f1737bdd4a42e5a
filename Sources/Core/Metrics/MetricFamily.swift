/// A family of samples as Prometheus reads them. `metrics.prom` of a run, `/metrics` of its dashboard and `/_sim/metrics` of a
/// server take names, types, units and help texts from here.
package struct MetricFamily: Hashable, Sendable {
    package enum Kind: String, Sendable {
        case counter, gauge, histogram, info

        /// What the names of the samples end in.
        var suffixes: [String] {
            switch self {
            case .counter: ["_total"]
            case .gauge: [""]
            case .histogram: ["_bucket", "_count", "_sum"]
            case .info: ["_info"]
            }
        }
    }

    package enum Unit: String, Sendable {
        case seconds, bytes, dollars
    }

    package static let prefix = "swiftwing_"

    /// With its unit, and without the end of a sample's name.
    package let name: String
    package let kind: Kind
    package let unit: Unit?
    /// One line without quotation marks and backslashes, which the two formats escape differently.
    package let help: String

    private init(_ name: String, _ kind: Kind, _ unit: Unit?, _ help: String) {
        self.name = Self.prefix + name
        self.kind = kind
        self.unit = unit
        self.help = help
    }

    /// The names that its samples have.
    package var sampleNames: [String] { self.kind.suffixes.map { self.name + $0 } }

    /// `sse_connect_time` of `sse.connect.time`.
    private static func base(_ metric: some MetricCase) -> String {
        String(metric.rawValue.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    // MARK: Metrics of a scenario

    package init(_ metric: LatencyMetric) {
        self.init(Self.base(metric) + "_seconds", .histogram, .seconds, metric.meaning)
    }

    /// The percentiles of a latency since the start of the run, as exact as in its report.
    package init(quantilesOf metric: LatencyMetric) {
        self.init(
            Self.base(metric) + "_quantile_seconds", .gauge, .seconds,
            "percentiles since the start of the run: " + metric.meaning)
    }

    package init(failedOf metric: RateMetric) {
        self.init(Self.base(metric), .counter, nil, "operations that failed: " + metric.meaning.operation)
    }

    package init(operationsOf metric: RateMetric) {
        self.init(Self.base(metric) + "_operations", .counter, nil, "operations: " + metric.meaning.operation)
    }

    package init(_ metric: CountMetric) {
        self.init(Self.base(metric), .counter, nil, metric.meaning)
    }

    package init(_ metric: CostMetric) {
        self.init(Self.base(metric) + "_dollars", .gauge, .dollars, metric.meaning)
    }

    /// Every family.
    package static var all: [MetricFamily] {
        LatencyMetric.allCases.flatMap { [MetricFamily($0), MetricFamily(quantilesOf: $0)] }
            + RateMetric.allCases.flatMap { [MetricFamily(failedOf: $0), MetricFamily(operationsOf: $0)] }
            + CountMetric.allCases.map { MetricFamily($0) } + CostMetric.allCases.map { MetricFamily($0) }
            + Fact.allCases.map { MetricFamily($0) }
    }

    // MARK: Everything else

    package init(_ fact: Fact) {
        let (kind, unit, help) = fact.row
        self.init(fact.rawValue, kind, unit, help)
    }

    /// A family that is no metric of a scenario.
    package enum Fact: String, CaseIterable, Sendable {
        case run
        case runActive = "run_active"
        case runExitCode = "run_exit_code"
        case runPassed = "run_passed"
        case runSeconds = "run_seconds"
        case phones
        case phonesByState = "phones_by_state"
        case scansPlanned = "scans_planned"
        case scansOpen = "scans_open"
        case sloPassed = "slo_passed"
        case sloValue = "slo_value"
        case sloLimit = "slo_limit"
        case invariantViolations = "invariant_violations"
        case errors
        case disconnections
        case disconnectionsOpen = "disconnections_open"
        case httpReplies = "http_replies"
        case faultsFired = "faults_fired"
        case generatorHealthy = "generator_healthy"
        case generatorLatenessMost = "generator_lateness_most_seconds"
        case processCPU = "process_cpu_seconds"
        case processMemory = "process_resident_bytes"
        case streamBytes = "stream_bytes"
        case server
        case serverUptime = "server_uptime_seconds"
        case serverConnections = "server_connections"
        case serverStreams = "server_streams"
        case serverJobs = "server_jobs"
        case serverRequests = "server_requests"
        case serverEvents = "server_events"
        case serverBytes = "server_bytes"

        /// The names of its labels, for the manual. Every one has a bounded number of values.
        package var labels: [String] {
            switch self {
            case .run: ["scenario", "seed", "world", "tool", "sha256", "target", "http", "http_by", "tag_*"]
            case .runExitCode, .runPassed, .runSeconds, .phones: ["scenario", "seed", "world"]
            case .phonesByState: ["state"]
            case .sloPassed, .sloValue, .sloLimit: ["metric", "expression", "severity"]
            case .invariantViolations: ["invariant"]
            case .errors: ["family", "cause"]
            case .disconnections: ["cause", "outcome"]
            case .disconnectionsOpen: ["cause"]
            case .httpReplies: ["status"]
            case .faultsFired: ["fault"]
            case .processCPU, .processMemory: ["process"]
            case .streamBytes, .serverBytes: ["direction"]
            case .server: ["serving"]
            case .serverRequests: ["method", "route", "status"]
            case .runActive, .scansPlanned, .scansOpen, .generatorHealthy, .generatorLatenessMost,
                .serverUptime,
                .serverConnections, .serverStreams, .serverJobs, .serverEvents:
                []
            }
        }

        fileprivate var row: (Kind, Unit?, String) {
            switch self {
            case .run: (.info, nil, "name and configuration of the run")
            case .runActive: (.gauge, nil, "1 while the run goes on, 0 once it is judged")
            case .runExitCode: (.gauge, nil, "exit code of the run; once it is judged")
            case .runPassed: (.gauge, nil, "1 if the run passed, else 0; once it is judged")
            case .runSeconds: (.gauge, .seconds, "time since the start of the run, up to its end")
            case .phones: (.gauge, nil, "phones of the fleet")
            case .phonesByState:
                (.gauge, nil, "phones with a stream, between two streams, and offline; while the run goes on")
            case .scansPlanned: (.gauge, nil, "captures that the scenario plans; unless the backend decides")
            case .scansOpen: (.gauge, nil, "scans that are neither over nor given back to the queue")
            case .sloPassed: (.gauge, nil, "1 if the objective held (so far), else 0")
            case .sloValue:
                (
                    .gauge, nil,
                    "what the objective judges, in seconds, as a share of 1, as a count or in dollars"
                )
            case .sloLimit: (.gauge, nil, "the limit of the objective, in the unit of slo_value")
            case .invariantViolations: (.gauge, nil, "violations of each invariant")
            case .errors: (.counter, nil, "errors as the phones saw them, by family and by who caused them")
            case .disconnections: (.counter, nil, "lost streams by cause, once their outcome is known")
            case .disconnectionsOpen:
                (.gauge, nil, "lost streams by cause that are neither back nor given up")
            case .httpReplies: (.counter, nil, "HTTP responses by status")
            case .faultsFired: (.counter, nil, "firings by fault")
            case .generatorHealthy:
                (
                    .gauge, nil,
                    "1 if the load generator makes the load of the scenario and measures it, else 0"
                )
            case .generatorLatenessMost: (.gauge, .seconds, "most that a timer was late")
            case .processCPU: (.counter, .seconds, "processor time of the phones and of the backend")
            case .processMemory: (.gauge, .bytes, "largest memory of the phones and of the backend")
            case .streamBytes: (.counter, .bytes, "bytes of event streams that phones sent and received")
            case .server: (.info, nil, "what answers")
            case .serverUptime: (.gauge, .seconds, "time since the start of the server")
            case .serverConnections: (.gauge, nil, "open connections")
            case .serverStreams: (.gauge, nil, "open event streams")
            case .serverJobs: (.gauge, nil, "jobs that are neither deleted nor expired")
            case .serverRequests: (.counter, nil, "requests that are over, by the class of their status")
            case .serverEvents: (.counter, nil, "events of streams that were sent, without pings")
            case .serverBytes: (.counter, .bytes, "bytes that were received and sent, before TLS")
            }
        }
    }
}
