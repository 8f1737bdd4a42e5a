extension Array {
    /// The same backwards, each element moved and none copied, which `reverse()` does not promise: what holds references is
    /// dear to copy. Batches are short: up to three cost nothing but the moves.
    @inlinable public mutating func turnRound() {
        switch self.count {
        case 0, 1:
            break
        case 2:
            let (second, first) = (self.removeLast(), self.removeLast())
            self.append(second)
            self.append(first)
        case 3:
            let (third, second, first) = (self.removeLast(), self.removeLast(), self.removeLast())
            self.append(third)
            self.append(second)
            self.append(first)
        default:
            var turned: [Element] = []
            turned.reserveCapacity(self.count)
            while let last = self.popLast() { turned.append(last) }
            swap(&self, &turned)
        }
    }
}
