/// A body that comes while it is sent: its owner feeds it, libcurl takes it, and nothing is held that is sent.
///
/// Pieces are kept as they came: on their way to libcurl's buffer they are not copied together first.
final class UploadQueue {
    /// Smaller pieces are put together: a body that comes byte by byte costs no array for each.
    private static let pieceBytesMin = 4 * 1_024

    /// The pieces; those before `first` are used up and empty.
    private var pieces: [[UInt8]] = []
    private var first = 0
    /// Bytes of the first piece that libcurl has taken.
    private var start = 0
    private var isEnded = false
    /// libcurl asked, and there was nothing yet: it does not ask again until it is resumed.
    private(set) var isStarved = false
    /// Bytes that libcurl has not taken.
    private(set) var count = 0

    /// True if libcurl must be resumed because there is more.
    func append(_ piece: [UInt8]) -> Bool {
        self.count += piece.count
        let last = self.pieces.count - 1
        if last >= self.first, self.pieces[last].count + piece.count <= Self.pieceBytesMin {
            self.pieces[last] += piece
        } else {
            self.pieces.append(piece)
        }
        return self.isStarved
    }

    /// Ends the upload. Returns true if libcurl must be notified.
    func end() -> Bool {
        self.isEnded = true
        return self.isStarved
    }

    func wake() { self.isStarved = false }

    /// Copies what fits; 0 at the end, nil if there is nothing yet.
    @unsafe func read(into room: UnsafeMutableRawBufferPointer) -> Int? {
        guard self.count > 0 else {
            self.isStarved = !self.isEnded
            return self.isEnded ? 0 : nil
        }
        var done = 0
        while done < room.count, self.first < self.pieces.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[done...])
            done += unsafe self.readFirst(into: rest)
        }
        self.count -= done
        return done
    }

    /// Reads from the first piece, which is released when it is used up.
    @unsafe private func readFirst(into room: UnsafeMutableRawBufferPointer) -> Int {
        let end = self.pieces[self.first].count
        let taken = min(end - self.start, room.count)
        unsafe self.pieces[self.first].withUnsafeBytes { source in
            let piece = unsafe UnsafeRawBufferPointer(rebasing: source[self.start..<(self.start + taken)])
            unsafe room.copyMemory(from: piece)
        }
        self.start += taken
        guard self.start == end else { return taken }
        self.pieces[self.first] = []
        self.start = 0
        self.first += 1
        // All of them at once, or half of them: no piece is moved more than once on average.
        if self.first * 2 >= self.pieces.count {
            self.pieces.removeFirst(self.first)
            self.first = 0
        }
        return taken
    }
}
