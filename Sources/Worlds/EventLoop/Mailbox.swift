import CSystem
package import SystemIO

/// The channel from other threads to a loop: they post messages, and the loop's thread is woken to take all
/// that wait.
///
/// Messages of one thread arrive in the order in which it posted them.
package final class Mailbox<Message: Sendable>: Sendable {
    private struct Contents: Sendable {
        var messages: [Message] = []
        var isClosed = false
    }

    private let contents = Guarded(Contents())
    private let messagesMax: Int
    private let reading: Int32
    private let writing: Int32

    /// `messagesMax` messages may wait; more are refused.
    package init(messagesMax: Int) throws(SystemError) {
        precondition(messagesMax > 0, "a mailbox without room")
        let pipe = try Pipe()
        try DescriptorIO.setNonblocking(pipe.reading.number, true)
        try DescriptorIO.setNonblocking(pipe.writing.number, true)
        self.messagesMax = messagesMax
        (self.reading, self.writing) = pipe.release()
    }

    deinit {
        shim_close(self.reading)
        shim_close(self.writing)
    }

    /// Posts from any thread. False when the mailbox is full or is no longer read.
    @discardableResult
    package func post(_ message: Message) -> Bool { self.post(contentsOf: CollectionOfOne(message)) }

    /// Posts all or none.
    @discardableResult
    package func post(contentsOf batch: some Collection<Message>) -> Bool {
        guard !batch.isEmpty else { return true }
        let batch = Array(batch)
        let (isTaken, isFirst) = self.contents.withLock { contents -> (Bool, Bool) in
            guard !contents.isClosed, contents.messages.count + batch.count <= self.messagesMax else {
                return (false, false)
            }
            let isFirst = contents.messages.isEmpty
            contents.messages += batch
            return (true, isFirst)
        }
        // Only the first message wakes: the reader empties the pipe before it takes the messages.
        if isFirst { _ = DescriptorIO.write(self.writing, [0]) }
        return isTaken
    }

    /// Takes everything that waits, without a loop.
    package func take() -> [Message] {
        self.contents.withLock { contents in
            let messages = contents.messages
            contents.messages = []
            return messages
        }
    }

    /// Delivers to `handler` on the loop's thread until the returned reader is let go, from when on posts are refused.
    package func read(on loop: Loop, handler: @escaping ([Message]) -> Void) -> MailboxReader<Message> {
        MailboxReader(mailbox: self, loop: loop, handler: handler)
    }

    fileprivate func watchForPosts(on loop: Loop, handler: @escaping () -> Void) -> Watch {
        let descriptor = self.reading
        return loop.watch(descriptor, .read) { _ in
            var wakes: [UInt8] = []
            _ = DescriptorIO.read(descriptor, appendingTo: &wakes, limit: 64)
            handler()
        }
    }

    fileprivate func close() { self.contents.withLock { $0.isClosed = true } }
}

/// The loop's side of a mailbox.
package final class MailboxReader<Message: Sendable> {
    private let mailbox: Mailbox<Message>
    private var watch: Watch?

    fileprivate init(mailbox: Mailbox<Message>, loop: Loop, handler: @escaping ([Message]) -> Void) {
        self.mailbox = mailbox
        self.watch = mailbox.watchForPosts(on: loop) {
            let messages = mailbox.take()
            if !messages.isEmpty { handler(messages) }
        }
    }

    deinit {
        self.watch?.cancel()
        self.mailbox.close()
    }
}
