internal import CSV
internal import OriginServer
internal import SimBase

/// One import.
struct ImportJob: Sendable {
    enum Phase: Hashable, Sendable {
        case processing
        case completed(at: Instant)
        /// The file could not be read.
        case failed(CSVError, at: Instant)
        case canceled(at: Instant)
    }

    let id: String
    let device: DeviceNumber
    let token: Token
    let accepted: Instant
    /// The time that the whole file takes.
    let time: Interval
    var account: ImportAccount
    var phase = Phase.processing
    /// The moment of its next step; the end of its results when it is over.
    var due: Instant
    var streams: [ExchangeID] = []
    /// The time stamp of its last event, milliseconds since 1970: ids increase strictly.
    var lastEventID: Int64 = 0
    /// The id of its last event.
    var lastEvent = ""
    var polls = RequestWindow()

    var isOver: Bool { self.endedAt != nil }

    var endedAt: Instant? {
        switch self.phase {
        case .processing: nil
        case .completed(let at), .failed(_, let at), .canceled(let at): at
        }
    }

    /// The word of the wire.
    var status: StaticString {
        switch self.phase {
        case .processing: self.account.processed == 0 ? "initialized" : "processing"
        case .completed: "completed"
        case .failed: "failed"
        case .canceled: "canceled"
        }
    }

    /// The rows that are to have an outcome by now.
    func rowsDue(at now: Instant) -> Int {
        let elapsed = now - self.accepted
        guard elapsed < self.time else { return self.account.total }
        return Int(
            Int64(self.account.total) * elapsed.wholeMilliseconds / max(1, self.time.wholeMilliseconds))
    }
}
