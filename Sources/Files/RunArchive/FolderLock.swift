import Foundation

/// That a folder is one run's, until the run or its process ends. Nothing lies in the folder for it (flock(2)), so that
/// a kill leaves nothing behind.
package final class FolderLock {
    private let descriptor: CInt

    /// Nil where another run has the folder. A file system without locks gives every run what it asks for.
    package convenience init?(_ folder: String) { self.init(folder, LOCK_EX) }

    private init?(_ folder: String, _ operation: CInt) {
        self.descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard self.descriptor >= 0, flock(self.descriptor, operation | LOCK_NB) != 0, errno == EWOULDBLOCK
        else { return }
        close(self.descriptor)
        return nil
    }

    deinit {
        if self.descriptor >= 0 { close(self.descriptor) }
    }

    /// Whether a run has the folder at this moment. Who asks is in nobody's way who asks as well.
    package static func isHeld(_ folder: String) -> Bool { FolderLock(folder, LOCK_SH) == nil }
}
