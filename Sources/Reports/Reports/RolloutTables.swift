import Metrics
import RunJudge
import RunMetrics
import SimBase
import Talaria

/// The tables and sentences of a rollout, for all formats.
struct RolloutTables {
    private let rollout: RolloutSummary
    private let world: WorldKind

    /// Nil for a run without a rollout.
    init?(_ result: RunResult) {
        guard let rollout = result.rollout else { return nil }
        self.rollout = rollout
        self.world = result.world
    }

    var all: [DocumentTable] { [self.arms, self.stages].filter { !$0.isEmpty } }

    private typealias Arm = RolloutSummary.Arm

    // MARK: Arms

    private var arms: DocumentTable {
        DocumentTable(
            id: "rollout", tableID: "rollout-arms", title: "Rollout",
            note: [self.rollback, self.harmed, self.changes].compactMap { $0 }.joined(separator: " "),
            rows: self.rollout.arms,
            [DocumentColumn("arm", .name) { .mono($0.transport.name) }] + Self.figures + [
                .init("people", .number) { Self.count($0.people) },
                .init("p50", .number) { Self.time($0.p50) }, .init("p95", .number) { Self.time($0.p95) },
                .init("causes", .sentence) { arm in
                    .init(
                        arm.failures.map { "\($0.cause) \(Figures.count($0.count))" }.joined(separator: ", "))
                },
            ])
    }

    /// A row for each arm of each stage, in the order of time.
    private var stages: DocumentTable {
        let rows = self.rollout.periods.flatMap { period in
            period.arms.enumerated().map { (period: period, isFirst: $0.offset == 0, arm: $0.element) }
        }
        return DocumentTable(
            id: "rollout-stages", tableID: "rollout-stages-table", title: "Rollout by stage", rows: rows,
            [
                DocumentColumn("from", .name) { row in
                    .init(row.isFirst ? Figures.clock(row.period.from.nanoseconds) : "")
                },
                .init("stage", .name) { .init($0.isFirst ? Self.name($0.period) : "") },
                .init("arm", .name) { .mono($0.arm.transport.name) },
            ]
                + Self.figures.map { $0.of { $0.arm } })
    }

    private static var figures: [DocumentColumn<Arm>] {
        [
            .init("phones", .number) { Self.count($0.phones) },
            .init("scans", .number) { Self.count($0.scans) },
            .init("failed", .number) { Self.share($0.jobs) },
            .init("connects", .number) { arm in
                let succeeded = arm.connects.total - arm.connects.failed
                return .init(
                    arm.connects.total == 0
                        ? "–" : Figures.share(FailureRate(failed: succeeded, total: arm.connects.total)))
            },
            .init("complaints", .number) { Self.share($0.complaints) },
        ]
    }

    private static func name(_ period: RolloutSummary.Period) -> String {
        period.stage.map { "stage \($0), \(Figures.percent(period.share.perMillion))" } ?? "rolled back"
    }

    private static func count(_ count: Int) -> DocumentTable.Cell { .init(Figures.count(count)) }

    private static func share(_ rate: FailureRate) -> DocumentTable.Cell {
        .init(rate.failed == 0 ? "0" : "\(Figures.count(rate.failed)) (\(Figures.share(rate)))")
    }

    private static func time(_ time: Interval?) -> DocumentTable.Cell {
        .init(time.map { Figures.time($0.nanoseconds) } ?? "–")
    }

    // MARK: Sentences

    private var newArm: String { self.rollout.arms[1].transport.name }

    private var rollback: String {
        guard let rollback = self.rollout.rollback else { return "It was not rolled back." }
        let at = Figures.clock(rollback.at.nanoseconds)
        let measure = "\(rollback.measure.rawValue) of \(self.newArm)"
        let (value, limit) = (rollback.value.perMillion, rollback.limit.perMillion)
        let text =
            "Rolled back at \(at): \(measure) were \(Figures.percent(value)), the limit is \(Figures.percent(limit))."
        let recovery =
            rollback.recovery.map {
                "Within \(Figures.length($0, short: true)), the \(rollback.measure.rawValue) of all phones met it again."
            }
            ?? "Until the end of the run, the \(rollback.measure.rawValue) of all phones did not meet it for a minute."
        return "\(text) \(recovery)"
    }

    private var harmed: String {
        let people = Figures.count(self.rollout.harmed, "person", "people")
        guard self.rollout.rollback != nil else { return "\(people) complained on \(self.newArm)." }
        let otherwise =
            self.rollout.harmedWithoutRollback.map {
                "without the rollback, \(Figures.count($0)) would have (the same run with `rollback: off`)"
            }
            ?? (self.world == .live
                ? "how many would have without the rollback was not measured, because a live run cannot be repeated"
                : "how many would have without the rollback was not measured")
        return "\(people) complained on \(self.newArm); \(otherwise)."
    }

    /// Phones that move with the share are left out.
    private var changes: String? {
        guard self.rollout.changes > 0 else { return nil }
        let phones = Figures.count(self.rollout.changedPhones, "phone", "phones")
        return
            "\(phones) changed arms \(Figures.count(self.rollout.changes, "time", "times")) while the share was the same: cohorts are not sticky."
    }
}
