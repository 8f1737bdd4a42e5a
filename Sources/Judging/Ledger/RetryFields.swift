import SimBase

/// The streams of one phone that may have received the server's `retry:`, by the scans whose jobs they follow.
///
/// It follows the head of each stream: everything else of the stream comes after it. It holds as long as the
/// phone follows the job.
struct RetryFields: Sendable {
    enum Raise: Sendable {
        /// No stream of the job has been open, or the job is followed by WebSocket, which has no `retry:`.
        case none
        /// One was, and how much of it has arrived is not known.
        case unsure
        case raised
    }

    private var streams: [(scan: ScanNumber, raise: Raise)] = []
    /// Streams that were opened, without anything else so far.
    private(set) var unsure = 0

    var remembered: Int { self.streams.count }

    func raise(of scan: ScanNumber) -> Raise { self.streams.first { $0.scan == scan }?.raise ?? .none }

    /// What is opened for the job is a WebSocket.
    mutating func followedBySocket(_ scan: ScanNumber) {
        self.left(scan)
        self.streams.append((scan, .none))
    }

    mutating func opened(_ scan: ScanNumber) {
        guard !self.streams.contains(where: { $0.scan == scan }) else { return }
        self.streams.append((scan, .unsure))
        self.unsure += 1
    }

    mutating func received(_ scan: ScanNumber) {
        guard let index = self.streams.firstIndex(where: { $0.scan == scan && $0.raise == .unsure })
        else { return }
        self.streams[index].raise = .raised
        self.unsure -= 1
    }

    mutating func left(_ scan: ScanNumber) {
        guard let index = self.streams.firstIndex(where: { $0.scan == scan }) else { return }
        if self.streams.remove(at: index).raise == .unsure { self.unsure -= 1 }
    }
}
