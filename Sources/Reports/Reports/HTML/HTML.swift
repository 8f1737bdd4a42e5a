import SimBase

/// Markup. A literal is markup as it is written; a `String` becomes text, always: on one line, bounded, and escaped for elements
/// and quoted attributes alike. Nothing makes markup of a `String`, so text of others cannot become markup.
package struct HTML: Equatable, Sendable, ExpressibleByStringInterpolation {
    /// The markup as text, for the file or the browser that it goes to.
    package fileprivate(set) var text: String

    package init(stringLiteral literal: StaticString) { self.text = literal.description }

    package init(stringInterpolation: StringInterpolation) { self = stringInterpolation.html }

    /// The text, escaped.
    package init(_ text: String, bytesMax: Int = Printable.bytesMax) {
        // Most texts are figures and our own words.
        if text.utf8.count <= bytesMax, text.utf8.allSatisfy(Self.isPlain) {
            self.text = text
            return
        }
        self.text = ""
        for scalar in Printable.line(text, bytesMax: bytesMax).unicodeScalars {
            switch scalar {
            case "&": self.text += "&amp;"
            case "<": self.text += "&lt;"
            case ">": self.text += "&gt;"
            case "\"": self.text += "&quot;"
            case "'": self.text += "&#39;"
            default: self.text.unicodeScalars.append(scalar)
            }
        }
    }

    /// A sentence of ours, escaped, with its times as the page writes all of them: `48.2 ms` for `48.2ms`, and `5 h 10 min`
    /// for `18602s`.
    package init(sentence: String, bytesMax: Int = Printable.bytesMax) {
        // In this order: an escape would treat the thin space as one where a line may be broken.
        self.text = TimesInText.rewritten(HTML(sentence, bytesMax: bytesMax).text, space: "\u{202F}")
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x22, 0x26, 0x27, 0x3C, 0x3E: false
        case 0x20...0x7E: true
        default: false
        }
    }

    package var isEmpty: Bool { self.text.isEmpty }

    package static func += (html: inout HTML, more: HTML) { html.text += more.text }

    package static func + (html: HTML, more: HTML) -> HTML { "\(html)\(more)" }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var html: HTML = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            self.html.text.reserveCapacity(literalCapacity + interpolationCount * 8)
        }

        package mutating func appendLiteral(_ literal: StaticString) { self.html.text += literal.description }

        package mutating func appendInterpolation(_ html: HTML) { self.html += html }

        // A literal in an interpolation is markup, too: `\(isOpen ? " open" : "")`.
        @_disfavoredOverload
        package mutating func appendInterpolation(_ text: String, bytesMax: Int = Printable.bytesMax) {
            self.html += HTML(text, bytesMax: bytesMax)
        }

        package mutating func appendInterpolation(sentence: String, bytesMax: Int = Printable.bytesMax) {
            self.html += HTML(sentence: sentence, bytesMax: bytesMax)
        }

        package mutating func appendInterpolation(_ number: some BinaryInteger) {
            self.html.text += number.description
        }

        /// A coordinate.
        package mutating func appendInterpolation(_ number: Double) {
            self.html.text += Figures.tenths(number)
        }
    }
}

extension Sequence<HTML> {
    package func joined(separator: HTML = "") -> HTML {
        var joined: HTML = ""
        joined.text = self.map(\.text).joined(separator: separator.text)
        return joined
    }
}
