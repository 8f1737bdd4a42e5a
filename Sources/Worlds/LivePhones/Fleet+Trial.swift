import CurlLoop
import EventLoop
import Phone
import SimBase
import Talaria
import TargetTrial
import Wire

// The target on trial, where no gateway stands before it: what it is asked, and what it answers.

extension Fleet {
    func tryRequest(_ request: AppRequest, _ transfer: TransferID, of phone: Int) {
        guard self.trial != nil else { return }
        let target = request.target.prefix { $0 != "?" }
        let isAbsolute = target.hasPrefix(self.plan.base)
        let fields = HeaderFields(request.headers)
        guard
            let sent = TrialRequest(
                method: request.method,
                path: String(isAbsolute ? target.dropFirst(self.plan.base.count) : target),
                device: self.phones[phone].number, scan: request.scan,
                authorization: fields[HeaderName.authorization], lastEventID: fields[HeaderName.lastEventID])
        else { return }
        self.trial?.sent(transfer.number, sent, at: self.loop.now())
        self.takeFindings()
    }

    func tryHead(_ head: ResponseHead, of transfer: TransferID, at moment: Instant) {
        guard self.trial != nil else { return }
        let type = head.headers["Content-Type"]?.prefix { $0 != ";" } ?? ""
        let replied = TrialHead(
            status: head.status, mediaType: type.filter { $0 != " " }.lowercased(),
            retryAfter: head.headers[HeaderName.retryAfter])
        self.trial?.replied(transfer.number, replied, at: moment)
        self.takeFindings()
    }

    func tryBytes(_ bytes: [UInt8], of transfer: TransferID, at moment: Instant) {
        guard self.trial != nil else { return }
        self.trial?.received(transfer.number, bytes, at: moment)
        self.takeFindings()
    }

    func tryEnd(of transfer: TransferID, isWhole: Bool) {
        guard self.trial != nil else { return }
        self.trial?.ended(transfer.number, isWhole: isWhole, at: self.loop.now())
        self.takeFindings()
    }

    private func takeFindings() {
        for observation in self.trial?.takeFindings() ?? [] { self.observe(observation) }
    }
}
