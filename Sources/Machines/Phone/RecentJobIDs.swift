import SimBase

/// The ids that the last uploads were given, to know one that comes again. Known by a digest: a phone keeps few bytes.
struct RecentJobIDs: Sendable {
    private var digests: [UInt64] = []
    private var oldest = 0

    private static let countMax = 16

    /// Records an id, and returns whether it was given before.
    mutating func record(_ id: String) -> Bool {
        var digest = Digest()
        digest.absorbInWords(id)
        let value = digest.value
        if self.digests.contains(value) { return true }
        if self.digests.count < Self.countMax {
            self.digests.append(value)
        } else {
            self.digests[self.oldest] = value
            self.oldest = (self.oldest + 1) % Self.countMax
        }
        return false
    }
}
