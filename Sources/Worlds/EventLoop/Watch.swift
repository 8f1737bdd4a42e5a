import CEvent

/// The directions for which a descriptor is watched or ready.
package struct Readiness: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let read = Readiness(rawValue: 1)
    package static let write = Readiness(rawValue: 2)
    package static let both = Readiness(rawValue: 3)
}

/// Watches one descriptor until it is cancelled or let go.
///
/// Level-triggered: the handler is called in every turn in which the descriptor is ready for something of
/// `interest`, once for each of reading and writing. End of file, a reset and a failed connect count as ready for
/// both. Cancel the watch *before* the descriptor is closed or replaced: the kernel forgets neither by itself when
/// the descriptor has a duplicate.
package final class Watch {
    package let descriptor: Int32
    private let loop: Loop
    private let handler: (Readiness) -> Void
    // Two events, not one with changing flags: each change is then one system call. Made when first wanted.
    private var reading: EventHandle?
    private var writing: EventHandle?
    private var registered: Readiness = []

    fileprivate init(loop: Loop, descriptor: Int32, handler: @escaping (Readiness) -> Void) {
        self.loop = loop
        self.descriptor = descriptor
        self.handler = handler
    }

    /// The directions for which the handler is called; can be set at any time, also inside the handler.
    package var interest: Readiness {
        get { self.registered }
        set {
            let changed = newValue.symmetricDifference(self.registered)
            self.registered = newValue
            if changed.contains(.read) {
                if newValue.contains(.read) { self.startReading() } else { self.reading?.remove() }
            }
            if changed.contains(.write) {
                if newValue.contains(.write) { self.startWriting() } else { self.writing?.remove() }
            }
        }
    }

    /// The handler is not called again. Same as an empty interest, and frees what the watch held.
    package func cancel() {
        self.registered = []
        self.reading = nil
        self.writing = nil
    }

    private func startReading() {
        if self.reading == nil {
            self.reading = unsafe self.makeEvent(EV_READ) { _, _, context in
                unsafe Watch.ready(.read, context)
            }
        }
        self.reading?.add()
    }

    private func startWriting() {
        if self.writing == nil {
            self.writing = unsafe self.makeEvent(EV_WRITE) { _, _, context in
                unsafe Watch.ready(.write, context)
            }
        }
        self.writing?.add()
    }

    private func makeEvent(_ kind: Int32, _ callback: event_callback_fn) -> EventHandle {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        return unsafe self.loop.base.makeEvent(self.descriptor, kind | EV_PERSIST, callback, context)
    }

    @unsafe private static func ready(_ readiness: Readiness, _ context: UnsafeMutableRawPointer?) {
        guard let context = unsafe context else { return }
        let watch = unsafe Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue()
        // The handler may let the watch go.
        withExtendedLifetime(watch) { watch.handler(readiness) }
    }
}

extension Loop {
    /// Watches a descriptor that stays the caller's to close, after the watch is cancelled.
    package func watch(
        _ descriptor: Int32, _ interest: Readiness, handler: @escaping (Readiness) -> Void
    ) -> Watch {
        let watch = Watch(loop: self, descriptor: descriptor, handler: handler)
        watch.interest = interest
        return watch
    }
}
