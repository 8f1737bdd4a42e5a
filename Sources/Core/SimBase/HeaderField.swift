/// One HTTP header field. Names compare without regard to case (RFC 9110 section 5.1), but keep the spelling that they
/// came or were given in.
package struct HeaderField: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether this is the field of that name, in whatever case.
    package func isNamed(_ name: String) -> Bool {
        // Nearly always they are of different lengths or written alike.
        guard self.name.utf8.count == name.utf8.count else { return false }
        return self.name == name
            || self.name.utf8.elementsEqual(name.utf8) { Self.lowercased($0) == Self.lowercased($1) }
    }

    /// A letter of ASCII in lower case; any other byte as it is.
    private static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
