import Foundation

/// Whether two files hold the same, read side by side.
package enum SameBytes {
    private static let pieceBytes = 1 << 20

    package static func inFiles(_ first: String, _ second: String) -> Bool {
        guard let one = InputFile.open(first), let other = InputFile.open(second)
        else { return false }
        while true {
            guard let mine = try? one.read(upToCount: Self.pieceBytes) ?? Data(),
                let theirs = try? other.read(upToCount: Self.pieceBytes) ?? Data(), mine == theirs
            else { return false }
            if mine.isEmpty { return true }
        }
    }
}
