/// Finds the word that was probably meant, for the hint of an error message.
package enum Spelling {
    /// Longer words get no suggestion: the work is the product of both lengths, and the word may come from anywhere.
    package static let charactersMax = 64

    /// Returns the candidate nearest to `word`, or nil if none is near enough: at most a third of the longer
    /// word may differ, and at least one character always may. Case does not count, and parts in another order, as in
    /// `token-expire` for `expire-token`, count as one difference. Of equally near candidates, the first in the given
    /// order wins, so the result is the same in every process.
    package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let typed = Array(word.lowercased().unicodeScalars.prefix(Self.charactersMax + 1))
        guard !typed.isEmpty, typed.count <= Self.charactersMax else { return nil }
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let meant = Array(candidate.lowercased().unicodeScalars.prefix(Self.charactersMax + 1))
            let allowed = max(1, max(typed.count, meant.count) / 3)
            guard !meant.isEmpty, meant.count <= Self.charactersMax, abs(typed.count - meant.count) <= allowed
            else { continue }
            let distance =
                Self.isReordered(typed, meant)
                ? 1 : Levenshtein.distance(typed, meant, countsSwaps: true)
            // A word of which nothing remains is not a misspelling.
            guard distance <= allowed, distance < max(typed.count, meant.count) else { continue }
            if let known = best, known.distance <= distance { continue }
            best = (candidate, distance)
        }
        return best?.candidate ?? Self.beginning(with: word.lowercased(), candidates)
    }

    /// The first candidate whose first parts, between `-`, `.` and `_`, are the word.
    private static func beginning(with word: String, _ candidates: some Sequence<String>) -> String? {
        candidates.first { candidate in
            candidate.lowercased().hasPrefix(word)
                && candidate.dropFirst(word.count).first.map { "-._".contains($0) } ?? false
        }
    }

    /// Whether both have the same parts between `-`, `.` and `_`, in different orders.
    private static func isReordered(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Bool {
        guard left.count == right.count, left != right else { return false }
        func parts(_ word: [Unicode.Scalar]) -> [String] {
            word.split { "-._".unicodeScalars.contains($0) }.map { String(String.UnicodeScalarView($0)) }
                .sorted()
        }
        return parts(left) == parts(right)
    }
}
