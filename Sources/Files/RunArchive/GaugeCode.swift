import Metrics
import SimBase

/// The samples of a gauge in few bytes: of each sample its length, its minimum, and how much more its maximum is.
enum GaugeCode {
    /// Nil when memory is short.
    static func text(_ series: GaugeSeries) -> String? {
        PackedNumbers.text(
            series.samples.flatMap {
                [($0.to - $0.from).nanoseconds, Int64($0.least), Int64($0.most - $0.least)]
            })
    }

    /// Nil for what is not such a text.
    static func series(_ text: String) -> GaugeSeries? {
        guard let numbers = PackedNumbers.numbers(text, countMax: 3 * GaugeSeries.samplesMax),
            numbers.count.isMultiple(of: 3)
        else { return nil }
        var series = GaugeSeries()
        var until = Instant.zero
        for index in stride(from: 0, to: numbers.count, by: 3) {
            let (length, least, more) = (numbers[index], numbers[index + 1], numbers[index + 2])
            let (end, overflows) = until.nanoseconds.addingReportingOverflow(length)
            guard length > 0, !overflows, (0...Self.countMax).contains(least),
                (0...Self.countMax).contains(more)
            else { return nil }
            until = Instant(nanoseconds: end)
            series.add(least: Int(least), most: Int(least + more), upTo: until)
        }
        return series
    }

    private static let countMax = Int64(Int32.max)
}
