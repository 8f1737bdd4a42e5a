import Observations
import SimBase
import Talaria
import Testing

@testable import Ledger

/// What phones choose in a rollout is what its stages say.
@Suite struct RolloutCheckTests {
    private static let second = Interval.seconds(1)

    private static func staged() -> RolloutCheck {
        var check = RolloutCheck()
        check.record(.rolloutStage(1, share: .percent(5)), at: .zero)
        check.record(.rolloutStage(2, share: .percent(25)), at: .zero + .minutes(1))
        return check
    }

    @Test func `a phone chooses by the share of the last stage, and for a second by the one before`() {
        let check = Self.staged()
        let since = Instant.zero + .minutes(1)
        #expect(check.objection(to: .percent(25), at: since + .hours(1)) == nil)
        #expect(check.objection(to: .percent(5), at: since + Self.second) == nil)
        #expect(
            check.objection(to: .percent(5), at: since + Self.second + .milliseconds(1))
                == "a phone chose its transport by a share of 50000 ppm, but the rollout has 250000")
        #expect(check.objection(to: .percent(100), at: since) != nil)
        #expect(RolloutCheck().objection(to: .percent(5), at: .zero) == nil)
    }

    @Test func `after a rollback no phone has the new arm`() {
        var check = Self.staged()
        let moment = Instant.zero + .minutes(2)
        check.record(.rolledBack(.errors, value: .percent(9), limit: .percent(5)), at: moment)
        #expect(check.objection(to: .never, at: moment + .hours(1)) == nil)
        #expect(check.objection(to: .percent(25), at: moment + .seconds(2)) != nil)
    }

    @Test(arguments: [true, false]) func `a phone stays in its cohort, as long as the share is the same`(
        isSticky: Bool
    ) {
        var choices = RolloutChoices()
        func chose(_ arm: StreamTransport, _ share: Odds, _ scan: UInt32) -> String? {
            choices.chose(arm, share, ScanNumber(scan), isSticky: isSticky)
        }
        #expect(chose(.websocket, .percent(5), 1) == nil)
        #expect(chose(.websocket, .percent(5), 2) == nil)
        #expect(chose(.sse, .percent(25), 3) == nil)
        let left = isSticky ? "a phone left its cohort of the rollout: WebSocket after SSE" : nil
        #expect(chose(.websocket, .percent(25), 4) == left)
    }

    @Test func `a job is followed by what its last upload chose`() {
        var choices = RolloutChoices()
        #expect(choices.objection(to: .websocket, ScanNumber(1)) == nil)
        _ = choices.chose(.sse, .percent(25), ScanNumber(1), isSticky: true)
        #expect(
            choices.objection(to: .websocket, ScanNumber(1))
                == "a job is followed by WebSocket, but the rollout chose SSE")
        _ = choices.chose(.websocket, .never, ScanNumber(1), isSticky: true)
        #expect(choices.objection(to: .websocket, ScanNumber(1)) == nil)
    }

    @Test func `the harness holds a choice against the rollout of its run`() {
        func errors(_ share: Odds) -> [String] {
            HarnessStory {
                $0.control(.rolloutStage(1, share: .percent(5)))
                $0.pass(.minutes(1))
                $0.phone(.armTaken(.websocket, share: share))
            }.errors(rolloutIsSticky: true)
        }
        #expect(errors(.percent(5)) == [])
        #expect(errors(.percent(6)).count == 1)
    }
}
