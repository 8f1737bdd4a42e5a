import Faults
import Plan
import RunJudge
import ScenarioFile
import SimBase

extension RunConditions {
    /// Counting the expected firings takes a draw for each fault and arrival. A run of more is not kept waiting for it.
    private static let drawsMax = 1_000_000

    /// Creates the conditions of a run by its plan.
    init(_ plan: RunPlan) {
        let scenario = plan.scenario
        let arrivals = plan.groups.reduce(0) { $0 + $1.spec.devices * $1.spec.scansPerDevice }
        let isCounted = !scenario.faults.isEmpty && arrivals <= Self.drawsMax / scenario.faults.count
        let firings = isCounted ? plan.expectedFirings : []
        let faults = scenario.faults.prefix(Self.entriesMax).enumerated().map { index, fault in
            Fault(
                id: fault.id, text: FaultSentence.text(fault),
                expected: firings.indices.contains(index) ? firings[index] : nil,
                window: Self.window(of: fault))
        }
        self.init(faults: faults, itineraries: Self.itineraries(plan))
    }

    /// Nil for a fault that acts during the whole run. One that each phone meets at its own time has the time of all of them.
    private static func window(of fault: FaultSpec) -> Window? {
        let window = fault.window
        guard window.at > .zero || window.length != nil else { return nil }
        return Window(
            from: .zero + window.at, to: window.end.map { $0 + fault.spread })
    }

    /// Groups with the same links over time share an itinerary.
    private static func itineraries(_ plan: RunPlan) -> [Itinerary] {
        var itineraries: [Itinerary] = []
        for group in plan.groups {
            let phases = Self.phases(group.spec.network)
            guard phases.count > 1 else { continue }
            if let index = itineraries.firstIndex(where: { $0.phases == phases }) {
                itineraries[index].groups.append(group.spec.name)
            } else {
                itineraries.append(Itinerary(groups: [group.spec.name], phases: phases))
            }
        }
        return Array(itineraries.prefix(Self.entriesMax))
    }

    private static func phases(_ network: Faults.Itinerary) -> [Phase] {
        var phases: [Phase] = []
        var moment: Instant? = .zero
        while let from = moment, phases.count < Self.entriesMax {
            let next = network.nextChange(after: from)
            phases.append(
                Phase(link: network.link(at: from)?.name, window: Window(from: from, to: next)))
            moment = next
        }
        return phases
    }
}
