import EventLoop
import SimBase
import SystemIO
import Testing

@Suite struct ProcessTests {
    @Test func `Ctrl-C is an event of the loop`() throws {
        let loop = try Loop(clock: .startingNow())
        let caught = Box<[Signal]>([])
        let interrupt = loop.onSignal(.interrupt) { caught.value.append(.interrupt) }
        let terminate = loop.onSignal(.terminate) { caught.value.append(.terminate) }
        ProcessProbe.signalItself(.interrupt)
        #expect(run(loop, until: { caught.value.count == 1 }))
        ProcessProbe.signalItself(.terminate)
        #expect(run(loop, until: { caught.value.count == 2 }))
        ProcessProbe.signalItself(.interrupt)
        #expect(run(loop, until: { caught.value.count == 3 }))
        #expect(caught.value == [.interrupt, .terminate, .interrupt])
        withExtendedLifetime((interrupt, terminate)) {}
    }

    @Test func `a write to a closed pipe is an error and not the end`() throws {
        ProcessSettings.ignoreBrokenPipes()
        let writing = try Pipe().takeWriting()
        #expect(DescriptorIO.write(writing.number, [1]) == .failed(SystemCode.brokenPipe))
    }

    @Test func `used processor time grows with work`() {
        let before = ResourceUsage.own()
        var digest = Digest()
        while ResourceUsage.own().processor - before.processor < .milliseconds(20) {
            for word in 0..<1_000 { digest.absorb(UInt64(word)) }
        }
        #expect(digest.value != 0)
        #expect(ResourceUsage.own().residentMax > 1_000_000)
    }

    @Test func `open descriptors are counted`() throws {
        let before = try #require(DescriptorLimit.open())
        let held = try (0..<300).map { _ in try HeldPipe() }
        let during = try #require(DescriptorLimit.open())
        // Other tests open and close some at the same time.
        #expect(during - before > 400 && during - before < 800)
        withExtendedLifetime(held) {}
    }

    @Test func `the limit of descriptors can be raised up to the hard one only`() throws {
        let (soft, hard) = try DescriptorLimit.current()
        #expect(soft <= hard)
        #expect(try DescriptorLimit.raise(to: 1) == soft, "never lowered")
        #expect(try DescriptorLimit.raise(to: soft) == soft)
    }

    @Test func `a host is resolved to numeric addresses`() throws {
        #expect(try Resolver.addresses(of: "127.0.0.1") == ["127.0.0.1"])
        #expect(try Resolver.addresses(of: "::1") == ["::1"])
        let local = try Resolver.addresses(of: "localhost")
        #expect(local.contains("127.0.0.1") || local.contains("::1"))
        // Longer than a name can be, so that no one is asked.
        #expect(throws: ResolveFailure.self) {
            try Resolver.addresses(of: String(repeating: "a", count: 300))
        }
    }

    @Test func `system errors have words`() {
        let text = SystemError(call: "bind", code: SystemCode.addressInUse).description
        #expect(text.hasPrefix("bind: Address already in use (errno "))
    }
}

private final class HeldPipe {
    private let pipe: Pipe
    init() throws { self.pipe = try Pipe() }
}
