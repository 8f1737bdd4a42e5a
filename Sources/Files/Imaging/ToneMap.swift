/// Contrast and brightness as one map of bytes: `(factor v + offset) / 32`, clamped to a byte only then
/// (Docs/apps.md section 9, steps 2 and 3c).
///
/// In 16 bits, so that the optimizer puts eight or sixteen channels through a vector register at once. Exact for
/// contrast; brightness is rounded to 1/32 of a level.
struct ToneMap: Hashable {
    /// Around mid-grey.
    static let contrast = 1.5
    /// The offset for which `1.5 v + offset` keeps mid-grey: (0.5 - 0.5 x 1.5) x 255.
    static let contrastOffset = -63.75

    private let factor: Int16
    private let offset: Int16

    private init(factor: Double, offset: Double) {
        self.factor = Int16(factor * 32)
        // Half of 32 more: the division rounds down.
        self.offset = Int16((offset * 32).rounded()) + 16
    }

    /// Leaves a picture as it is.
    static let none = ToneMap(factor: 1, offset: 0)

    /// Contrast, then brightness, 1 being the whole range.
    init(brightness: Double) {
        self.init(factor: Self.contrast, offset: Self.contrastOffset + brightness * 255)
    }

    func map(_ source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, count: Int) {
        let (factor, offset) = (self.factor, self.offset)
        for index in 0..<count {
            let level = unsafe (Int16(source[index]) &* factor &+ offset) >> 5
            unsafe target[index] = UInt8(truncatingIfNeeded: min(max(level, 0), 255))
        }
    }
}
