import RunJudge

extension OpenReason {
    /// After "could not be judged".
    var words: String {
        switch self {
        case .target: "without a simulated backend"
        case .simulatedClock: "on a simulated clock"
        case .cutShort: "because the run was cut short"
        case .phonesMissing: "because phones are missing"
        case .shard: "before the shards are merged"
        case .failure: "because the run failed"
        case .noCommonZero: "because the merged runs share no start"
        }
    }

    /// Next to an objective or an invariant.
    var remark: String { "could not be judged " + self.words }
}

extension Obligations {
    /// The outcome of everything that had to be judged: `5 SLOs and 9 invariants held; 4 invariants could not
    /// be judged without a simulated backend; 6 invariants had no occasion`.
    var sentence: String {
        let judged = [
            Self.both(self.objectives.broken, self.invariants.broken).map { "\($0) failed" },
            self.isWhole
                ? ExitReasons.meaningOfNone
                : Self.both(self.objectives.held, self.invariants.held).map { "\($0) held" },
            Self.both(self.objectives.excused, self.invariants.excused).map {
                "\($0) failed as the scenario allows"
            },
        ]
        let open = OpenReason.allCases.map { reason in
            Self.both(self.objectives.open[reason] ?? 0, self.invariants.open[reason] ?? 0)
                .map { "\($0) \(reason.remark)" }
        }
        let idle = Self.both(0, self.invariants.withoutOccasion).map { "\($0) had no occasion" }
        return (judged + open + [idle]).compactMap { $0 }.joined(separator: "; ")
    }

    /// Whether the run passed, nothing failed and nothing was left open.
    private var isWhole: Bool {
        self.isPassed
            && [self.objectives, self.invariants].allSatisfy { $0.broken + $0.excused + $0.openCount == 0 }
    }

    /// `2 SLOs and 1 invariant`; nil for neither.
    private static func both(_ objectives: Int, _ invariants: Int) -> String? {
        Figures.listed(
            Figures.counts([(objectives, "SLO", "SLOs"), (invariants, "invariant", "invariants")]))
    }
}
