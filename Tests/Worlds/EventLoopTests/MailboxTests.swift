import EventLoop
import SimBase
import Testing

@Suite struct MailboxTests {
    @Test func `messages of many threads arrive, each thread's in order`() throws {
        let loop = try Loop(clock: .startingNow())
        let mailbox = try Mailbox<(Int, Int)>(messagesMax: 100_000)
        let received = Box([[Int]](repeating: [], count: 4))
        let reader = mailbox.read(on: loop) { messages in
            for (thread, number) in messages { received.value[thread].append(number) }
        }
        let threads = try (0..<4).map { thread in
            try LoopThread<Int>.start(name: "poster \(thread)") {
                for number in stride(from: 0, to: 1_000, by: 2) {
                    mailbox.post((thread, number))
                    mailbox.post(contentsOf: [(thread, number + 1)])
                }
                return thread
            }
        }
        #expect(run(loop, until: { received.value.allSatisfy { $0.count == 1_000 } }))
        #expect(threads.map { $0.join() } == [0, 1, 2, 3])
        #expect(received.value == [[Int]](repeating: Array(0..<1_000), count: 4))
        withExtendedLifetime(reader) {}
    }

    @Test func `a waiting loop is woken`() throws {
        let mailbox = try Mailbox<Int>(messagesMax: 10)
        let answers = try Mailbox<Int>(messagesMax: 10)
        let thread = try LoopThread<Bool>.start(name: "a loop with a long name") {
            guard let loop = try? Loop(clock: .startingNow()) else { return false }
            let reader = mailbox.read(on: loop) { messages in
                for message in messages {
                    answers.post(message * 2)
                    if message == 0 { loop.stop() }
                }
            }
            // Nothing else is registered: only the mailbox can end this.
            loop.run()
            withExtendedLifetime(reader) {}
            return true
        }
        let loop = try Loop(clock: .startingNow())
        let received = Box<[Int]>([])
        let reader = answers.read(on: loop) { messages in
            received.value += messages
            mailbox.post(received.value.count < 5 ? received.value.count : 0)
        }
        mailbox.post(21)
        #expect(run(loop, until: { received.value.last == 0 }))
        #expect(thread.join())
        #expect(received.value == [42, 2, 4, 6, 8, 0])
        withExtendedLifetime(reader) {}
    }

    @Test func `a full mailbox and one that no one reads any more refuse`() throws {
        let loop = try Loop(clock: .startingNow())
        let mailbox = try Mailbox<Int>(messagesMax: 3)
        #expect(mailbox.post(contentsOf: [1, 2]))
        #expect(!mailbox.post(contentsOf: [3, 4]), "a batch is taken whole or not at all")
        #expect(mailbox.post(3))
        #expect(!mailbox.post(4))
        let received = Box<[Int]>([])
        var reader: MailboxReader<Int>? = mailbox.read(on: loop) { received.value += $0 }
        #expect(run(loop, until: { !received.value.isEmpty }))
        #expect(received.value == [1, 2, 3], "what was posted before there was a reader is read too")
        #expect(mailbox.post(5))
        withExtendedLifetime(reader) {}
        reader = nil
        #expect(!mailbox.post(6))
    }
}
