import SimBase

/// A journal's line written by hand: one for every event of every stream, so that an encoder would be felt.
///
/// The first two members say what the line is about; see `JournalSubject`.
struct JournalText {
    private(set) var bytes: [UInt8] = []

    /// The first line of a folder's form.
    mutating func writeHead(version: String) {
        self.raw("{\"version\":")
        self.quoted(version)
        self.end()
    }

    mutating func begin(_ device: DeviceNumber) {
        self.raw("{\"d\":")
        self.raw(String(device.raw))
    }

    mutating func begin(_ device: DeviceNumber, _ scan: UInt32) {
        self.begin(device)
        self.member("scan", Int64(scan))
    }

    mutating func member(_ key: StaticString, _ value: Int64) {
        self.key(key)
        self.raw(String(value))
    }

    mutating func member(_ key: StaticString, _ text: String) {
        self.key(key)
        self.quoted(text)
    }

    mutating func member(_ key: StaticString, _ flag: Bool) {
        self.key(key)
        self.raw(flag ? "true" : "false")
    }

    mutating func member(_ key: StaticString, numbers: [Int]) {
        self.key(key)
        self.raw("[")
        for (index, number) in numbers.enumerated() {
            if index > 0 { self.raw(",") }
            self.raw(String(number))
        }
        self.raw("]")
    }

    /// A member that is an object; `first` follows.
    mutating func open(_ key: StaticString) {
        self.key(key)
        self.raw("{")
    }

    mutating func first(_ key: StaticString, _ value: Int64) {
        self.name(key)
        self.raw(String(value))
    }

    mutating func first(_ key: StaticString, _ text: String) {
        self.name(key)
        self.quoted(text)
    }

    mutating func close() { self.raw("}") }

    /// A value that is JSON already.
    mutating func member(_ key: StaticString, json: [UInt8]) {
        self.key(key)
        self.bytes += json
    }

    mutating func end() { self.raw("}\n") }

    mutating func removeAll() { self.bytes.removeAll(keepingCapacity: true) }

    var isEmpty: Bool { self.bytes.isEmpty }

    private mutating func key(_ key: StaticString) {
        self.raw(",")
        self.name(key)
    }

    private mutating func name(_ key: StaticString) {
        self.raw("\"")
        self.raw(key.description)
        self.raw("\":")
    }

    private mutating func raw(_ text: String) { self.bytes.append(text: text) }

    private mutating func quoted(_ text: String) {
        self.bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                self.bytes.append(UInt8(ascii: "\\"))
                self.bytes.append(byte)
            case 0..<0x20:
                self.raw("\\u00")
                self.raw(Hexadecimal.text(UInt64(byte), digits: 2))
            default: self.bytes.append(byte)
            }
        }
        self.bytes.append(UInt8(ascii: "\""))
    }
}

/// What a line of a journal is about, read from its beginning: most lines are of scans that were settled later, and need
/// not be decoded.
struct JournalSubject {
    let device: DeviceNumber
    let scan: UInt32
    /// It says that the scan was completed.
    let isCompleted: Bool

    private static let first = Array("{\"d\":".utf8)
    private static let second = Array(",\"scan\":".utf8)
    private static let third = Array(",\"".utf8)
    private static let completed = Array("settled\":\"completed\"}".utf8)

    /// Nil for a line in any other form than `JournalText` writes, which a decoder may still read.
    init?(_ line: ArraySlice<UInt8>) {
        var rest = line
        guard Self.take(Self.first, from: &rest), let device = Self.number(&rest),
            Self.take(Self.second, from: &rest), let scan = Self.number(&rest),
            Self.take(Self.third, from: &rest), rest.last == UInt8(ascii: "}")
        else { return nil }
        self.device = DeviceNumber(device)
        self.scan = scan
        self.isCompleted = rest.elementsEqual(Self.completed)
    }

    private static func take(_ text: [UInt8], from rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.starts(with: text) else { return false }
        rest.removeFirst(text.count)
        return true
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> UInt32? {
        var value: UInt64 = 0
        var digits = 0
        while let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), digits < 11 {
            value = value * 10 + UInt64(byte - UInt8(ascii: "0"))
            digits += 1
            rest.removeFirst()
        }
        return digits > 0 ? UInt32(exactly: value) : nil
    }
}
