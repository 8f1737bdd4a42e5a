/// Finds the separator of a file in its header: the one of three that occurs most often outside of quotes, and of equally
/// frequent ones the first in the order of `CSVFormat.Separator`.
struct SeparatorSearch: Sendable {
    private enum State {
        /// At the start of a field, where a quote opens. Leaves to any other.
        case fieldStart
        /// Leaves to `fieldStart`.
        case plain
        /// Leaves to `quote`.
        case quoted
        /// Behind a quote inside of quotes. Leaves to `quoted`, `fieldStart` or `plain`.
        case quote
    }

    private var state = State.fieldStart
    private var counts = CSVFormat.Separator.allCases.map { (separator: $0, count: 0) }

    /// Reads on. Returns whether the byte ends the header.
    mutating func ends(with byte: UInt8) -> Bool {
        switch self.state {
        case .quoted:
            if byte == CSVByte.quote { self.state = .quote }
            return false
        case .fieldStart where byte == CSVByte.quote, .quote where byte == CSVByte.quote:
            self.state = .quoted
            return false
        case .fieldStart, .plain, .quote: break
        }
        if CSVByte.isLineEnd(byte) { return true }
        self.state = .plain
        for index in self.counts.indices where self.counts[index].separator.rawValue == byte {
            self.counts[index].count += 1
            self.state = .fieldStart
        }
        return false
    }

    /// Is nil without a separator.
    var separator: CSVFormat.Separator? {
        let most = self.counts.map(\.count).max() ?? 0
        return most == 0 ? nil : self.counts.first { $0.count == most }?.separator
    }
}
