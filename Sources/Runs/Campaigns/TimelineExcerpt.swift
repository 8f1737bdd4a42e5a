/// Which lines of a timeline are shown where not all have room: its beginning and its end, and what is around each fault.
struct TimelineExcerpt {
    enum Part: Hashable {
        /// Lines that are shown, by their index.
        case lines(Range<Int>)
        /// The number of lines that are left out here.
        case left(Int)
    }

    private(set) var parts: [Part]

    /// - Parameter marks: For each line the fault that begins or acts in it; nil for any other line.
    /// - Parameter linesMax: The number of lines, with those that say how many are left out.
    init(marks: [Int?], linesMax: Int) {
        guard !marks.isEmpty else {
            self.parts = []
            return
        }
        var seen: Set<Int> = []
        var anchors = [0, marks.count - 1]
        for (index, mark) in marks.enumerated() {
            if let mark, seen.insert(mark).inserted { anchors.append(index) }
        }
        // The end says most: what leads to the violation has twice the room of what surrounds the rest.
        var shown = marks.indices.map { $0 == 0 || $0 == marks.count - 1 }
        for radius in 0..<marks.count {
            let wider = Self.shown(around: anchors, radius: radius, count: marks.count)
            guard Self.lines(of: Self.parts(wider)) <= linesMax else { break }
            shown = wider
        }
        while let last = shown.lastIndex(of: false) {
            var more = shown
            more[last] = true
            guard Self.lines(of: Self.parts(more)) <= linesMax else { break }
            shown = more
        }
        self.parts = Self.parts(shown)
    }

    private static func shown(around anchors: [Int], radius: Int, count: Int) -> [Bool] {
        (0..<count).map { index in
            anchors.contains { anchor in
                let reach = anchor == count - 1 ? 2 * radius + 1 : radius
                return abs(index - anchor) <= reach
            }
        }
    }

    private static func parts(_ shown: [Bool]) -> [Part] {
        let count = shown.count
        var parts: [Part] = []
        var start = 0
        while start < count {
            let end = shown[start...].firstIndex { $0 != shown[start] } ?? count
            // A line that says that one is left out has no more room than that line.
            parts.append(shown[start] || end == start + 1 ? .lines(start..<end) : .left(end - start))
            start = end
        }
        return parts
    }

    private static func lines(of parts: [Part]) -> Int {
        parts.reduce(0) { sum, part in
            switch part {
            case .lines(let range): sum + range.count
            case .left: sum + 1
            }
        }
    }
}
