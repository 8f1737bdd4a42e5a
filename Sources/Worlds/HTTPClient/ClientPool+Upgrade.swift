package import CurlLoop
import EventLoop

// Bytes of another protocol, behind a request that asked for it and was answered with 101 (RFC 9110 section 7.8). Those of the
// peer are the body of the answer.
extension ClientPool {
    /// Bytes that may wait on one connection because its peer takes none. An exchange with more of them fails.
    package static let unsentBytesMax = 4 << 20

    /// Sends bytes on a connection whose answer was 101, behind those before them. Nothing happens when the exchange is over.
    ///
    /// - Returns: The bytes that wait to be sent. The delegate hears of them whenever the peer has taken some.
    @discardableResult
    package func transmit(_ bytes: [UInt8], on transfer: TransferID) -> Int {
        guard let channel = self.running(transfer), !channel.machine.isClosed else { return 0 }
        precondition(channel.machine.isSwitched, "the answer was not 101, or has not come")
        channel.noteTransmitted(bytes.count)
        if channel.tls == nil {
            channel.unsent += bytes
            self.sendRest(channel)
        } else {
            self.sendWithTLS(bytes, channel)
        }
        if channel.unsent.count > Self.unsentBytesMax,
            case .ended(let failure?, _) = channel.machine.overflowed(limit: Self.unsentBytesMax)
        {
            self.deliverLater(failure, to: channel)
        }
        return channel.unsent.count
    }

    func reportUnsent(_ channel: ClientChannel) {
        self.delegate?.transfer(
            channel.id, of: channel.phone, bodyLeft: channel.unsent.count, at: self.loop.now())
    }

    /// Whether nothing is read of an exchange, so that its peer sees that its data is not taken. Only once its answer has come.
    package func setPaused(_ transfer: TransferID, _ isPaused: Bool) {
        guard let channel = self.running(transfer), channel.machine.isSwitched else { return }
        channel.isPaused = isPaused
        channel.watch?.interest = channel.interest
    }
}
