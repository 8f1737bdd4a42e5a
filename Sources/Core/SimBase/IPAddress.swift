/// Numeric addresses as text.
package enum IPAddress {
    package static func isNumeric(_ text: String) -> Bool {
        Self.version4(text) != nil || Self.isVersion6(text)
    }

    /// 127.0.0.0/8, `::1`, and the first written as IPv6. A name that looks like one is none.
    package static func isLoopback(_ text: String) -> Bool {
        if let bytes = Self.version4(text) { return bytes[0] == 127 }
        let lower = text.lowercased()
        if lower.hasPrefix("::ffff:") { return Self.version4(String(lower.dropFirst(7)))?[0] == 127 }
        return lower == "::1" || lower == "0:0:0:0:0:0:0:1"
    }

    /// Four decimal numbers.
    private static func version4(_ text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let bytes = parts.compactMap { part in
            part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? UInt8(part) : nil
        }
        return bytes.count == 4 ? bytes : nil
    }

    private static func isVersion6(_ text: String) -> Bool {
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        return (3...8).contains(groups.count)
            && groups.allSatisfy { group in
                group.count <= 4 && group.allSatisfy(\.isHexDigit) || Self.version4(String(group)) != nil
            }
    }
}
