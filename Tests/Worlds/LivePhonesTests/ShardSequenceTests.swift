import Observations
import SimBase
import Talaria
import Testing

@testable import LivePhones

/// The reports of a thread, compared with its own numbers.
@Suite struct ShardSequenceTests {
    private static func observations(_ count: Int) -> [Observation] {
        Array(
            repeating: Observation(
                at: .zero, device: DeviceNumber(1), scan: .none, what: .phone(.killed)), count: count)
    }

    private static let reports: [ShardReport.Payload] = [
        .observations(observations(3), before: 0, upTo: .zero), .gauges(FleetGauges()),
        .observations([], before: 3, upTo: .zero), .observations(observations(2), before: 3, upTo: .zero),
        .finished(FleetOutcome(failure: nil), observations: 5),
    ]

    private static func numbered(_ words: [ShardReport.Payload]) -> [ShardReport] {
        words.enumerated().map { ShardReport(thread: 0, number: $0.offset + 1, payload: $0.element) }
    }

    private static func wrongs(_ reports: [ShardReport]) -> [String] {
        var sequence = ShardSequence()
        return reports.compactMap { sequence.check($0) }
    }

    @Test func `a whole account is in step`() {
        #expect(Self.wrongs(Self.numbered(Self.reports)).isEmpty)
    }

    @Test func `a report that is lost, doubled or moved is told by its number`() {
        for lost in 0..<(Self.reports.count - 1) {
            var reports = Self.numbered(Self.reports)
            reports.remove(at: lost)
            #expect(Self.wrongs(reports).first == "received report \(lost + 2) instead of report \(lost + 1)")
        }
        var doubled = Self.numbered(Self.reports)
        doubled.insert(doubled[1], at: 2)
        #expect(Self.wrongs(doubled).first == "received report 2 instead of report 3")
        var moved = Self.numbered(Self.reports)
        moved.swapAt(1, 2)
        #expect(Self.wrongs(moved).first == "received report 3 instead of report 2")
    }

    @Test
    func `an observation that is missing from its batch is told when the next batch comes, or at the end`() {
        var words = Self.reports
        words[0] = .observations(Self.observations(2), before: 0, upTo: .zero)
        #expect(
            Self.wrongs(Self.numbered(words)) == ["received observation 4 instead of observation 3"])
        words = Self.reports
        words[3] = .observations(Self.observations(1), before: 3, upTo: .zero)
        #expect(Self.wrongs(Self.numbered(words)) == ["received 4 of 5 observations"])
    }
}
