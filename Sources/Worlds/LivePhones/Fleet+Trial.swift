import CurlLoop
import EventLoop
import HTTPClient
import Phone
import SimBase
import Talaria
import TargetTrial
import Wire

// The target on trial, if it has no gateway in front: what it is asked, and what it answers.

extension Fleet {
    func tryRequest(_ request: AppRequest, _ transfer: TransferID, of phone: Int) {
        guard self.trial != nil else { return }
        let parts = request.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let target = parts[0]
        let isAbsolute = target.hasPrefix(self.plan.base)
        let fields = HeaderFields(request.headers)
        let refresh: TokenRefresh? = if case .token(let refresh) = request.body { refresh } else { nil }
        guard
            let sent = TrialRequest(
                method: request.method,
                path: String(isAbsolute ? target.dropFirst(self.plan.base.count) : target),
                query: parts.count > 1 ? String(parts[1]) : nil,
                device: self.phones[phone].number, scan: request.scan, deviceID: fields[HeaderName.deviceID],
                authorization: fields[HeaderName.authorization], lastEventID: fields[HeaderName.lastEventID],
                subprotocols: fields.list("Sec-WebSocket-Protocol"), refresh: refresh)
        else { return }
        self.trial?.sent(transfer.number, sent, at: self.loop.now())
        self.takeFindings()
    }

    func tryHead(_ head: ResponseHead, of exchange: UInt64, at moment: Instant) {
        guard self.trial != nil else { return }
        self.trial?.replied(exchange, TrialHead(status: head.status, head.headers), at: moment)
        self.takeFindings()
    }

    func tryBytes(_ bytes: [UInt8], of exchange: UInt64, at moment: Instant) {
        guard self.trial != nil else { return }
        self.trial?.received(exchange, bytes, at: moment)
        self.takeFindings()
    }

    func tryEnd(of exchange: UInt64, isWhole: Bool, hasExcess: Bool = false) {
        guard self.trial != nil else { return }
        self.trial?.ended(exchange, isWhole: isWhole, hasExcess: hasExcess, at: self.loop.now())
        self.takeFindings()
    }

    private func takeFindings() {
        self.observeFindings()
        self.probeTarget()
    }

    private func observeFindings() {
        for observation in self.trial?.takeFindings() ?? [] { self.observe(observation) }
    }

    /// Asks the target what the trial wants to know by now.
    func probeTarget() {
        guard let next = self.trial?.nextProbe else { return }
        let now = self.loop.now()
        guard next <= now else {
            if self.probing?.armedFor.map({ next < $0 }) ?? true { self.probing?.arm(at: next) }
            return
        }
        for order in self.trial?.takeProbes(at: now) ?? [] { self.probes?.follow(order) }
        self.observeFindings()
        self.probeTarget()
    }

    func take(_ report: ProbeReport) {
        switch report.what {
        case .replied(let head): self.tryHead(head, of: report.id, at: self.loop.now())
        case .received(let bytes): self.tryBytes(bytes, of: report.id, at: self.loop.now())
        case .ended(let isWhole): self.tryEnd(of: report.id, isWhole: isWhole)
        }
    }
}
