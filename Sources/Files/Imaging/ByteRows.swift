#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Rows of bytes without gaps, in memory of their own.
@safe struct ByteRows: ~Copyable {
    /// Bytes a row.
    let width: Int
    let height: Int
    private let memory: PictureMemory

    init(width: Int, height: Int) {
        self.init(width: width, height: height, in: PictureMemory(count: width * height))
    }

    /// Creates rows in reused memory, which still has its old content.
    init(width: Int, height: Int, in memory: consuming PictureMemory) {
        precondition(width > 0 && height > 0, "a picture has at least one pixel")
        precondition(memory.count >= width * height, "too little memory for a picture")
        self.width = width
        self.height = height
        self.memory = memory
    }

    /// The address, valid only as long as the rows exist, and only for one of them at a time.
    @unsafe var base: UnsafeMutablePointer<UInt8> { unsafe self.memory.base }

    @unsafe func row(_ row: Int) -> UnsafeMutablePointer<UInt8> {
        precondition(row >= 0 && row < self.height, "no such row")
        return unsafe self.memory.base + row * self.width
    }

    /// The memory alone, for another picture.
    consuming func takeMemory() -> PictureMemory { self.memory }
}

/// Memory for one picture or plane.
@safe struct PictureMemory: ~Copyable {
    let count: Int
    private let bytes: UnsafeMutablePointer<UInt8>

    /// Zeros; bytes that are not written cost nothing.
    init(count: Int) {
        precondition(count > 0, "a picture has at least one pixel")
        self.count = count
        let memory = unsafe count < Self.mappedMin ? calloc(count, 1) : Self.mapped(count)
        guard let memory = unsafe memory else { preconditionFailure("no memory for \(count) bytes") }
        unsafe self.bytes = memory.bindMemory(to: UInt8.self, capacity: count)
    }

    deinit {
        if self.count < Self.mappedMin {
            unsafe free(self.bytes)
        } else {
            unsafe munmap(self.bytes, self.count)
        }
    }

    @unsafe var base: UnsafeMutablePointer<UInt8> { unsafe self.bytes }

    // MARK: Large pages

    /// The minimum size for memory with its own pages.
    private static let mappedMin = 4_000_000

    /// A photograph touches ten thousand pages of the usual size, and the system clears them one by one; large ones are
    /// cleared at once.
    private static func mapped(_ count: Int) -> UnsafeMutableRawPointer? {
        let memory = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { return nil }
        #if os(Linux)
            // Where it is refused, pages are as usual.
            _ = unsafe madvise(memory, count, Int32(MADV_HUGEPAGE))
        #endif
        return unsafe memory
    }
}
