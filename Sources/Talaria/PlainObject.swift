/// Reads JSON objects as a backend plainly writes them: no blanks, no escapes, numbers without exponents. Anything else is
/// not refused but left to a decoder, which costs ten times as much and has the last word.
struct PlainObject {
    private let bytes: [UInt8]
    private var position = 0
    /// Something was not plain: whatever came of it, the object is the decoder's.
    private var isPlain = true

    /// Longer numbers are left to the decoder.
    private static let digitsMax = 15

    init(_ text: String) { self.bytes = Array(text.utf8) }

    /// The next member's key, behind `{` or `,`; nil at the end of the object, or where it is not plain.
    mutating func key() -> String? {
        let opener = self.position == 0 ? UInt8(ascii: "{") : UInt8(ascii: ",")
        guard self.take(opener) else { return nil }
        return self.plain { object in
            guard let key = object.readText(), object.take(UInt8(ascii: ":")) else { return nil }
            return key
        }
    }

    /// Whether all was plain, the object ended and nothing is behind it.
    mutating func isAtEnd() -> Bool {
        self.isPlain && self.take(UInt8(ascii: "}")) && self.position == self.bytes.count
    }

    mutating func text() -> String? { self.plain { $0.readText() } }

    mutating func integer() -> Int? { self.plain { $0.readInteger() } }

    mutating func decimal() -> Double? { self.plain { $0.readDecimal() } }

    private mutating func plain<Value>(_ read: (inout PlainObject) -> Value?) -> Value? {
        let value = read(&self)
        if value == nil { self.isPlain = false }
        return value
    }

    private mutating func readText() -> String? {
        guard self.take(UInt8(ascii: "\"")) else { return nil }
        let start = self.position
        while self.position < self.bytes.count {
            switch self.bytes[self.position] {
            case UInt8(ascii: "\""):
                self.position += 1
                return String(decoding: self.bytes[start..<(self.position - 1)], as: UTF8.self)
            case UInt8(ascii: "\\"), 0..<0x20:
                return nil
            default:
                self.position += 1
            }
        }
        return nil
    }

    private mutating func readInteger() -> Int? {
        guard let digits = self.digits(), !self.isAt(UInt8(ascii: ".")) else { return nil }
        return Int(digits)
    }

    private mutating func readDecimal() -> Double? {
        let start = self.position
        guard self.digits() != nil else { return nil }
        if self.take(UInt8(ascii: ".")) {
            let fraction = self.position
            self.skipDigits()
            guard self.position > fraction else { return nil }
        }
        let text = self.bytes[start..<self.position]
        guard text.count <= Self.digitsMax + 2 else { return nil }
        return Double(String(decoding: text, as: UTF8.self))
    }

    /// Digits without a leading zero, and what follows is not more of a number than a decimal point.
    private mutating func digits() -> String? {
        let start = self.position
        self.skipDigits()
        let digits = self.bytes[start..<self.position]
        guard (1...Self.digitsMax).contains(digits.count),
            digits.count == 1 || digits.first != UInt8(ascii: "0")
        else { return nil }
        return String(decoding: digits, as: UTF8.self)
    }

    private mutating func skipDigits() {
        while self.position < self.bytes.count,
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self.bytes[self.position])
        {
            self.position += 1
        }
    }

    private func isAt(_ byte: UInt8) -> Bool {
        self.position < self.bytes.count && self.bytes[self.position] == byte
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard self.isAt(byte) else { return false }
        self.position += 1
        return true
    }
}

extension ProgressData {
    /// Nil for what is not plain, or not a progress event: then a decoder decides.
    init?(plain data: String) {
        var object = PlainObject(data)
        var (type, jobId, status, message, currentItem, timestamp):
            (String?, String?, String?, String?, String?, String?)
        var (processed, total): (Int?, Int?)
        var progress: Double?
        // A key that comes twice is the decoder's to judge, and so is a value of another type, which comes back as nil.
        while let key = object.key() {
            switch key {
            case "type" where type == nil: type = object.text()
            case "jobId" where jobId == nil: jobId = object.text()
            case "status" where status == nil: status = object.text()
            case "message" where message == nil: message = object.text()
            case "currentItem" where currentItem == nil: currentItem = object.text()
            case "timestamp" where timestamp == nil: timestamp = object.text()
            case "processedCount" where processed == nil: processed = object.integer()
            case "totalCount" where total == nil: total = object.integer()
            case "progress" where progress == nil: progress = object.decimal()
            default: return nil
            }
        }
        guard object.isAtEnd(), let type, let jobId else { return nil }
        self.type = type
        self.jobId = jobId
        self.status = status
        self.progress = progress
        self.processedCount = processed
        self.totalCount = total
        self.message = message
        self.currentItem = currentItem
        self.timestamp = timestamp
    }
}
