internal import OriginServer
internal import SimBase
internal import Talaria
internal import TargetTrial
internal import Wire

// The upstream on trial: what it is asked, and what it answers.

extension Gateway {
    /// Passes what came from the upstream to the trial.
    mutating func tryTarget(_ event: OriginEvent, into effects: inout [OriginEffect]) {
        guard self.trial != nil else { return }
        switch event {
        case .upstreamReplied(let id, let head):
            let head = TrialHead(status: head.status, HeaderFields(head.headers))
            self.trial?.replied(id.raw, head, at: self.now)
        case .upstreamReceived(let id, let bytes): self.trial?.received(id.raw, bytes, at: self.now)
        case .upstreamEnded(let id, let failure):
            self.trial?.ended(id.raw, isWhole: failure == nil, at: self.now)
        case .aborted(let id): self.trial?.ended(id.raw, isWhole: false, at: self.now)
        case .requested, .forwarded, .uploaded, .uploadFailed, .received, .changed, .woke: return
        }
        self.takeFindings(into: &effects)
    }

    /// Passes a request that goes to the upstream to the trial.
    mutating func tryRequest(
        _ id: ExchangeID, _ request: OriginRequest, _ caller: Caller, _ resume: ResumePoint,
        into effects: inout [OriginEffect]
    ) {
        let lastEventID: String? =
            switch resume {
            case .asSent: request.lastEventID
            case .replaced(let id): id
            case .removed: nil
            }
        guard self.trial != nil,
            let request = TrialRequest(
                method: request.method, path: request.path, query: request.query, device: caller.device,
                scan: caller.scan,
                deviceID: request.deviceID, authorization: request.authorization, lastEventID: lastEventID,
                subprotocols: (try? request.handshake?.get())?.subprotocols ?? [])
        else { return }
        self.trial?.sent(id.raw, request, at: self.now)
        self.takeFindings(into: &effects)
    }

    /// Asks the upstream what the trial wants to know by now.
    mutating func probeTarget(into effects: inout [OriginEffect]) {
        for order in self.trial?.takeProbes(at: self.now) ?? [] { effects.append(.probe(order)) }
        self.takeFindings(into: &effects)
    }

    private mutating func takeFindings(into effects: inout [OriginEffect]) {
        for observation in self.trial?.takeFindings() ?? [] { effects.append(.observe(observation)) }
    }
}
