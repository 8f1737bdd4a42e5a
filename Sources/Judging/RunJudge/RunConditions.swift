package import SimBase

/// What a scenario does to its run: the faults in words, and the links of the phones over time. Reports show
/// it next to the measurements.
package struct RunConditions: Equatable, Sendable {
    /// The limit of faults, of itineraries and of the phases of an itinerary that are kept.
    package static let entriesMax = 256

    package struct Fault: Equatable, Sendable {
        package var id: String
        /// What it does, where, and when.
        package var text: String
        /// How often the plan expects it to fire; nil if that was not counted.
        package var expected: Int?
        /// The time in which it acts; nil for the whole run.
        package var window: Window?

        package init(id: String, text: String, expected: Int?, window: Window?) {
            self.id = id
            self.text = text
            self.expected = expected
            self.window = window
        }
    }

    /// A part of the run.
    package struct Window: Equatable, Sendable {
        package var from: Instant
        /// Nil if it lasts until the end of the run.
        package var to: Instant?

        package init(from: Instant, to: Instant?) {
            self.from = from
            self.to = to
        }
    }

    /// The links of some groups over time.
    package struct Itinerary: Equatable, Sendable {
        package var groups: [String]
        package var phases: [Phase]

        package init(groups: [String], phases: [Phase]) {
            self.groups = groups
            self.phases = phases
        }
    }

    package struct Phase: Equatable, Sendable {
        /// The name of the link; nil for none.
        package var link: String?
        package var window: Window

        package init(link: String?, window: Window) {
            self.link = link
            self.window = window
        }
    }

    package var faults: [Fault]
    /// The itineraries with more than one phase.
    package var itineraries: [Itinerary]

    package init(faults: [Fault] = [], itineraries: [Itinerary] = []) {
        self.faults = faults
        self.itineraries = itineraries
    }

    package var isEmpty: Bool { self.faults.isEmpty && self.itineraries.isEmpty }

    /// Returns the conditions of one group.
    package func part(_ group: String) -> RunConditions {
        RunConditions(
            faults: self.faults, itineraries: self.itineraries.filter { $0.groups.contains(group) })
    }
}
