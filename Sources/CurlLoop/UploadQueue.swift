/// A body that comes while it is sent: its owner feeds it, libcurl takes it, and nothing is held that is sent.
final class UploadQueue {
    private var bytes: [UInt8] = []
    private var start = 0
    private var isEnded = false
    /// libcurl asked, and there was nothing yet: it asks no more until it is told.
    private(set) var isStarved = false
    /// Bytes that libcurl has not taken.
    var count: Int { self.bytes.count - self.start }

    /// True when libcurl is to be told that there is more.
    func append(_ piece: ArraySlice<UInt8>) -> Bool {
        if self.start == self.bytes.count {
            self.bytes.removeAll(keepingCapacity: true)
            self.start = 0
        }
        self.bytes.append(contentsOf: piece)
        return self.isStarved
    }

    /// Nothing more comes. True when libcurl is to be told.
    func end() -> Bool {
        self.isEnded = true
        return self.isStarved
    }

    func wake() { self.isStarved = false }

    /// Copies what fits; 0 at the end, nil where there is nothing yet.
    @unsafe func read(into room: UnsafeMutableRawBufferPointer) -> Int? {
        let count = min(self.count, room.count)
        guard count > 0 else {
            self.isStarved = !self.isEnded
            return self.isEnded ? 0 : nil
        }
        unsafe self.bytes.withUnsafeBytes { source in
            let piece = unsafe UnsafeRawBufferPointer(rebasing: source[self.start..<(self.start + count)])
            unsafe room.copyMemory(from: piece)
        }
        self.start += count
        return count
    }
}
