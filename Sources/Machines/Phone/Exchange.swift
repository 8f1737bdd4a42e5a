import SimBase
import Talaria
import Wire

/// A request in the driver's hands and what has come of its answer.
struct Exchange: Sendable {
    let id: RequestID
    let scan: ScanNumber
    let attempt: UInt32
    let sentAt: Instant
    /// The job it is about; none for an upload.
    let job: String?
    /// `Last-Event-ID` as it was sent.
    let lastEventID: String?
    /// The opening handshake of a WebSocket; nil for any other request.
    let handshake: WebSocketRequest?
    var purpose: Purpose
    /// The time at which it is given up. An open stream has its idle timeout instead.
    var deadline: Instant?
    var head: ReplyHead?
    var body: [UInt8] = []
    /// How it ended, as long as its client has not read what came before; nil while it is under way.
    var ending: Ending?

    enum Ending: Hashable, Sendable {
        case whole
        case failed(TransportFailure)
    }

    enum Purpose: Hashable, Sendable {
        case upload, stream, results, status, cleanup
        /// The DELETE by which a job of v3 is canceled.
        case cancel
        /// The exchange of a token, beside whatever its job does.
        case refresh
        /// A stream whose terminal event was applied, on its way to its end. Nothing of it matters any more.
        case drain
        /// A stream that is no longer read or closed, since the app went to the background.
        case left

        var isDelete: Bool { self == .cleanup || self == .cancel }
    }

    /// Whether its answer is the stream that was requested.
    var isOpenStream: Bool {
        self.purpose == .stream && self.head?.status == (self.handshake == nil ? 200 : 101)
    }

    var operation: Operation {
        switch self.purpose {
        case .upload: .upload
        case .stream, .drain, .left: .stream
        case .results: .results
        case .status: .status
        case .cleanup: .cleanup
        case .cancel: .cancel
        case .refresh: .refresh
        }
    }

    /// Gives the request up, if it is still in the driver's hands.
    func abort(into effects: inout [PhoneEffect]) {
        if self.ending == nil { effects.append(.app(.abort(self.id))) }
    }

    /// Keeps more of the body, up to the limit of its kind.
    ///
    /// - Returns: Whether it is still within that limit.
    mutating func collect(_ bytes: ArraySlice<UInt8>) -> Bool {
        let limit =
            switch self.purpose {
            case .results: AppLimits.resultsBytesMax
            case .upload, .stream, .status, .cleanup, .cancel, .refresh, .drain, .left:
                AppLimits.answerBytesMax
            }
        guard self.body.count + bytes.count <= limit else {
            self.body = []
            return false
        }
        self.body.append(contentsOf: bytes)
        return true
    }
}
