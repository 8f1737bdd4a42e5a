internal import SimBase

/// The books that imports have brought, by device.
struct Libraries: Sendable {
    /// The books of all of them together.
    private(set) var count = 0
    private var books = SlotMap<DeviceNumber, Set<LibraryKey>>()
    private let booksMax: Int

    init(booksMax: Int) { self.booksMax = booksMax }

    /// Gives the next rows of an import their outcomes, up to so many in all.
    mutating func take(_ rows: Int, of account: inout ImportAccount, by device: DeviceNumber) {
        var library = self.books[device] ?? []
        self.books[device] = nil  // Changed in place.
        let before = library.count
        account.process(upTo: rows, library: &library, room: self.booksMax - self.count)
        self.count += library.count - before
        if !library.isEmpty { self.books[device] = library }
    }
}
