// Arithmetic that stops at the ends of the range. Numbers that were read may be anything, and a sum of them that does not
// fit must be wrong by being too small, never end the program.
extension FixedWidthInteger {
    /// The sum, or the end of the range that it would pass.
    @inlinable public func addingSaturating(_ other: Self) -> Self {
        let (sum, overflow) = self.addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the end of the range that it would pass.
    @inlinable public func subtractingSaturating(_ other: Self) -> Self {
        let (difference, overflow) = self.subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    /// The product, or the end of the range that it would pass.
    @inlinable public func multipliedSaturating(by other: Self) -> Self {
        let (product, overflow) = self.multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
