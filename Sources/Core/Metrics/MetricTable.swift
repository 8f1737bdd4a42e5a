package import SimBase
package import Talaria

/// A group of the fleet by its position in the scenario; what belongs to no group has `none`.
package struct MetricGroup: Hashable, Sendable {
    /// 0 for no group, then the groups in their order.
    package let position: Int

    package static let none = MetricGroup(position: 0)

    private init(position: Int) { self.position = position }

    /// Creates the group with an index, from 0, in the order of the table's groups.
    package init(index: Int) {
        precondition(index >= 0, "groups are counted from 0")
        self.position = index + 1
    }
}

/// The part of the fleet that a metric describes.
package enum MetricScope: Hashable, Sendable {
    /// Every group, and what belongs to none.
    case fleet
    case group(String)

    /// What follows a name in scenario files.
    var suffix: String {
        switch self {
        case .fleet: ""
        case .group(let name): "{group:\(name)}"
        }
    }
}

/// A value, or the plain statement that this run cannot know it: never 0, and neither a success nor a failure.
package enum Reading<Value: Sendable>: Sendable {
    case measured(Value)
    case notAvailable
}

extension Reading: Equatable where Value: Equatable {}

/// All metrics of a run, by group of the fleet.
///
/// A value is recorded in its group only; the fleet's is the sum, made when it is requested. Shards have a table each,
/// and `add` them up.
package struct MetricTable: Sendable, Equatable {
    /// The names of the groups, in the order of the scenario.
    package let groups: [String]
    /// The metrics outside of groups, then one set for each group.
    private var sets: [MetricSet]
    private var unavailable: Set<Metric> = []
    /// What books cost; nil in a run without prices, in which no cost is available.
    package var prices: BookPrices?

    package init(groups: [String]) {
        precondition(Set(groups).count == groups.count, "a group has one place")
        self.groups = groups
        self.sets = [MetricSet](repeating: MetricSet(), count: groups.count + 1)
    }

    // MARK: Recording

    package mutating func record(_ metric: LatencyMetric, _ time: Interval, in group: MetricGroup) {
        self.sets[group.position].record(metric, time)
    }

    /// An operation that has not ended.
    package mutating func record(unfinished metric: LatencyMetric, age: Interval, in group: MetricGroup) {
        self.sets[group.position].record(unfinished: metric, age: age)
    }

    package mutating func record(_ metric: RateMetric, failed: Bool, in group: MetricGroup) {
        self.sets[group.position].record(metric, failed: failed)
    }

    package mutating func add(_ rate: FailureRate, to metric: RateMetric, in group: MetricGroup) {
        self.sets[group.position].add(rate, to: metric)
    }

    /// Takes off what was added before.
    package mutating func subtract(_ rate: FailureRate, from metric: RateMetric, in group: MetricGroup) {
        self.sets[group.position].subtract(rate, from: metric)
    }

    package mutating func add(_ count: Int64, to metric: CountMetric, in group: MetricGroup) {
        self.sets[group.position].add(count, to: metric)
    }

    package mutating func add(_ books: PricedBooks, in group: MetricGroup) {
        self.sets[group.position].add(books)
    }

    package mutating func answered(_ operation: Operation? = nil, status: Int, in group: MetricGroup) {
        self.sets[group.position].answered(operation, status: status)
    }

    package mutating func answered(_ probe: TargetProbe, status: Int, in group: MetricGroup) {
        self.sets[group.position].answered(probe, status: status)
    }

    package mutating func fired(fault id: String, in group: MetricGroup) {
        self.sets[group.position].fired(fault: id)
    }

    /// Lists a fault at 0 until it fires.
    package mutating func declare(fault id: String) {
        self.sets[MetricGroup.none.position].declare(fault: id)
    }

    /// This run cannot know the metric: every reading of it is `notAvailable` from now on, whatever is recorded, and so
    /// is that of any table that adds this one.
    package mutating func cannotKnow(_ metric: Metric) {
        self.unavailable.insert(metric)
    }

    /// Nor what the other one cannot know.
    package mutating func cannotKnow(whatIsUnknownTo other: MetricTable) {
        self.unavailable.formUnion(other.unavailable)
    }

    /// Adds another table, as if its values had been recorded here. The groups must be the same.
    package mutating func add(_ other: MetricTable) {
        precondition(self.groups == other.groups, "tables of different fleets cannot be added")
        for position in self.sets.indices { self.sets[position].add(other.sets[position]) }
        self.unavailable.formUnion(other.unavailable)
        self.prices = self.prices ?? other.prices
    }

    /// Takes in a set that was gathered elsewhere.
    package mutating func add(_ set: MetricSet, in group: MetricGroup) {
        self.sets[group.position].add(set)
    }

    /// Back to nothing, keeping memory, groups and what cannot be known.
    package mutating func reset() {
        for position in self.sets.indices { self.sets[position].reset() }
    }

    // MARK: Reading

    package func isAvailable(_ metric: Metric) -> Bool { !self.unavailable.contains(metric) }

    /// What is measured of the whole fleet alone says nothing of a group.
    private func isAvailable(_ metric: Metric, of scope: MetricScope) -> Bool {
        self.isAvailable(metric) && (scope == .fleet || !metric.isOfWholeFleet)
    }

    package func histogram(_ metric: LatencyMetric, of scope: MetricScope) -> Reading<HDRHistogram> {
        guard self.isAvailable(.latency(metric), of: scope) else { return .notAvailable }
        let used = self.positions(scope).filter { !self.sets[$0].histogram(metric).isEmpty }
        // Nothing is added up where there is only one.
        if used.count == 1 { return .measured(self.sets[used[0]].histogram(metric)) }
        return .measured(
            self.positions(scope).reduce(into: HDRHistogram()) { $0.add(self.sets[$1].histogram(metric)) })
    }

    /// The operations that no histogram holds because they have not ended. Of a run that continues there is none.
    package func unfinished(_ metric: LatencyMetric, of scope: MetricScope) -> Unfinished {
        guard self.isAvailable(.latency(metric)) else { return Unfinished() }
        return self.positions(scope).reduce(into: Unfinished()) { $0.add(self.sets[$1].unfinished(metric)) }
    }

    package func rate(_ metric: RateMetric, of scope: MetricScope) -> Reading<FailureRate> {
        guard self.isAvailable(.rate(metric)) else { return .notAvailable }
        return .measured(
            self.positions(scope).reduce(into: FailureRate()) { $0.add(self.sets[$1].rate(metric)) })
    }

    package func count(_ metric: CountMetric, of scope: MetricScope) -> Reading<Int64> {
        guard self.isAvailable(.count(metric), of: scope) else { return .notAvailable }
        return .measured(self.positions(scope).reduce(0) { $0 + self.sets[$1].count(metric) })
    }

    package func rate(_ metric: AnswerMetric, of scope: MetricScope) -> Reading<FailureRate> {
        guard self.isAvailable(.http(metric)) else { return .notAvailable }
        return .measured(
            self.positions(scope).reduce(into: FailureRate()) { $0.add(self.sets[$1].answers.rate(metric)) })
    }

    /// What the books of a part of the fleet cost; nil without books.
    package func cost(_ metric: CostMetric, of scope: MetricScope) -> Reading<Cost?> {
        guard let prices = self.prices, metric != .perMonth || prices.booksPerMonth != nil else {
            return .notAvailable
        }
        let books = self.positions(scope).reduce(into: PricedBooks()) { $0.add(self.sets[$1].books) }
        return .measured(Cost(metric, of: books, at: prices))
    }

    package func count(fault id: String, of scope: MetricScope) -> Reading<Int64> {
        guard self.isAvailable(.fault(id: id)) else { return .notAvailable }
        return .measured(self.positions(scope).reduce(0) { $0 + self.sets[$1].faults[id] })
    }

    /// Returns the metrics of one group only.
    package func set(in group: MetricGroup) -> MetricSet { self.sets[group.position] }

    /// Returns the table of one group alone, as if it were the fleet. Its faults are those of the whole fleet, in their order.
    package func part(_ group: String) -> MetricTable {
        var part = MetricTable(groups: [group])
        part.unavailable = self.unavailable
        part.unavailable.formUnion(Metric.ofWholeFleet)
        part.prices = self.prices
        for id in self.everything(of: .fleet).faults.names { part.declare(fault: id) }
        for position in self.positions(.group(group)) { part.sets[1].add(self.sets[position]) }
        return part
    }

    /// Everything of a part of the fleet at once, for reports. It does not say what is not available.
    package func everything(of scope: MetricScope) -> MetricSet {
        self.positions(scope).reduce(into: MetricSet()) { $0.add(self.sets[$1]) }
    }

    /// A group that the fleet does not have has recorded nothing.
    private func positions(_ scope: MetricScope) -> [Int] {
        switch scope {
        case .fleet: Array(self.sets.indices)
        case .group(let name): self.groups.firstIndex(of: name).map { [$0 + 1] } ?? []
        }
    }
}
