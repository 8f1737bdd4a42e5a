/// The memory that the send buffers of all running uploads may have. A photo that fits into one is sent by one system call
/// instead of eight; thousands of uploads at a time have a small buffer each.
struct SendBufferBudget {
    /// What every exchange has, whatever is left, and what one may have: in bytes.
    static let least = 32 * 1_024
    static let most = 256 * 1_024
    /// Of all uploads that have more than the least, in bytes.
    static let total = 64 * 1_024 * 1_024
    /// A body that is passed on is sent as it comes.
    static let streamed = 128 * 1_024

    private(set) var granted = 0

    /// Returns the size of the buffer for a body, in bytes. It must be given back.
    mutating func take(for body: TransferRequest.Body) -> Int {
        switch body {
        case .none, .bytes: return Self.least
        case .streamed: return Self.streamed
        case .multipart(let parts):
            let bytes = parts.reduce(Self.formBytes) { $0 + $1.content.count }
            let wanted = min(max(bytes, Self.least), Self.most)
            guard wanted > Self.least, self.granted + wanted <= Self.total else { return Self.least }
            self.granted += wanted
            return wanted
        }
    }

    /// Takes back what an exchange has had.
    mutating func giveBack(_ bytes: Int, of body: TransferRequest.Body) {
        guard case .multipart = body, bytes > Self.least else { return }
        self.granted -= bytes
    }

    /// Room for the boundaries and the heads of the parts, and for the head of the request.
    private static let formBytes = 4 * 1_024
}
