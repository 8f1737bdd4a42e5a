package import SystemIO

/// The child's side of the pipe that reports its parent's end.
package final class Lifeline {
    private let descriptor: Descriptor
    private var watch: Watch?

    /// Takes over an inherited descriptor, usually `ChildDescriptor.lifeline`; `ended` is called once, on the loop,
    /// when the parent has ended or let go.
    package init(adopting number: Int32, loop: Loop, ended: @escaping () -> Void) throws(SystemError) {
        self.descriptor = try Descriptor.adopting(number)
        self.watch = loop.watch(number, .read) { [unowned self] _ in
            // Nothing is ever written: readiness is the end of the file.
            self.watch?.cancel()
            ended()
        }
    }

    deinit { self.watch?.cancel() }
}
