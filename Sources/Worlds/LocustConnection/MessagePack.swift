import CMsgPack
package import LocustWorker
import SimBase

/// Messages as bytes, by libmsgpack-c.
package enum MessagePack {
    /// The version of libmsgpack-c, for example `4.0.0`.
    package static var libraryVersion: String { unsafe String(cString: msgpack_version()) }

    private static let billion = 1_000_000_000.0

    // MARK: Writing

    package static func bytes(_ value: MessageValue) -> [UInt8] {
        var buffer = unsafe msgpack_sbuffer()
        unsafe msgpack_sbuffer_init(&buffer)
        defer { unsafe msgpack_sbuffer_destroy(&buffer) }
        unsafe Self.write(value, to: &buffer)
        guard let data = unsafe buffer.data else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: data, count: buffer.size))
    }

    @unsafe private static func write(_ value: MessageValue, to buffer: inout msgpack_sbuffer) {
        switch value {
        case .null: unsafe shim_pack_nil(&buffer)
        case .flag(let flag): unsafe shim_pack_flag(&buffer, flag ? 1 : 0)
        case .integer(let number): unsafe shim_pack_integer(&buffer, number)
        case .decimal(let billionths): unsafe shim_pack_double(&buffer, Double(billionths) / Self.billion)
        case .text(let text):
            let bytes = Array(text.utf8)
            unsafe bytes.withUnsafeBytes { unsafe shim_pack_text(&buffer, $0.baseAddress, $0.count) }
        case .bytes(let bytes):
            unsafe bytes.withUnsafeBytes { unsafe shim_pack_bytes(&buffer, $0.baseAddress, $0.count) }
        case .list(let elements):
            unsafe shim_pack_list(&buffer, elements.count)
            for element in elements { unsafe Self.write(element, to: &buffer) }
        case .map(let members):
            unsafe shim_pack_map(&buffer, members.count)
            for member in members {
                unsafe Self.write(member.key, to: &buffer)
                unsafe Self.write(member.value, to: &buffer)
            }
        }
    }

    // MARK: Reading

    /// Nil for bytes that are not a message, or more than one. Nesting is limited by the library.
    package static func value(_ bytes: [UInt8]) -> MessageValue? {
        var unpacked = unsafe msgpack_unpacked()
        let isWhole = unsafe bytes.withUnsafeBytes { room in
            unsafe shim_unpack(
                &unpacked, room.baseAddress?.assumingMemoryBound(to: CChar.self), room.count)
        }
        defer { unsafe msgpack_unpacked_destroy(&unpacked) }
        guard isWhole != 0 else { return nil }
        return unsafe withUnsafePointer(to: unpacked.data) { unsafe Self.value($0) }
    }

    /// Nil for an extension type, and for a number that does not fit.
    @unsafe private static func value(_ object: UnsafePointer<msgpack_object>) -> MessageValue? {
        switch unsafe object.pointee.type {
        case MSGPACK_OBJECT_NIL: return .null
        case MSGPACK_OBJECT_BOOLEAN: return .flag(unsafe shim_object_flag(object) != 0)
        case MSGPACK_OBJECT_POSITIVE_INTEGER:
            return Int64(exactly: unsafe shim_object_unsigned(object)).map { .integer($0) }
        case MSGPACK_OBJECT_NEGATIVE_INTEGER: return .integer(unsafe shim_object_signed(object))
        case MSGPACK_OBJECT_FLOAT32, MSGPACK_OBJECT_FLOAT64:
            return Self.billionths(unsafe shim_object_double(object)).map { .decimal(billionths: $0) }
        case MSGPACK_OBJECT_STR: return unsafe .text(String(decoding: Self.bytes(object), as: UTF8.self))
        case MSGPACK_OBJECT_BIN: return unsafe .bytes(Array(Self.bytes(object)))
        case MSGPACK_OBJECT_ARRAY:
            var elements: [MessageValue] = []
            for index in 0..<(unsafe shim_object_count(object)) {
                guard let element = unsafe shim_object_element(object, index),
                    let value = unsafe Self.value(element)
                else { return nil }
                elements.append(value)
            }
            return .list(elements)
        case MSGPACK_OBJECT_MAP:
            var members: [MessageValue.Member] = []
            for index in 0..<(unsafe shim_object_count(object)) {
                guard let keyObject = unsafe shim_object_key(object, index),
                    let valueObject = unsafe shim_object_value(object, index),
                    let key = unsafe Self.value(keyObject), let value = unsafe Self.value(valueObject)
                else { return nil }
                members.append(.init(key, value))
            }
            return .map(members)
        default: return nil
        }
    }

    /// The product would be rounded to more than a billionth where the number is a time since 1970.
    private static func billionths(_ number: Double) -> Int64? {
        guard let whole = Int64(exactly: number.rounded(.towardZero)) else { return nil }
        let fraction = Int64(((number - number.rounded(.towardZero)) * Self.billion).rounded())
        let (product, overflow) = whole.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return nil }
        let (sum, isTooLarge) = product.addingReportingOverflow(fraction)
        return isTooLarge ? nil : sum
    }

    @unsafe private static func bytes(_ object: UnsafePointer<msgpack_object>) -> UnsafeRawBufferPointer {
        var count = 0
        let start = unsafe shim_object_bytes(object, &count)
        return unsafe UnsafeRawBufferPointer(start: start, count: count)
    }
}
