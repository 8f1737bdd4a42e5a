/// What only who was told it can send, as the token of a page.
package enum Secret {
    /// Takes the same time wherever the texts differ.
    package static func areEqual(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
