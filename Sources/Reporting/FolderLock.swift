import Foundation

/// That a folder is one run's, until the run or its process ends. Nothing lies in the folder for it (flock(2)), so that
/// a kill leaves nothing behind.
package final class FolderLock {
    private let descriptor: CInt

    /// Nil where another run has the folder. A file system without locks gives every run what it asks for.
    package init?(_ folder: String) {
        self.descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard self.descriptor >= 0, flock(self.descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK
        else { return }
        close(self.descriptor)
        return nil
    }

    deinit {
        if self.descriptor >= 0 { close(self.descriptor) }
    }

    /// Whether a run has the folder at this moment.
    package static func isHeld(_ folder: String) -> Bool { FolderLock(folder) == nil }
}
