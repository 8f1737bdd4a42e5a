internal import OriginServer

/// A job.
struct JobKey: Hashable, Sendable {
    let bits: UUIDBits

    init(_ bits: UUIDBits) { self.bits = bits }

    /// Nil when no job of ours can have this id. Job ids are opaque: the case counts.
    init?(jobID: String) {
        guard let bits = UUIDBits(jobID),
            !jobID.utf8.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) })
        else { return nil }
        self.bits = bits
    }

    var text: String { self.bits.text }
}
