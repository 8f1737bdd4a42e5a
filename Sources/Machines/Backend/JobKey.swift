internal import OriginServer
internal import Talaria

/// A job.
struct JobKey: Hashable, Sendable {
    let bits: UUIDBits

    init(_ bits: UUIDBits) { self.bits = bits }

    /// Nil when no job of ours can have this id. Job ids are opaque: the case counts. Those of v2 begin with the word of their
    /// journey.
    init?(jobID: String) {
        // A UUID alone has no word before it.
        let prefix = jobID.utf8.count == 36 ? nil : Self.prefixes.first { jobID.hasPrefix($0) }
        let jobID = prefix.map { String(jobID.dropFirst($0.count)) } ?? jobID
        guard let bits = UUIDBits(jobID),
            !Array(jobID.utf8).contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) })
        else { return nil }
        self.bits = bits
    }

    private static let prefixes = Journey.allCases.map(\.jobPrefix).filter { !$0.isEmpty }

    var text: String { self.bits.text }
}
