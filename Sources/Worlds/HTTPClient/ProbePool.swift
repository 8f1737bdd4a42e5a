package import CurlLoop
package import EventLoop
package import SimBase
package import Wire

/// What came of a probe.
package struct ProbeReport: Sendable {
    package enum What: Sendable {
        case replied(ResponseHead)
        case received([UInt8])
        case ended(isWhole: Bool)
    }

    package let id: UInt64
    package let what: What
}

/// Makes the requests of a trial, on connections that no phone uses.
package final class ProbePool: TransferDelegate {
    /// Connections are taken in turns.
    private static let slots = 64

    private let base: String
    private let headers: [HeaderField]
    private let pool: ClientPool
    private let report: (ProbeReport) -> Void
    private var slot = 0
    private var transfers: [UInt64: TransferID] = [:]
    private var ids: [TransferID: UInt64] = [:]
    /// What is sent on a connection as soon as it is a WebSocket.
    private var openings: [TransferID: [UInt8]] = [:]

    /// `base`: scheme, host, port and base path of the target, without a slash at the end. `headers`: sent with every probe.
    package init(
        loop: Loop, base: String, target: CurlTarget, headers: [HeaderField],
        report: @escaping (ProbeReport) -> Void
    ) {
        self.base = base
        self.headers = headers
        self.report = report
        self.pool = ClientPool(loop: loop, target: target, phones: Self.slots, client: .own)
        self.pool.delegate = self
    }

    package func follow(_ order: ProbeOrder) {
        switch order {
        case .start(let request): self.start(request)
        case .cancel(let id):
            guard let transfer = self.forget(id) else { return }
            self.pool.cancel(transfer)
        }
    }

    private func start(_ request: ProbeRequest) {
        self.slot = (self.slot + 1) % Self.slots
        let transfer = self.pool.start(
            TransferRequest(
                phone: self.slot, method: .get, url: self.base + request.target,
                headers: request.headers + self.headers, body: .none,
                receiveBuffer: request.isStream ? .stream : .reply))
        self.transfers[request.id] = transfer
        self.ids[transfer] = request.id
        if !request.opening.isEmpty { self.openings[transfer] = request.opening }
    }

    private func forget(_ id: UInt64) -> TransferID? {
        guard let transfer = self.transfers.removeValue(forKey: id) else { return nil }
        self.ids[transfer] = nil
        self.openings[transfer] = nil
        return transfer
    }

    // MARK: From the client

    package func transfer(
        _ transfer: TransferID, of phone: Int, replied head: ResponseHead, at moment: Instant
    ) {
        guard let id = self.ids[transfer] else { return }
        if head.status == 101, let opening = self.openings[transfer] {
            self.pool.transmit(opening, on: transfer)
        }
        self.report(ProbeReport(id: id, what: .replied(head)))
    }

    package func transfer(
        _ transfer: TransferID, of phone: Int, received bytes: [UInt8], at moment: Instant
    ) {
        guard let id = self.ids[transfer] else { return }
        self.report(ProbeReport(id: id, what: .received(Array(bytes))))
    }

    package func transfer(_ transfer: TransferID, of phone: Int, ended end: TransferEnd, at moment: Instant) {
        guard let id = self.ids[transfer] else { return }
        _ = self.forget(id)
        self.report(ProbeReport(id: id, what: .ended(isWhole: end.failure == nil)))
    }
}
