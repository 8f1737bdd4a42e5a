package import Search
package import SimBase

/// The parameters of a search.
package struct CampaignRequest {
    package let plans: SeedPlans
    package let seeds: SeedRange
    /// The scenario and the options that shape its plans, as words of a command: those of a worker.
    package let words: [String]
    /// The name of the scenario, for the report.
    package let scenario: String
    /// The goals that at least one seed must reach: those that the scenario names.
    package var goals: [String] = []
    /// Processes at a time.
    package var jobs = 1
    /// Failing seeds after which it ends; nil for never.
    package var stopAfter: Int?
    /// The time after which it ends; nil for no limit.
    package var budget: Interval?
    /// The folder of the plans that fail.
    package var output: String
    package var isQuiet = false

    package init(
        _ plans: SeedPlans, seeds: SeedRange, words: [String], scenario: String, output: String
    ) {
        self.plans = plans
        self.seeds = seeds
        self.words = words
        self.scenario = scenario
        self.output = output
    }
}
