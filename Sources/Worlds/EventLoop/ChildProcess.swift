import CSystem
import SimBase
package import SystemIO

/// The parameters for starting a child process.
package struct ChildPlan {
    /// A descriptor of the parent and the number under which the child shall find it.
    package struct Inheritance: Hashable, Sendable {
        package var source: Int32
        package var target: Int32

        package init(source: Int32, target: Int32) {
            self.source = source
            self.target = target
        }
    }

    /// The path of the program.
    package var executable: String
    /// The arguments without the program's own name.
    package var arguments: [String]
    /// `NAME=value` each; nil gives the child the parent's environment.
    package var environment: [String]?
    /// The descriptors in addition to standard input, output and error, which the child shares unless they
    /// are listed here, and the two of `ChildDescriptor`. All others are close-on-exec.
    package var inherited: [Inheritance]

    package init(executable: String, arguments: [String], environment: [String]?, inherited: [Inheritance]) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
        self.inherited = inherited
    }
}

/// The numbers under which every child finds what its parent gave it.
package enum ChildDescriptor {
    /// Reading it ends when the parent ends: see `Lifeline`.
    package static let lifeline: Int32 = 3
    /// Open as long as the child lives, so that the parent sees its end.
    package static let presence: Int32 = 4
    /// The first number that is free for `ChildPlan.inherited`.
    package static let firstFree: Int32 = 5
}

/// The end of a child process, and its resource usage.
package struct ChildExit: Hashable, Sendable {
    package enum Cause: Hashable, Sendable {
        case exited(code: Int32)
        case signaled(number: Int32)
    }

    package var cause: Cause
    package var usage: ResourceUsage
}

/// A running child: in a process group of its own (so that Ctrl-C reaches only the parent), hearing of its parent's
/// end by a pipe, and reaped on the loop without SIGCHLD.
///
/// Letting it go while it runs kills and reaps it.
package final class ChildProcess {
    package let processID: Int32
    private let loop: Loop
    private let exited: (ChildExit) -> Void
    private var lifeline: Descriptor?
    private let presence: Descriptor
    private var watch: Watch?
    private var reaping: LoopTimer?
    private var pause = ChildProcess.pauseMin
    private var isReaped = false

    /// A child's descriptors are closed a moment before it can be reaped; these bound the asking.
    private static let pauseMin = Interval.microseconds(200)
    private static let pauseMax = Interval.milliseconds(50)

    /// Starts a child; `exited` is called once, on the loop.
    package init(_ plan: ChildPlan, loop: Loop, exited: @escaping (ChildExit) -> Void) throws(SystemError) {
        let lifeline = try Pipe()
        let presence = try Pipe()
        let inherited =
            plan.inherited + [
                .init(source: lifeline.reading.number, target: ChildDescriptor.lifeline),
                .init(source: presence.writing.number, target: ChildDescriptor.presence),
            ]
        self.processID = try Self.spawn(plan, inherited)
        self.loop = loop
        self.exited = exited
        self.lifeline = lifeline.takeWriting()
        self.presence = presence.takeReading()
        self.watch = loop.watch(self.presence.number, .read) { [unowned self] _ in self.presenceEnded() }
        self.reaping = LoopTimer(loop: loop) { [unowned self] _ in self.reap() }
    }

    deinit {
        self.watch?.cancel()
        guard !self.isReaped else { return }
        self.lifeline = nil
        self.signal(.kill)
        var status: Int32 = 0
        var usage = shim_usage()
        _ = unsafe shim_reap(self.processID, 1, &status, &usage)
    }

    package var isRunning: Bool { !self.isReaped }

    /// Sends a signal to a child that has not been reaped; to its process id only.
    package func signal(_ signal: Signal) {
        guard !self.isReaped else { return }
        shim_kill(self.processID, signal.number)
    }

    /// Closes the lifeline, as the parent's own end would: the child then exits.
    package func cutLifeline() { self.lifeline = nil }

    private func presenceEnded() {
        // The child writes nothing here: readiness is its end.
        self.watch?.cancel()
        self.reap()
    }

    private func reap() {
        var status: Int32 = 0
        var usage = shim_usage()
        let result = unsafe shim_reap(self.processID, 0, &status, &usage)
        guard result != 0 else {
            self.reaping?.arm(after: self.pause)
            self.pause = min(self.pause * 2, Self.pauseMax)
            return
        }
        self.isReaped = true
        var (code, number): (Int32, Int32) = (-1, 0)
        unsafe shim_decode_exit(status, &code, &number)
        let cause = number != 0 ? ChildExit.Cause.signaled(number: number) : .exited(code: code)
        self.exited(ChildExit(cause: cause, usage: ResourceUsage(usage)))
    }

    private static func spawn(_ plan: ChildPlan, _ inherited: [ChildPlan.Inheritance]) throws(SystemError)
        -> Int32
    {
        // Sources are moved above every target first, or one could be overwritten before it is passed on.
        let least = (inherited.map(\.target).max() ?? 2) + 1
        var moved: [Int32] = []
        defer { for number in moved { shim_close(number) } }
        for one in inherited {
            moved.append(try SystemError.check("dup", shim_duplicate(one.source, least)))
        }
        var processID: Int32 = 0
        let targets = inherited.map(\.target)
        let arguments = CStringList([plan.executable] + plan.arguments)
        let environment = plan.environment.map { CStringList($0) }
        let code = unsafe shim_spawn(
            plan.executable, arguments.pointers, environment?.pointers ?? shim_environment(), moved, targets,
            Int32(targets.count), 1, &processID)
        try SystemError.check("posix_spawn \(plan.executable)", code)
        return processID
    }
}

/// A null-terminated list of C strings.
@safe private final class CStringList {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ texts: [String]) {
        self.count = texts.count
        unsafe self.pointers = .allocate(capacity: texts.count + 1)
        for (index, text) in texts.enumerated() {
            unsafe (self.pointers + index).initialize(to: shim_copy_text(text))
        }
        unsafe (self.pointers + texts.count).initialize(to: nil)
    }

    deinit {
        for index in 0..<self.count { unsafe shim_free_text(self.pointers[index]) }
        unsafe self.pointers.deallocate()
    }
}
