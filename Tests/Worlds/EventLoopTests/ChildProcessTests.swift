import EventLoop
import SimBase
import SystemIO
import Testing

@Suite struct ChildProcessTests {
    @Test func `a child ends with its lifeline, and its parent sees how`() throws {
        let loop = try Loop(clock: .startingNow())
        let ended = Box<[ChildExit]>([])
        let child = try ChildProcess(script("read line <&3; exit 7"), loop: loop) { ended.value.append($0) }
        run(loop, for: .milliseconds(30))
        #expect(ended.value.isEmpty, "it lives as long as its lifeline")
        #expect(child.isRunning)
        child.cutLifeline()
        #expect(run(loop, until: { !ended.value.isEmpty }))
        #expect(ended.value.map(\.cause) == [.exited(code: 7)])
        #expect(ended.value.first.map { $0.usage.residentMax > 100_000 } == true)
        #expect(!child.isRunning)
    }

    @Test func `a child that a signal ends is seen as that`() throws {
        let loop = try Loop(clock: .startingNow())
        let ended = Box<ChildExit.Cause?>(nil)
        let child = try ChildProcess(script("read line <&3"), loop: loop) { ended.value = $0.cause }
        child.signal(.kill)
        #expect(run(loop, until: { ended.value != nil }))
        #expect(ended.value == .signaled(number: Signal.kill.number))
    }

    @Test func `a child has the descriptors it is given and no others`() throws {
        let loop = try Loop(clock: .startingNow())
        let output = try Pipe()
        // The source's number is another's target: no one may overwrite it before it is handed over.
        let plan = script(
            "echo to five >&5; echo to seven >&7; ls /dev/fd >&7",
            inherited: [
                .init(source: output.writing.number, target: 7),
                .init(source: output.writing.number, target: 5),
            ])
        let text = try outcome(of: plan, reading: output, on: loop)
        // 6 is the folder that `ls` itself has open.
        #expect(text == "to five\nto seven\n0\n1\n2\n3\n4\n5\n6\n7\n")
    }

    @Test func `a child has the environment and arguments it is given`() throws {
        let loop = try Loop(clock: .startingNow())
        let output = try Pipe()
        let plan = ChildPlan(
            executable: "/bin/sh", arguments: ["-c", "echo $1 $COLOR ${HOME-none} >&5", "sh", "two words"],
            environment: ["COLOR=blue"], inherited: [.init(source: output.writing.number, target: 5)])
        #expect(try outcome(of: plan, reading: output, on: loop) == "two words blue none\n")
    }

    @Test func `a program that is not there is an error at once`() throws {
        let loop = try Loop(clock: .startingNow())
        let plan = ChildPlan(executable: "/no/such/program", arguments: [], environment: nil, inherited: [])
        #expect(throws: SystemError.self) { _ = try ChildProcess(plan, loop: loop) { _ in } }
    }

    @Test func `a child let go is killed and reaped`() throws {
        let loop = try Loop(clock: .startingNow())
        let output = try Pipe()
        var child: ChildProcess? = try ChildProcess(
            script(
                "trap '' TERM INT; while :; do sleep 1; done",
                inherited: [
                    .init(source: output.writing.number, target: 5)
                ]), loop: loop
        ) { _ in }
        let processID = try #require(child?.processID)
        #expect(ProcessProbe.isAlive(processID))
        child = nil
        #expect(!ProcessProbe.isAlive(processID))
    }

    @Test func `the child's side hears of its parent's end once`() throws {
        let loop = try Loop(clock: .startingNow())
        let pipe = try Pipe()
        let number = pipe.reading.number
        let calls = Box(0)
        let writing = Box<Int32>(-1)
        let copy = try ProcessProbe.duplicate(number)
        let lifeline = try Lifeline(adopting: copy, loop: loop) { calls.value += 1 }
        run(loop, for: .milliseconds(12))
        #expect(calls.value == 0)
        writing.value = pipe.takeWriting().release()
        StreamSocket.close(writing.value)
        #expect(run(loop, until: { calls.value > 0 }))
        run(loop, for: .milliseconds(12))
        #expect(calls.value == 1)
        withExtendedLifetime(lifeline) {}
    }

    private func script(_ text: String, inherited: [ChildPlan.Inheritance] = []) -> ChildPlan {
        ChildPlan(executable: "/bin/sh", arguments: ["-c", text], environment: nil, inherited: inherited)
    }

    /// Runs a child to its end and gives what it wrote.
    private func outcome(of plan: ChildPlan, reading output: consuming Pipe, on loop: Loop) throws -> String {
        let ended = Box<ChildExit.Cause?>(nil)
        let child = try ChildProcess(plan, loop: loop) { ended.value = $0.cause }
        #expect(run(loop, until: { ended.value != nil }))
        #expect(ended.value == .exited(code: 0))
        let reading = output.takeReading()
        var bytes: [UInt8] = []
        while case .bytes = DescriptorIO.read(reading.number, appendingTo: &bytes, limit: 4_096) {}
        withExtendedLifetime(child) {}
        return String(decoding: bytes, as: UTF8.self)
    }
}
