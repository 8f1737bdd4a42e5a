/// Where `list` shows a shipped scenario.
package enum ScenarioSection: String, CaseIterable, Sendable {
    case start = "start here"
    case load, network, faults, lifecycle
    case journeys = "v2 and other clients"
    case migrations
    /// What a bug of this program once needed. Only `list --all` shows them.
    case regressions

    /// The names of its scenarios, the one to begin with first.
    package var names: [String] {
        switch self {
        case .start: ["flaky-network", "staging-smoke", "backend-trial", "backend-trial-v2", "capacity"]
        case .load: ["steady-load", "rate-limited", "long-jobs", "crowd", "hour", "day"]
        case .network:
            ["train-tunnel", "network-drops", "half-open", "outage", "stream-outage", "slow-uplink"]
        case .faults:
            [
                "backend-degraded", "token-expiry", "stripped-books", "hostile-stream", "open-circuit",
                "stubborn-jobs",
            ]
        case .lifecycle: ["app-lifecycle", "sudden-kills", "readings-under-kill", "review-under-kill"]
        case .journeys:
            [
                "bookshelf-v2", "batch-enrichment", "csv-import", "text-enrichment",
                "hybrid-low-confidence", "v2-under-fire", "several-photos", "segmented-shelves",
                "progressive-results", "status-polling", "polling-app", "books-app",
                "head-on-flaky-network", "websocket-under-fire", "websocket-tokens",
            ]
        case .migrations:
            ["seed-3-slo", "sse-against-websocket", "rollout-good", "rollout-rolled-back"]
        case .regressions:
            [
                "captured-stream", "lingering-streams", "quiet-streams", "raised-base",
                "reordered-results", "torn-writes",
            ]
        }
    }

    /// The section of a shipped scenario; nil for any other one.
    package init?(of name: String) {
        guard let section = Self.allCases.first(where: { $0.names.contains(name) }) else { return nil }
        self = section
    }
}
