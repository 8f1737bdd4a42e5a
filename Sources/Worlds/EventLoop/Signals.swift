import CEvent
import CSystem

/// The signals that this project handles.
package enum Signal: CaseIterable, Sendable {
    /// Ctrl-C.
    case interrupt
    case terminate
    case hangUp
    case kill

    package var number: Int32 {
        switch self {
        case .interrupt: shim_signal_interrupt()
        case .terminate: shim_signal_terminate()
        case .hangUp: shim_signal_hang_up()
        case .kill: shim_signal_kill()
        }
    }
}

extension Signal {
    /// The signals that ask a program to end: all but those that its caller had it ignore (`nohup`).
    package static var asking: [Signal] {
        [.interrupt, .terminate] + (shim_signal_is_ignored(Signal.hangUp.number) != 0 ? [] : [.hangUp])
    }
}

/// Handles a signal on the loop's thread, as any other event, until it is let go.
///
/// libevent keeps the signals of a process together: only one loop may have signal watches at a time.
package final class SignalHandler {
    private let loop: Loop
    private let handler: () -> Void
    private var event: EventHandle?

    fileprivate init(loop: Loop, signal: Signal, handler: @escaping () -> Void) {
        precondition(signal != .kill, "SIGKILL cannot be caught")
        self.loop = loop
        self.handler = handler
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        self.event = unsafe loop.base.makeEvent(
            signal.number, EV_SIGNAL | EV_PERSIST, { _, _, context in unsafe SignalHandler.arrived(context) },
            context)
        self.event?.add()
    }

    @unsafe private static func arrived(_ context: UnsafeMutableRawPointer?) {
        guard let context = unsafe context else { return }
        let watch = unsafe Unmanaged<SignalHandler>.fromOpaque(context).takeUnretainedValue()
        withExtendedLifetime(watch) { watch.handler() }
    }
}

extension Loop {
    package func onSignal(_ signal: Signal, handler: @escaping () -> Void) -> SignalHandler {
        SignalHandler(loop: self, signal: signal, handler: handler)
    }
}

/// Process-wide settings to be made once, before threads start.
package enum ProcessSettings {
    /// A write to a closed pipe or socket returns an error instead of ending the process.
    package static func ignoreBrokenPipes() { shim_ignore_broken_pipe() }

    /// A write beyond the limit of a file's size (`ulimit -f`) returns an error instead of ending the process.
    package static func ignoreFileSizeLimit() { shim_ignore_file_size_limit() }

    /// Opens standard input, output and error if they are closed, so that a file that is opened later does
    /// not get one of their numbers and output for users. Called before anything is opened.
    package static func occupyStandardDescriptors() { shim_occupy_standard_descriptors() }

    /// A process whose parent had signals blocked would never hear that it is to end.
    package static func unblockSignals() { shim_unblock_signals() }
}
