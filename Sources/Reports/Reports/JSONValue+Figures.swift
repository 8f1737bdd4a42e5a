package import RunArchive
import SimBase

// Figures and texts in the form that all files for programs have.
extension JSONValue {
    /// Text of a scenario or of a server.
    package static func bounded(_ text: String, bytesMax: Int = Printable.bytesMax) -> JSONValue {
        .string(Printable.bounded(text, bytesMax: bytesMax))
    }

    /// An object; of several members with one name, it has the first.
    package static func members(_ members: some Sequence<(String, JSONValue)>) -> JSONValue {
        .object(Dictionary(members, uniquingKeysWith: { first, _ in first }))
    }

    static func milliseconds(_ time: Interval?) -> JSONValue {
        time.map { .number(Figures.milliseconds($0.nanoseconds)) } ?? .null
    }

    static func seconds(_ time: Interval?, none: JSONValue = .null) -> JSONValue {
        time.map { .number(Figures.seconds($0.nanoseconds)) } ?? none
    }

    /// A count; `n/a` where it is not known.
    package static func known(_ count: (some BinaryInteger)?) -> JSONValue {
        count.map { .integer($0) } ?? .notAvailable
    }

    /// Which phone and scan met something, and when.
    static func place(_ device: DeviceNumber?, _ scan: ScanNumber, at moment: Instant) -> [String: JSONValue]
    {
        [
            "device": device.map { .integer($0.raw) } ?? .null,
            "scan": scan == .none ? .null : .integer(scan.raw),
            "at": .milliseconds(moment - .zero),
        ]
    }
}
