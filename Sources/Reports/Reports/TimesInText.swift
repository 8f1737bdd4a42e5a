package import Metrics
import RunArchive
import SimBase

/// The times within a sentence, written by the grammar of objectives, in the one form that reports use.
enum TimesInText {
    private static let units: Set = ["ns", "us", "µs", "ms", "s"]
    /// Times from here on are shown as lengths, as by `Figures.time`.
    private static let longMin = 600.0

    /// `48.2 ms` for `48.2ms`, `812 µs` for `812us`, `5 h 10 min` for `18602s`. `space`: between number and unit.
    static func rewritten(_ text: String, space: String) -> String {
        let scalars = Array(text.unicodeScalars)
        var result = String.UnicodeScalarView()
        var index = 0
        while index < scalars.count {
            guard Self.isDigit(scalars[index]), !Self.continuesWord(scalars, before: index),
                let time = Self.time(scalars, from: index)
            else {
                result.append(scalars[index])
                index += 1
                continue
            }
            result.append(contentsOf: Self.text(time, space: space).unicodeScalars)
            index = time.end
        }
        return String(result)
    }

    /// `end`: the index behind it.
    private typealias Time = (number: String, unit: String, end: Int)

    private static func text(_ time: Time, space: String) -> String {
        if time.unit == "s", let seconds = Double(time.number), seconds >= Self.longMin, seconds < 1e9 {
            return Figures.time(Int64(nearest: seconds * 1e9))
        }
        return time.number + space + (time.unit == "us" ? "µs" : time.unit)
    }

    /// Nil for a number that is not a time.
    private static func time(_ scalars: [Unicode.Scalar], from start: Int) -> Time? {
        var end = start
        while end < scalars.count, Self.isDigit(scalars[end]) { end += 1 }
        if end + 1 < scalars.count, scalars[end] == ".", Self.isDigit(scalars[end + 1]) {
            end += 1
            while end < scalars.count, Self.isDigit(scalars[end]) { end += 1 }
        }
        let number = end
        while end < scalars.count, scalars[end].properties.isAlphabetic { end += 1 }
        let unit = String(String.UnicodeScalarView(scalars[number..<end]))
        guard Self.units.contains(unit), end == scalars.count || !Self.isOfWord(scalars[end]) else {
            return nil
        }
        let digits = String(String.UnicodeScalarView(scalars[start..<number]))
        return (digits, unit, end)
    }

    /// Whether a number belongs to the name before it: `job-3s`, `v2.5s`.
    private static func continuesWord(_ scalars: [Unicode.Scalar], before index: Int) -> Bool {
        guard index > 0 else { return false }
        let last = scalars[index - 1]
        guard last == "-" || last == "." || last == "," else { return Self.isOfWord(last) }
        return index > 1 && Self.isOfWord(scalars[index - 2])
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        Self.isDigit(scalar) || scalar == "_" || scalar.properties.isAlphabetic
    }
}

extension SLOResult {
    /// The observed value as text reports show it: in the units of the other figures.
    package var shown: String { TimesInText.rewritten(self.actual, space: "") }

    /// What was observed, and the limit, as a sentence in these units.
    var sentence: String { self.sentence(observed: self.shown) }
}
