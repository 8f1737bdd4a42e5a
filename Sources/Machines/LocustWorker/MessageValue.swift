/// A value of a message between a Locust master and its workers, as MessagePack writes it.
package indirect enum MessageValue: Hashable, Sendable {
    case null
    case flag(Bool)
    case integer(Int64)
    /// A number with a fraction, in billionths: no floating point is needed to compare or to add them.
    case decimal(billionths: Int64)
    case text(String)
    case bytes([UInt8])
    case list([MessageValue])
    case map([Member])

    package struct Member: Hashable, Sendable {
        package var key: MessageValue
        package var value: MessageValue

        package init(_ key: MessageValue, _ value: MessageValue) {
            self.key = key
            self.value = value
        }
    }

    static func members(_ members: (String, MessageValue)...) -> MessageValue {
        .map(members.map { Member(.text($0), $1) })
    }

    /// An integer key, as Locust has it for seconds and response times.
    static func counts(_ counts: [(key: Int64, count: Int64)]) -> MessageValue {
        .map(counts.map { Member(.integer($0.key), .integer($0.count)) })
    }
}

extension MessageValue {
    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    var bytes: [UInt8]? {
        switch self {
        case .bytes(let bytes): bytes
        case .text(let text): Array(text.utf8)
        case .null, .flag, .integer, .decimal, .list, .map: nil
        }
    }

    var integer: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    /// A whole number or one with a fraction; saturates.
    var billionths: Int64? {
        switch self {
        case .integer(let number):
            let (product, overflow) = number.multipliedReportingOverflow(by: 1_000_000_000)
            return overflow ? (number < 0 ? .min : .max) : product
        case .decimal(let billionths): return billionths
        case .null, .flag, .text, .bytes, .list, .map: return nil
        }
    }

    var list: [MessageValue]? {
        guard case .list(let list) = self else { return nil }
        return list
    }

    var members: [Member]? {
        guard case .map(let members) = self else { return nil }
        return members
    }

    subscript(key: String) -> MessageValue? {
        self.members?.first { $0.key == .text(key) }?.value
    }
}
