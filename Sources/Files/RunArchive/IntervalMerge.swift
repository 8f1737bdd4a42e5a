/// The moments of several runs that ran side by side, in the order of time.
struct IntervalMerge {
    private var readers: [IntervalReader]
    private var heads: [IntervalReader.Moment?] = []

    init(_ readers: [IntervalReader]) {
        self.readers = readers
        for place in self.readers.indices { self.heads.append(self.readers[place].next()) }
    }

    mutating func next() -> IntervalReader.Moment? {
        var first: Int?
        for place in self.heads.indices {
            guard let moment = self.heads[place] else { continue }
            if let least = first.flatMap({ self.heads[$0] }), least.from <= moment.from { continue }
            first = place
        }
        guard let first else { return nil }
        let moment = self.heads[first]
        self.heads[first] = self.readers[first].next()
        return moment
    }

    var skipped: Int { self.readers.reduce(0) { $0 + $1.skipped } }
}
