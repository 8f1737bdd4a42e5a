// Bytes as memory, eight at a time. With ByteBuilder.swift the only unsafe code of the pure targets: to copy texts, to look
// for the ends of lines and of JSON strings, and to digest pieces, byte by byte, was a seventh of a simulated hour. The tests
// compare everything here with the simple way of doing it.

/// Eight bytes, the first of them the least significant; each test marks the highest bit of a byte that
/// passes. Only the lowest mark is reliable: after it, a borrow may mark a byte that does not pass.
public struct SWARWord: Hashable, Sendable {
    @usableFromInline let bits: UInt64

    @inlinable init(_ bits: UInt64) { self.bits = bits }

    /// The bytes that are this one.
    @inlinable public func equal(_ byte: UInt8) -> UInt64 {
        SWARWord(self.bits ^ (0x0101_0101_0101_0101 &* UInt64(byte))).less(1)
    }

    /// The bytes beyond ASCII.
    @inlinable public var beyondASCII: UInt64 { self.bits & 0x8080_8080_8080_8080 }

    /// The bytes below `limit`, which is at most 128.
    @inlinable public func less(_ limit: UInt8) -> UInt64 {
        (self.bits &- 0x0101_0101_0101_0101 &* UInt64(limit)) & ~self.bits & 0x8080_8080_8080_8080
    }
}

extension [UInt8] {
    /// Appends the text's UTF-8, by one copy.
    @inlinable public mutating func append(text: String) {
        let isDone: Void? = unsafe text.utf8.withContiguousStorageIfAvailable {
            unsafe self.append(contentsOf: $0)
        }
        if isDone == nil { self.append(contentsOf: text.utf8) }
    }

    /// Whether the text's UTF-8 is at `offset`.
    @inlinable public func holds(_ text: String, at offset: Int) -> Bool {
        precondition(offset >= 0 && offset <= self.count, "an offset outside of the bytes")
        let isThere = unsafe text.utf8.withContiguousStorageIfAvailable { other in
            unsafe self.withUnsafeBytes { unsafe Memory.holds($0, UnsafeRawBufferPointer(other), at: offset) }
        }
        return isThere ?? self[offset...].starts(with: text.utf8)
    }

    /// Up to eight of the bytes from `offset` on as a word, the first the least; zeros follow.
    @inlinable @inline(__always) public func word(at offset: Int, count: Int) -> UInt64 {
        precondition(offset >= 0 && count >= 0 && count <= 8 && offset <= self.count - count, "other bytes")
        return unsafe self.withUnsafeBytes { bytes in
            guard bytes.count - offset >= 8 else {
                let some = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<(offset + count)])
                return unsafe Memory.rest(of: some, from: offset)
            }
            // A shift by 64 leaves nothing.
            return unsafe Memory.word(bytes, at: offset) & ~(UInt64.max << UInt64(8 * count))
        }
    }

    /// The offset of the first byte at or behind `start` that `marks` marks; the count when there is none.
    @inlinable public func offset(from start: Int, _ marks: (SWARWord) -> UInt64) -> Int {
        let offset = unsafe self.withUnsafeBytes { unsafe Memory.offset(in: $0, from: start, marks) }
        return offset ?? self.count
    }
}

extension ArraySlice<UInt8> {
    /// The offset of the first byte at or behind `start` that `marks` marks.
    @inlinable public func offset(from start: Int, _ marks: (SWARWord) -> UInt64) -> Int? {
        let base = self.startIndex
        let offset = unsafe self.withUnsafeBytes { unsafe Memory.offset(in: $0, from: start - base, marks) }
        return offset.map { base + $0 }
    }

    /// Passes each eight bytes to `body`, least significant first, and returns the rest: fewer than eight
    /// bytes, padded with zeros.
    @inlinable public func eachWord(_ body: (UInt64) -> Void) -> UInt64 {
        unsafe self.withUnsafeBytes { unsafe Memory.eachWord(of: $0, body) }
    }
}

extension String {
    /// Whether its UTF-8 has a byte that `marks` marks.
    @inlinable public func contains(byte marks: (SWARWord) -> UInt64) -> Bool {
        let isThere = unsafe self.utf8.withContiguousStorageIfAvailable {
            unsafe Memory.offset(in: UnsafeRawBufferPointer($0), from: 0, marks) != nil
        }
        return isThere ?? (Array(self.utf8)[...].offset(from: 0, marks) != nil)
    }

    /// Eight bytes of its UTF-8 from `offset` on, the first the least.
    @inlinable public func word(at offset: Int) -> UInt64 {
        precondition(offset >= 0 && offset <= self.utf8.count - 8, "a word from outside of the text")
        let word = unsafe self.utf8.withContiguousStorageIfAvailable {
            unsafe Memory.word(UnsafeRawBufferPointer($0), at: offset)
        }
        return word ?? Array(self.utf8)[offset..<(offset + 8)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Passes each eight bytes of its UTF-8 to `body`, least significant first, and returns the rest: fewer
    /// than eight bytes, padded with zeros.
    @inlinable public func eachWord(_ body: (UInt64) -> Void) -> UInt64 {
        let rest = unsafe self.utf8.withContiguousStorageIfAvailable {
            unsafe Memory.eachWord(of: UnsafeRawBufferPointer($0), body)
        }
        return rest ?? Array(self.utf8)[...].eachWord(body)
    }
}

extension StaticString {
    /// Passes each eight bytes of its UTF-8 to `body`, as for a `String`.
    @inlinable public func eachWord(_ body: (UInt64) -> Void) -> UInt64 {
        precondition(self.hasPointerRepresentation, "a text, not a single character")
        let bytes = unsafe UnsafeRawBufferPointer(start: self.utf8Start, count: self.utf8CodeUnitCount)
        return unsafe Memory.eachWord(of: bytes, body)
    }
}

@usableFromInline enum Memory {
    /// Letters after the end, which are not searched for.
    @usableFromInline static var filler: UInt64 { @inlinable get { 0x6161_6161_6161_6161 } }

    @inlinable static func offset(
        in bytes: UnsafeRawBufferPointer, from start: Int, _ marks: (SWARWord) -> UInt64
    ) -> Int? {
        precondition(start >= 0, "a search from before the bytes")
        var offset = start
        while bytes.count - offset >= 8 {
            let found = marks(SWARWord(unsafe self.word(bytes, at: offset)))
            if found != 0 { return offset + found.trailingZeroBitCount / 8 }
            offset += 8
        }
        guard offset < bytes.count else { return nil }
        let left = UInt64(8 * (bytes.count - offset))
        let rest = unsafe self.rest(of: bytes, from: offset)
        let found = marks(SWARWord(rest | self.filler << left))
        let first = offset + found.trailingZeroBitCount / 8
        return found != 0 && first < bytes.count ? first : nil
    }

    @inlinable static func holds(
        _ bytes: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer, at start: Int
    ) -> Bool {
        guard other.count <= bytes.count - start else { return false }
        var offset = 0
        while other.count - offset >= 8 {
            let (here, there) = unsafe (self.word(bytes, at: start + offset), self.word(other, at: offset))
            guard here == there else { return false }
            offset += 8
        }
        while offset < other.count {
            guard unsafe bytes[start + offset] == other[offset] else { return false }
            offset += 1
        }
        return true
    }

    @inlinable static func eachWord(of bytes: UnsafeRawBufferPointer, _ body: (UInt64) -> Void) -> UInt64 {
        var offset = 0
        while bytes.count - offset >= 8 {
            body(unsafe self.word(bytes, at: offset))
            offset += 8
        }
        return unsafe self.rest(of: bytes, from: offset)
    }

    @inlinable static func word(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Fewer than eight bytes.
    @inlinable static func rest(of bytes: UnsafeRawBufferPointer, from offset: Int) -> UInt64 {
        // The end of the last word; a shift by 64 leaves nothing.
        if bytes.count >= 8 {
            let left = UInt64(bytes.count - offset)
            return unsafe self.word(bytes, at: bytes.count - 8) >> (64 - 8 * left)
        }
        var (rest, end) = (UInt64(0), bytes.count)
        while end > offset {
            end -= 1
            rest = rest << 8 | UInt64(unsafe bytes[end])
        }
        return rest
    }
}
