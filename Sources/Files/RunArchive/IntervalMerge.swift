/// The intervals of several concurrent runs in the order of time.
struct IntervalMerge {
    private var readers: [IntervalReader]
    private var heads: [IntervalReader.Moment?] = []

    init(_ readers: [IntervalReader]) {
        self.readers = readers
        for index in self.readers.indices { self.heads.append(self.readers[index].next()) }
    }

    mutating func next() -> IntervalReader.Moment? {
        var first: Int?
        for index in self.heads.indices {
            guard let moment = self.heads[index] else { continue }
            if let least = first.flatMap({ self.heads[$0] }), least.from <= moment.from { continue }
            first = index
        }
        guard let first else { return nil }
        let moment = self.heads[first]
        self.heads[first] = self.readers[first].next()
        return moment
    }

    var skipped: Int { self.readers.reduce(0) { $0 + $1.skipped } }
}
