internal import OriginServer
internal import Talaria

/// A job.
struct JobKey: Hashable, Sendable {
    let bits: UUIDBits

    init(_ bits: UUIDBits) { self.bits = bits }

    /// Nil when no job of ours can have this id. Job ids are opaque: the case counts. Those of v2 begin with the word of their
    /// journey.
    init?(jobID: String) {
        let prefix = Self.prefixes.first { jobID.hasPrefix($0) }
        let jobID = jobID.dropFirst(prefix?.count ?? 0)
        guard let bits = UUIDBits(String(jobID)),
            !jobID.utf8.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) })
        else { return nil }
        self.bits = bits
    }

    private static let prefixes = Journey.allCases.map(\.jobPrefix).filter { !$0.isEmpty }

    var text: String { self.bits.text }
}
