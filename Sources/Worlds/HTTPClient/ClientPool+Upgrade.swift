package import CurlLoop

// Bytes of another protocol, behind a request that asked for it and was answered with 101 (RFC 9110 section 7.8). Those of the
// peer are the body of the answer.
extension ClientPool {
    /// Bytes that may wait on one connection because its peer takes none. An exchange with more of them fails.
    package static let unsentBytesMax = 4 << 20

    /// Sends bytes on a connection whose answer was 101, behind those before them. Nothing happens when the exchange is over.
    package func transmit(_ bytes: [UInt8], on transfer: TransferID) {
        guard let channel = self.running(transfer), !channel.machine.isClosed else { return }
        precondition(channel.machine.isSwitched, "the answer was not 101, or has not come")
        channel.noteTransmitted(bytes.count)
        if channel.tls == nil {
            channel.unsent += bytes
            self.sendRest(channel)
        } else {
            self.sendWithTLS(bytes, channel)
        }
        guard channel.unsent.count > Self.unsentBytesMax,
            case .ended(let failure?, _) = channel.machine.overflowed(limit: Self.unsentBytesMax)
        else { return }
        self.deliverLater(failure, to: channel)
    }
}
