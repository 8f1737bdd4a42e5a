import EventLoop
import SimBase
import SystemIO

extension ClientPool {
    func sendRequest(_ channel: ClientChannel) {
        channel.noteSent(at: self.loop.now())
        guard channel.tls == nil else { return self.sendRequestWithTLS(channel) }
        // On a new connection the request has waited; on one that was idle it is in the draft.
        guard channel.request.isEmpty else {
            channel.unsent = channel.request[...]
            channel.request = []
            return self.sendRest(channel)
        }
        let outcome = StreamSocket.send(channel.socket, self.draft)
        if case .bytes(let count) = outcome { self.noteSent(count, by: channel) }
        switch outcome {
        case .bytes(self.draft.count): channel.machine.sent()
        case .bytes(let count): self.keepUnsent(self.draft.bytes[count...], of: channel)
        case .wouldBlock, .end: self.keepUnsent(self.draft.bytes[...], of: channel)
        case .failed(let code): channel.machine.sendFailed(code)
        }
    }

    private func keepUnsent(_ rest: ArraySlice<UInt8>, of channel: ClientChannel) {
        channel.unsent = rest
        channel.watch?.interest = channel.interest
    }

    func sendRest(_ channel: ClientChannel) {
        switch StreamSocket.send(channel.socket, channel.unsent) {
        case .bytes(let count):
            self.noteSent(count, by: channel)
            channel.unsent = channel.unsent.dropFirst(count)
            if channel.unsent.isEmpty {
                channel.unsent = []
                channel.machine.sent()
            }
        case .wouldBlock, .end: break
        case .failed(let code):
            channel.unsent = []
            channel.machine.sendFailed(code)
        }
        if channel.watch?.interest != channel.interest { channel.watch?.interest = channel.interest }
    }
}
