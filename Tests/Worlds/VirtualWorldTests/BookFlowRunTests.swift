import Faults
import Ledger
import Phone
import Plan
import SimBase
import Talaria
import Testing
import VirtualWorld

/// The way of the books of whole runs, group by group.
@Suite struct BookFlowRunTests {
    private enum Group: Int, CaseIterable { case texts, photos, reviewed, inMemory, readAndReviewed, scans }

    private static func review(_ profile: inout ClientProfile, _ storage: ReviewStorage = .durable) {
        profile.review.storage = storage
        profile.reviewer.isMade = true
        profile.reviewer.approve = .percent(50)
        profile.reviewer.edit = .percent(20)
        profile.reviewer.reject = .percent(20)
        profile.reviewer.after = .milliseconds(200)...(.seconds(3))
        profile.reviewer.again = .percent(30)
        profile.cancel.chance = .percent(20)
        profile.cancel.after = .milliseconds(100)...(.seconds(2))
    }

    private static func profile(_ group: Group, _ profile: inout ClientProfile) {
        switch group {
        case .texts: profile.journey = .textEnrichment
        case .photos:
            profile.journey = .textEnrichment
            profile.upload.photoBelow = 80
        case .reviewed: Self.review(&profile)
        case .inMemory: Self.review(&profile, .memory)
        case .readAndReviewed:
            profile.journey = .textEnrichment
            Self.review(&profile)
        case .scans: profile.cancel.chance = .percent(20)
        }
    }

    private static func plan(_ faults: [FaultSpec]) -> WorldPlan {
        let groups = Group.allCases.map { group in
            var spec = Bench.group("\(group)", devices: 4, scans: 3) { Self.profile(group, &$0) }
            spec.reader.accuracy = .percent(60)
            return spec
        }
        return Bench.plan(Bench.scenario(groups: groups, faults: faults))
    }

    /// The books on the photographs of each group, by what was captured.
    private static func photographed(_ run: Bench.Outcome, _ plan: RunPlan) -> [Int] {
        run.observations.reduce(into: Group.allCases.map { _ in 0 }) { counts, observation in
            guard case .phone(.captured) = observation.what else { return }
            counts[Int(observation.device.raw) / 4] +=
                plan.shelf.count(device: observation.device, scan: observation.scan)
        }
    }

    /// Whether the equation of `BookFlow` holds.
    private static func addsUp(_ flow: BookFlow) -> Bool {
        let review = flow.review
        let ends =
            [flow.library, review.pending, review.rejected, review.merged, review.lost]
            + [flow.pending, flow.refused, flow.canceled, flow.discarded, flow.missing]
        return flow.photographed + flow.besides + flow.duplicated == ends.reduce(0, +)
    }

    @Test(arguments: Kinds.all)
    func `the books of each group add up, whatever fails`(sample: Kinds.Sample) throws {
        let plan = Self.plan(sample.faults)
        let run = try Bench.run(plan)
        let photographed = Self.photographed(run, plan.run)
        var fleet = BookFlow()
        for (group, totals) in zip(Group.allCases, run.ledger.totalsByGroup) {
            let flow = BookFlow(totals)
            #expect(Self.addsUp(flow) && flow.besides == 0, "\(group): \(totals.books)")
            #expect(flow.photographed == photographed[group.rawValue], "\(group): \(totals.books)")
            fleet.add(flow)
        }
        #expect(Self.addsUp(fleet))
        let (texts, reviewed) = (run.ledger.totalsByGroup[0], run.ledger.totalsByGroup[2])
        #expect(BookFlow(texts).library == texts.books.received)
        #expect(BookFlow(reviewed).library == reviewed.books.review.approved)
    }

    @Test func `what was read and what was found are compared with the spine`() throws {
        let run = try Bench.run(Self.plan([]))
        let texts = run.ledger.totalsByGroup[0].texts
        let differences = texts.differences
        let wrong = TextDifferences.Kind.allCases.reduce(0) { sum, kind in
            sum + (kind.chosen.rawValue == kind.right.rawValue ? 0 : differences.counts[kind])
        }
        #expect(texts.kept == 0 && wrong == texts.wrong && wrong > 0)
        #expect(differences.counts.total > differences.first.count || differences.first.count < 20)
        let places = differences.first.map { [$0.device.raw, $0.scan.raw] }
        #expect(places == places.sorted { $0.lexicographicallyPrecedes($1) } && !places.isEmpty)
        #expect(differences.first.allSatisfy { $0.read != $0.verified && $0.kind.right == .talaria })
    }
}
