package import JSON
import Search
package import SimBase

/// A failure as JSON, for other programs: `INVARIANT-SEED.json` beside the report (Docs/simulation.md section 8).
///
/// Times end in `_ns`: since the start of the run, or durations.
package struct FailureRecord: Hashable, Sendable {
    /// The version of the format. Keys may be added within one.
    package static let schema = 1
    /// Events that are written.
    package static let eventsMax = 10_000

    /// Something that happened, as both sides observed it.
    package struct Event: Hashable, Sendable {
        package var at: Instant
        package var side: String
        package var device: UInt32
        /// 0 for no scan.
        package var scan: UInt32
        package var text: String
    }

    package struct Fault: Hashable, Sendable {
        package var id: String
        /// All its keys, as in a scenario.
        package var content: String
        /// Whether the run passes without it; nil if that was not tried.
        package var isNeeded: Bool?
    }

    /// The plan of a run in figures.
    package struct PlanFigures: Hashable, Sendable {
        /// The file; nil if it was not saved.
        package var file: String?
        package var phones: Int
        package var captures: Int
        package var faults: [Fault]
        package var settle: Interval?
        package var staysOffline: Int
        package var shufflesTies: Bool
    }

    package struct Point: Hashable, Sendable {
        package var at: Instant
        package var events: Int
        package var failures: Int
    }

    /// The first line of the report.
    package var title: String
    /// The id of the invariant, or `simulation`.
    package var name: String
    package var statement: String?
    package var client: String?
    package var seed: UInt64
    /// The violation: when, whose and what.
    package var violation: Event?
    /// The command that runs the whole seed or plan again.
    package var command: String
    /// Seeds that fail in this way, and seeds that were searched; nil for a plan.
    package var seedsFailing: Int?
    package var seedsSearched: Int?
    /// What the live run broke that the plan is of.
    package var live: String?
    /// How the plan was drawn from the seed, and the version of the generator; nil if it was not.
    package var recipe: String?
    package var original: PlanFigures
    package var smallest: PlanFigures
    /// Sixteen hexadecimal digits each: after all events, and after every 1,024.
    package var digest: String
    package var chain: [String]
    package var events: Int
    package var story: [Event]
    package var situations: [String]
    package var likelihood: [Point]
    package var trials: Int
    package var isConfirmed: Bool
    package var shrinking: Interval
    package var tool: String
    package var machine: String
    package var toolchain: String
}

extension FailureRecord: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("schema", Self.schema)
            writer.member("title", self.title)
            writer.member("invariant", self.name)
            writer.member("statement", self.statement)
            writer.member("client", self.client)
            writer.member("seed", self.seed)
            if let violation = self.violation {
                writer.key("violation")
                Self.write(violation, to: &writer)
            }
            writer.member("command", self.command)
            writer.member("live", self.live)
            writer.member("seeds_failing", self.seedsFailing)
            writer.member("seeds_searched", self.seedsSearched)
            if let recipe = self.recipe {
                writer.object("drawn") { writer in
                    writer.member("recipe", recipe)
                    writer.member("generator", SwarmPlans.version)
                }
            }
            writer.key("original")
            Self.write(self.original, to: &writer)
            writer.key("smallest")
            Self.write(self.smallest, to: &writer)
            writer.member("digest", self.digest)
            writer.array("chain", self.chain) { $0.text($1) }
            writer.member("events", self.events)
            writer.array("story", self.story) { Self.write($1, to: &$0) }
            writer.array("situations", self.situations) { $0.text($1) }
            self.writeLikelihood(to: &writer)
            writer.object("shrinking") { writer in
                writer.member("runs", self.trials)
                writer.member("took_ns", self.shrinking.nanoseconds)
                writer.member("confirmed", self.isConfirmed)
            }
            writer.object("host") { writer in
                writer.member("tool", self.tool)
                writer.member("machine", self.machine)
                writer.member("toolchain", self.toolchain)
            }
        }
    }

    private func writeLikelihood(to writer: inout JSONWriter) {
        writer.array("likelihood", self.likelihood) { writer, point in
            writer.object { writer in
                writer.member("at_ns", point.at.nanoseconds)
                writer.member("events", point.events)
                writer.member("failures", point.failures)
                writer.member("of", Likelihood.forks)
            }
        }
    }

    private static func write(_ event: Event, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("at_ns", event.at.nanoseconds)
            writer.member("side", event.side)
            writer.member("device", event.device)
            if event.scan > 0 { writer.member("scan", event.scan) }
            writer.member("text", event.text)
        }
    }

    private static func write(_ plan: PlanFigures, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("file", plan.file)
            writer.member("phones", plan.phones)
            writer.member("captures", plan.captures)
            writer.array("faults", plan.faults) { writer, fault in
                writer.object { writer in
                    writer.member("id", fault.id)
                    writer.member("content", fault.content)
                    writer.member("needed", fault.isNeeded)
                }
            }
            writer.member("settle_ns", plan.settle?.nanoseconds)
            writer.member("stays_offline_ppm", plan.staysOffline)
            writer.member("ties", plan.shufflesTies ? "shuffled" : "fixed")
        }
    }
}
