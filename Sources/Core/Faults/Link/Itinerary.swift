package import SimBase

/// A link and the name that it goes by.
package struct NamedLink: Hashable, Sendable {
    package var name: String
    package var profile: LinkProfile

    package init(name: String, profile: LinkProfile) {
        self.name = name
        self.profile = profile
    }

    package init(_ preset: LinkPreset) {
        self.init(name: preset.name, profile: preset.profile)
    }
}

/// The links of a phone over time, for example on a trip through a city.
///
/// A step lasts until the next one, or for its own time; then the link is the one that it would be without
/// the step. A step without a link is a tunnel: the phone has no path and knows it. A change of links changes
/// the timing of bytes from then on; connections survive it, as they survive a change of a radio's mode. The
/// fault `handover` ends them.
package struct Itinerary: Hashable, Sendable {
    package static let stepsMax = 256

    package struct Step: Hashable, Sendable {
        /// The time since the start of the run.
        package var at: Interval
        /// Nil: no path.
        package var link: NamedLink?
        /// Nil: until the next step.
        package var length: Interval?

        package init(at: Interval, link: NamedLink?, length: Interval?) {
            self.at = at
            self.link = link
            self.length = length
        }
    }

    /// A span of time with one link.
    private struct Leg: Hashable, Sendable {
        var from: Instant
        var link: NamedLink?
        /// The link whose timing the server applies: in a tunnel, the link before it, since data sent during
        /// a tunnel is not seen.
        var profile: LinkProfile
    }

    package let steps: [Step]
    private let legs: [Leg]

    /// Steps in the order of time, no two at the same; the first begins with the run and has no length.
    package init(_ steps: [Step]) {
        precondition(steps.first.map { $0.at == .zero && $0.length == nil } ?? false, "it begins somewhere")
        precondition(
            zip(steps, steps.dropFirst()).allSatisfy { $0.at < $1.at }, "steps are in the order of time")
        precondition(steps.allSatisfy { $0.length.map { $0 > .zero } ?? true }, "a step takes time")
        self.steps = steps
        var moments = steps.map { Instant.zero + $0.at }
        moments += steps.compactMap { step in step.length.map { Self.end(of: step, $0) } }
        var legs: [Leg] = []
        var profile = steps.compactMap(\.link).first?.profile ?? .perfect
        for moment in moments.sorted() where moment != legs.last?.from && moment < .distantFuture {
            let link = Self.link(at: moment, of: steps)
            profile = link?.profile ?? profile
            if let last = legs.last, last.link == link { continue }
            legs.append(Leg(from: moment, link: link, profile: profile))
        }
        self.legs = legs
    }

    /// Returns an itinerary of one link.
    package static func always(_ link: NamedLink) -> Itinerary {
        Itinerary([Step(at: .zero, link: link, length: nil)])
    }

    /// The link at a time; nil without a path.
    package func link(at moment: Instant) -> NamedLink? { self.leg(at: moment).link }

    /// Returns the link whose timing applies at a time; in a tunnel, the link before it.
    package func profile(at moment: Instant) -> LinkProfile { self.leg(at: moment).profile }

    /// Returns the time of the next change; nil if there is none.
    package func nextChange(after moment: Instant) -> Instant? {
        self.legs.first { $0.from > moment }?.from
    }

    /// The link at the start; nil if the run begins without a path.
    package var first: NamedLink? { self.steps[0].link }

    /// The times without a path, in order; one that never ends lasts until `distantFuture`.
    package var tunnels: [(from: Instant, to: Instant)] {
        self.legs.enumerated().compactMap { index, leg in
            guard leg.link == nil else { return nil }
            let to = index + 1 < self.legs.count ? self.legs[index + 1].from : .distantFuture
            return (leg.from, to)
        }
    }

    private func leg(at moment: Instant) -> Leg {
        self.legs.last { $0.from <= moment } ?? self.legs[0]
    }

    private static func link(at moment: Instant, of steps: [Step]) -> NamedLink? {
        let inForce = steps.last { step in
            Instant.zero + step.at <= moment && (step.length.map { moment < self.end(of: step, $0) } ?? true)
        }
        return inForce?.link
    }

    private static func end(of step: Step, _ length: Interval) -> Instant {
        (Instant.zero + step.at) + length
    }
}
