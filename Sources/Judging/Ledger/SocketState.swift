import SimBase
import Talaria

/// What a backend keeps of the WebSockets of one job (Docs/contract.md section 3.4): their token opens one connection and
/// its returns, the last of them at most 60 s after the loss of the connection before it.
struct SocketState: Sendable {
    /// Whether the phone follows the job by WebSocket.
    var isSocket = false
    /// The connections that the backend has opened and not ended.
    private var open = 0
    private var endedAt: Instant?

    /// A new token opens a connection of its own.
    mutating func tokenReplaced() { self.endedAt = nil }

    mutating func opened() {
        self.open += 1
    }

    mutating func ended(at moment: Instant) {
        self.open = max(0, self.open - 1)
        self.endedAt = moment
    }

    /// Whether the job's token opens no connection any more.
    func isOver(at moment: Instant) -> Bool {
        guard self.isSocket, self.open == 0, let endedAt = self.endedAt else { return false }
        return ProgressSocket.isStateOver(lostAt: endedAt, at: moment)
    }
}
