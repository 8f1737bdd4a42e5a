import SimBase

/// Something that is judged when its instant is over.
protocol Momentary: Sendable {
    var moment: Instant { get }
}

extension SilentStream: Momentary {
    var moment: Instant { self.to }
}

extension RequestForm: Momentary {
    var moment: Instant { self.at }
}

/// What waits for the end of its instant, in the order of time.
struct PendingQueue<Element: Momentary>: Sendable {
    private var elements: [Element] = []
    private var taken = 0

    mutating func append(_ element: Element) { self.elements.append(element) }

    /// Takes the next element from before a moment; nil if there is none.
    mutating func next(before moment: Instant) -> Element? {
        guard self.taken < self.elements.count else { return nil }
        let element = self.elements[self.taken]
        guard element.moment < moment else { return nil }
        self.taken += 1
        if self.taken == self.elements.count {
            self.elements.removeAll(keepingCapacity: true)
            self.taken = 0
        }
        return element
    }
}
