package import SimBase

/// A time of a staged load: the rate at its start and at its end, changing linearly between.
package struct ArrivalStage: Hashable, Sendable {
    /// Nil is nothing at all.
    package let from: ArrivalRate?
    package let to: ArrivalRate?
    package let length: Interval

    /// The rates over one denominator: a number of arrivals in `per` nanoseconds. All three are below 2^63.
    private let fromTerm: UInt128
    private let toTerm: UInt128
    private let per: UInt128

    /// `length` must be above zero. Rates whose common denominator needs more than 63 bits lose what is
    /// below: less than one arrival in a century.
    package init(from: ArrivalRate?, to: ArrivalRate?, length: Interval) {
        precondition(length > .zero, "a stage takes time")
        self.from = from
        self.to = to
        self.length = length
        let first = UInt128(from?.per.nanoseconds ?? 1)
        let second = UInt128(to?.per.nanoseconds ?? 1)
        let divisor = first.commonDivisor(with: second)
        var terms = (
            from: UInt128(from?.arrivals ?? 0) * (second / divisor),
            to: UInt128(to?.arrivals ?? 0) * (first / divisor), per: first * (second / divisor)
        )
        while max(terms.from, terms.to, terms.per) >> 63 != 0 {
            terms = (terms.from >> 1, terms.to >> 1, terms.per >> 1)
        }
        (self.fromTerm, self.toTerm, self.per) = (terms.from, terms.to, max(1, terms.per))
    }

    /// Creates a stage with a constant rate.
    package init(_ rate: ArrivalRate?, length: Interval) { self.init(from: rate, to: rate, length: length) }

    /// Whether nothing arrives in it.
    package var isPause: Bool { self.from == nil && self.to == nil }

    /// The arrivals of the whole stage, rounded up, so that the parts of a whole never fall short of it.
    var total: ArrivalPosition {
        let (quotient, remainder) = self.position(after: self.lengthTerm)
        return quotient + (remainder ? 1 : 0)
    }

    /// Returns the number of arrivals after a time; the total after the end.
    func position(after time: Interval) -> ArrivalPosition {
        time >= self.length ? self.total : self.position(after: UInt128(max(0, time.nanoseconds))).quotient
    }

    /// The last time by which no more than `position` has arrived: with rates r0 and r1 and the length L, the
    /// largest t for which r0 t + (r1 - r0) t^2 / 2L is at most that. Found by halving, because a square root
    /// would have to be rounded.
    func time(of position: ArrivalPosition) -> Interval {
        // t (A (2L - t) + B t) / (2 L P), with t and the position in the same units of 2^-32.
        if self.fromTerm == self.toTerm, self.fromTerm > 0 { return self.time(ofConstant: position) }
        let limit = position.multipliedFullWidth(by: 2 * self.lengthTerm * self.per)
        var (low, high) = (UInt128(0), self.lengthTerm)
        while low < high {
            let middle = (low + high + 1) / 2
            let reached = (middle << 32).multipliedFullWidth(by: self.area(middle))
            if (reached.high, reached.low) <= (limit.high, limit.low) {
                low = middle
            } else {
                high = middle - 1
            }
        }
        return Interval(nanoseconds: Int64(low))
    }

    /// The same at a constant rate, which is a division.
    private func time(ofConstant position: ArrivalPosition) -> Interval {
        let product = position.multipliedFullWidth(by: self.per)
        let divisor = self.fromTerm << 32
        guard product.high < divisor else { return self.length }
        return Interval(
            nanoseconds: Int64(min(divisor.dividingFullWidth(product).quotient, self.lengthTerm)))
    }

    /// The rate times `numerator` over `denominator`, both above zero.
    func scaled(by numerator: Int64, over denominator: Int64) -> ArrivalStage {
        ArrivalStage(
            from: self.from?.scaled(by: numerator, over: denominator),
            to: self.to?.scaled(by: numerator, over: denominator), length: self.length)
    }

    private var lengthTerm: UInt128 { UInt128(self.length.nanoseconds) }

    /// Twice the mean rate up to that time, times the length.
    private func area(_ time: UInt128) -> UInt128 {
        self.fromTerm * (2 * self.lengthTerm - time) + self.toTerm * time
    }

    private func position(after time: UInt128) -> (quotient: ArrivalPosition, remainder: Bool) {
        let product = (time << 32).multipliedFullWidth(by: self.area(time))
        let divisor = 2 * self.lengthTerm * self.per
        guard product.high < divisor else { return (.max, false) }
        let (quotient, remainder) = divisor.dividingFullWidth(product)
        return (quotient, remainder > 0 && quotient < .max)
    }
}

/// A number of arrivals in units of 2^-32.
package typealias ArrivalPosition = UInt128

/// Stages that follow each other; after the last of them nothing arrives.
package struct ArrivalStages: Hashable, Sendable {
    package let stages: [ArrivalStage]
    /// The arrivals before each stage, and its start. There is one more element for the end.
    private let before: [ArrivalPosition]
    private let begins: [Instant]

    /// Creates a curve of at least one stage. The end saturates at the end of time.
    package init(_ stages: [ArrivalStage]) {
        precondition(!stages.isEmpty, "a staged load has stages")
        self.stages = stages
        var before: [ArrivalPosition] = [0]
        var begins = [Instant.zero]
        for (index, stage) in stages.enumerated() {
            let (sum, overflow) = before[index].addingReportingOverflow(stage.total)
            before.append(overflow ? .max : sum)
            let (end, isEndless) = begins[index].nanoseconds.addingReportingOverflow(stage.length.nanoseconds)
            begins.append(isEndless ? .distantFuture : Instant(nanoseconds: end))
        }
        self.before = before
        self.begins = begins
    }

    /// The end of the last stage.
    package var end: Instant { self.begins[self.stages.count] }

    /// The number of whole arrivals of all stages.
    package var total: Int { Int(clamping: self.before[self.stages.count] >> 32) }

    /// Returns the time of a position; nil if it is never reached. An arrival exactly at the end still
    /// arrives.
    func moment(of position: ArrivalPosition) -> Instant? {
        guard let index = self.stages.indices.first(where: { position <= self.before[$0 + 1] }) else {
            return nil
        }
        return self.begins[index] + self.stages[index].time(of: position - self.before[index])
    }

    /// Returns the number of whole arrivals before `time`.
    func count(before moment: Instant) -> Int {
        guard moment > .zero else { return 0 }
        let last = moment - .nanoseconds(1)
        guard let index = self.stages.indices.first(where: { last < self.begins[$0 + 1] }) else {
            return self.total
        }
        let within = self.stages[index].position(after: last - self.begins[index])
        return Int(clamping: (self.before[index] + within) >> 32)
    }

    func scaled(by numerator: Int64, over denominator: Int64) -> ArrivalStages {
        ArrivalStages(self.stages.map { $0.scaled(by: numerator, over: denominator) })
    }
}
