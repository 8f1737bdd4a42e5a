import SystemIO

/// Whether two files hold the same, read side by side.
package enum SameBytes {
    private static let pieceBytes = 1 << 20

    /// Nil if one of them cannot be opened.
    package static func inFiles(_ first: String, _ second: String) -> Bool? {
        guard let one = InputFile.open(first), let other = InputFile.open(second) else { return nil }
        while true {
            var (mine, theirs): ([UInt8], [UInt8]) = ([], [])
            guard let count = try? one.read(appendingTo: &mine, limit: Self.pieceBytes),
                (try? other.read(appendingTo: &theirs, limit: Self.pieceBytes)) == count, mine == theirs
            else { return false }
            if count == 0 { return true }
        }
    }
}
