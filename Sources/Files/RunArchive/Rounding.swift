extension FixedWidthInteger {
    /// The nearest whole number; the end of the range for what does not fit, and 0 for what is not a number.
    package init(nearest value: Double) {
        guard !value.isNaN else {
            self = 0
            return
        }
        self = Self(exactly: value.rounded()) ?? (value < 0 ? .min : .max)
    }
}
