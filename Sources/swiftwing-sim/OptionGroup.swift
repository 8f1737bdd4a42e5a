/// The headings under which the help lists options.
enum OptionGroup: String, CaseIterable {
    case load = "load and scenario"
    case target = "target"
    case safety = "safety"
    case clients = "judgement of the clients"
    case shards = "part of a fleet"
    case search = "search"
    case output = "output"
    case other = "other options"

    /// The options of each group, by their names: the same name means the same in every command.
    private static let members: [(group: OptionGroup, names: Set<String>)] = [
        (
            .load,
            [
                "--seed", "--phones", "--duration", "--set", "--fault", "--profile", "--threads", "--state",
                "--settle",
                "--stays-broken", "--ties",
            ]
        ),
        (
            .target,
            [
                "--target", "--cacert", "--http", "--resolve", "--header", "--upstream",
                SameDevices.option.name,
            ]
        ),
        (.safety, ["--allow-target", "--allow-production", "--max-rate", "--ramp"]),
        (
            .shards,
            [
                "--shard", "--processes", "--start-at", "--shard-timeout", "--linked", SameDevices.new.name,
                ShardOptions.agreedHTTP.name,
            ]
        ),
        (
            .search,
            [
                "--seeds", "--faults", "--known-breaks", "--jobs", "--stop-after", "--budget", "--worker",
                "--canary",
            ]
        ),
        (
            .output,
            [
                "--output", "--force", "--tag", "--save-plan", "--trace", "--dashboard",
                RunCommand.dashboardStays, "--quiet", "--no-color", "--baseline", "--previous",
                "--max-regression", "--judge", "--different-scenarios", "--summary-line",
                CollectorOption.option.name,
            ]
        ),
    ]

    static func of(_ option: Option) -> OptionGroup {
        // `compare` judges metrics, and `run` takes profiles.
        if ClientJudge.options.contains(where: { $0.name == option.name && $0.help == option.help }) {
            return .clients
        }
        return self.members.first { $0.names.contains(option.name) }?.group ?? .other
    }

    /// Fewer options need no headings.
    private static let optionsMin = 15

    /// The options under their headings, in the order of `allCases`; under one heading where they are few.
    static func sections(_ options: [Option]) -> [(title: String, options: [Option])] {
        guard options.count >= self.optionsMin else { return [("options", options)] }
        return self.allCases.compactMap { group in
            let members = options.filter { self.of($0) == group }
            return members.isEmpty ? nil : (group.rawValue, members)
        }
    }
}
