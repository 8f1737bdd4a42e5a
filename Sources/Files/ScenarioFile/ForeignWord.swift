import Faults

/// Keys and metrics as other load tools call them, for the help of an error.
enum ForeignWord {
    private static let keys: [(words: Set<String>, help: String)] = [
        (
            ["vus", "users", "maxVUs", "preAllocatedVUs", "clients"],
            "k6's `vus` are `phones` of a group in `fleet`"
        ),
        (
            ["stages", "ramp", "phases", "ramping", "rampUp", "ramp-up"],
            "stages go into `arrivals` of a group: `[{rate: 5/s, for: 10s}, {ramp: 5/s..50/s, over: 60s}]`"
        ),
        (
            ["thresholds", "slos", "objectives", "ensure"],
            "k6's `thresholds` are `slo`, for example `slo: {scan.time: p(95) < 20s}`"
        ),
        (["scenarios", "executor", "groups"], "k6's `scenarios` are the groups of `fleet`"),
        (["iterations", "loops"], "k6's `iterations` are `scans` of a group, for each phone"),
        (
            ["sleep", "pause", "pacing", "thinkTime", "think-time"],
            "a pause between scans is `think` of a group"
        ),
        (
            ["gracefulStop", "gracefulRampDown", "grace"],
            "k6's `gracefulStop` is `drain`, the time for unfinished scans"
        ),
        (
            ["rate", "arrivalRate", "arrival-rate", "rps"],
            "the rate of a group is `arrivals`, for example `arrivals: 6/s`"
        ),
        (["target", "url", "host", "baseUrl"], "the target is an option: `run --target URL`"),
    ]

    /// Toxiproxy's `toxicity`, and what a share is called elsewhere.
    private static let shares: Set<String> = [
        "rate", "probability", "percent", "percentage", "toxicity", "share",
    ]

    /// What another tool's key is called here; nil if it is none, or where only keys of a part are known. `known`: the keys of
    /// the map; those of a scenario and of a group are confused with those of other tools.
    static func help(key: String, among known: [String]) -> String? {
        if known.contains("chance"), Self.shares.contains(key) {
            return "a share is `chance`, for example `chance: 10%`"
        }
        if known.contains("dns-delay"), LinkPreset.named(key) != nil {
            return "the phones of a group have one link: make a group for each, such as `network: \(key)`"
        }
        guard known.contains("fleet") || known.contains("phones") else { return nil }
        return self.keys.first { $0.words.contains(key) }?.help
    }

    /// Metrics of other tools, for the help of an unknown one.
    static func help(metric: String) -> String? {
        switch metric {
        case "http_req_duration", "http_req_waiting", "response_time", "http.response_time":
            "k6's `http_req_duration` is `upload.time`, `results.time` or `cleanup.time`, by request"
        case "http_req_failed", "error_rate", "errors":
            "k6's `http_req_failed` is `upload.failed`, `results.failed` and others"
        case "iteration_duration": "k6's `iteration_duration` is `scan.time`"
        case "iterations": "k6's `iterations` are `scans.completed`"
        case "dropped_iterations": "k6's `dropped_iterations` are `arrivals.late`"
        case "http_reqs": "answers are counted by status, as in `http.200`"
        case "http_req_connecting": "k6's `http_req_connecting` is `net.connect.time`"
        case "http_req_tls_handshaking": "k6's `http_req_tls_handshaking` is `net.tls.time`"
        default: nil
        }
    }

    /// The keys that another tool's key replaces, so that they are not missed in addition.
    static func meant(by key: String) -> [String] {
        switch key {
        case "vus", "users", "maxVUs", "preAllocatedVUs", "clients": ["phones"]
        case "stages", "ramp", "phases", "ramping", "rampUp", "ramp-up", "rate", "arrivalRate",
            "arrival-rate",
            "rps":
            ["arrivals"]
        case "sleep", "pause", "pacing", "thinkTime", "think-time": ["think"]
        default: []
        }
    }
}
