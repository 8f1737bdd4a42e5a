import CurlLoop
import EventLoop
import SimBase

/// One request before any load, so that a dead target is found before phones run against it.
final class Preflight: TransferDelegate {
    /// What the target gets to answer.
    static let patience = Interval.seconds(5)
    private static let bodyBytesMax = 4_096

    private let loop: Loop
    private let pool: CurlPool
    private var status: Int?
    private var body: [UInt8] = []
    private var end: TransferEnd?

    private init(loop: Loop, target: CurlTarget) {
        self.loop = loop
        self.pool = CurlPool(loop: loop, target: target, phones: 1)
        self.pool.delegate = self
    }

    /// Answers the status and the beginning of the body, or why there is none.
    static func ask(
        _ url: String, target: CurlTarget, loop: Loop
    ) -> Result<(status: Int, body: String), PreflightFailure> {
        let preflight = Preflight(loop: loop, target: target)
        let transfer = preflight.pool.start(
            TransferRequest(phone: 0, method: .get, url: url, headers: [], body: .none, receiveBuffer: .reply)
        )
        let isDone = loop.turn(until: { preflight.end != nil || preflight.isEnough }, atMost: Self.patience)
        if preflight.end == nil { preflight.pool.cancel(transfer) }
        preflight.pool.hangUp(phone: 0, by: .fin)
        if let failure = preflight.end?.failure { return .failure(PreflightFailure(text: failure.message)) }
        guard isDone, let status = preflight.status else {
            return .failure(
                PreflightFailure(text: "no answer within \(Self.patience.nanoseconds / 1_000_000_000) s"))
        }
        return .success((status, String(decoding: preflight.body, as: UTF8.self)))
    }

    private var isEnough: Bool { self.body.count >= Self.bodyBytesMax }

    func transfer(_ transfer: TransferID, of phone: Int, replied head: ResponseHead, at moment: Instant) {
        self.status = head.status
    }

    func transfer(_ transfer: TransferID, of phone: Int, received bytes: [UInt8], at moment: Instant) {
        self.body += bytes.prefix(max(0, Self.bodyBytesMax - self.body.count))
    }

    func transfer(_ transfer: TransferID, of phone: Int, ended end: TransferEnd, at moment: Instant) {
        self.end = end
    }
}

struct PreflightFailure: Error {
    var text: String
}
