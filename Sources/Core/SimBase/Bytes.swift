// Bytes as memory, eight at a time. The one place of the pure targets that is unsafe: to copy texts, to look for the ends of
// lines and of JSON strings, and to digest pieces, byte by byte, was a seventh of a simulated hour. The tests hold everything
// here to the plain way of doing it.

/// Eight bytes, the first of them the least; each test marks the highest bit of a byte that passes. Only the least mark is
/// sure: behind it a borrow may mark a byte that does not pass.
public struct ByteWord: Hashable, Sendable {
    @usableFromInline let bits: UInt64

    @inlinable init(_ bits: UInt64) { self.bits = bits }

    /// The bytes that are this one.
    @inlinable public func equal(_ byte: UInt8) -> UInt64 {
        ByteWord(self.bits ^ (0x0101_0101_0101_0101 &* UInt64(byte))).less(1)
    }

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

    /// Whether the text's UTF-8 stands at `place`.
    @inlinable public func holds(_ text: String, at place: Int) -> Bool {
        precondition(place >= 0 && place <= self.count, "a place outside of the bytes")
        let isThere = unsafe text.utf8.withContiguousStorageIfAvailable { other in
            unsafe self.withUnsafeBytes { unsafe Memory.holds($0, UnsafeRawBufferPointer(other), at: place) }
        }
        return isThere ?? self[place...].starts(with: text.utf8)
    }

    /// The place of the first byte at or behind `start` that `marks` marks; the count when there is none.
    @inlinable public func place(from start: Int, _ marks: (ByteWord) -> UInt64) -> Int {
        let place = unsafe self.withUnsafeBytes { unsafe Memory.place(in: $0, from: start, marks) }
        return place ?? self.count
    }
}

extension ArraySlice<UInt8> {
    /// The place of the first byte at or behind `start` that `marks` marks.
    @inlinable public func place(from start: Int, _ marks: (ByteWord) -> UInt64) -> Int? {
        let base = self.startIndex
        let place = unsafe self.withUnsafeBytes { unsafe Memory.place(in: $0, from: start - base, marks) }
        return place.map { base + $0 }
    }

    /// Hands on each eight bytes, the first the least, and answers what is left: fewer than eight, and zeros behind them.
    @inlinable public func eachWord(_ body: (UInt64) -> Void) -> UInt64 {
        unsafe self.withUnsafeBytes { unsafe Memory.eachWord(of: $0, body) }
    }
}

extension String {
    /// Whether its UTF-8 has a byte that `marks` marks.
    @inlinable public func contains(byte marks: (ByteWord) -> UInt64) -> Bool {
        let isThere = unsafe self.utf8.withContiguousStorageIfAvailable {
            unsafe Memory.place(in: UnsafeRawBufferPointer($0), from: 0, marks) != nil
        }
        return isThere ?? (Array(self.utf8)[...].place(from: 0, marks) != nil)
    }

    /// Eight bytes of its UTF-8 from `place` on, the first the least.
    @inlinable public func word(at place: Int) -> UInt64 {
        precondition(place >= 0 && place <= self.utf8.count - 8, "a word from outside of the text")
        let word = unsafe self.utf8.withContiguousStorageIfAvailable {
            unsafe Memory.word(UnsafeRawBufferPointer($0), at: place)
        }
        return word ?? Array(self.utf8)[place..<(place + 8)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Hands on each eight bytes of its UTF-8, the first the least, and answers what is left: fewer than eight, and zeros behind
    /// them.
    @inlinable public func eachWord(_ body: (UInt64) -> Void) -> UInt64 {
        let rest = unsafe self.utf8.withContiguousStorageIfAvailable {
            unsafe Memory.eachWord(of: UnsafeRawBufferPointer($0), body)
        }
        return rest ?? Array(self.utf8)[...].eachWord(body)
    }
}

extension StaticString {
    /// Hands on each eight bytes of its UTF-8, as for a `String`.
    @inlinable public func eachWord(_ body: (UInt64) -> Void) -> UInt64 {
        precondition(self.hasPointerRepresentation, "a text, not a single character")
        let bytes = unsafe UnsafeRawBufferPointer(start: self.utf8Start, count: self.utf8CodeUnitCount)
        return unsafe Memory.eachWord(of: bytes, body)
    }
}

@usableFromInline enum Memory {
    /// Letters, which nobody looks for, behind the end.
    @usableFromInline static var filler: UInt64 { @inlinable get { 0x6161_6161_6161_6161 } }

    @inlinable static func place(
        in bytes: UnsafeRawBufferPointer, from start: Int, _ marks: (ByteWord) -> UInt64
    ) -> Int? {
        precondition(start >= 0, "a search from before the bytes")
        var place = start
        while bytes.count - place >= 8 {
            let found = marks(ByteWord(unsafe self.word(bytes, at: place)))
            if found != 0 { return place + found.trailingZeroBitCount / 8 }
            place += 8
        }
        guard place < bytes.count else { return nil }
        let left = UInt64(8 * (bytes.count - place))
        let rest = unsafe self.rest(of: bytes, from: place)
        let found = marks(ByteWord(rest | self.filler << left))
        let first = place + found.trailingZeroBitCount / 8
        return found != 0 && first < bytes.count ? first : nil
    }

    @inlinable static func holds(
        _ bytes: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer, at start: Int
    ) -> Bool {
        guard other.count <= bytes.count - start else { return false }
        var place = 0
        while other.count - place >= 8 {
            let (here, there) = unsafe (self.word(bytes, at: start + place), self.word(other, at: place))
            guard here == there else { return false }
            place += 8
        }
        while place < other.count {
            guard unsafe bytes[start + place] == other[place] else { return false }
            place += 1
        }
        return true
    }

    @inlinable static func eachWord(of bytes: UnsafeRawBufferPointer, _ body: (UInt64) -> Void) -> UInt64 {
        var place = 0
        while bytes.count - place >= 8 {
            body(unsafe self.word(bytes, at: place))
            place += 8
        }
        return unsafe self.rest(of: bytes, from: place)
    }

    @inlinable static func word(_ bytes: UnsafeRawBufferPointer, at place: Int) -> UInt64 {
        unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }

    /// Fewer than eight bytes.
    @inlinable static func rest(of bytes: UnsafeRawBufferPointer, from place: Int) -> UInt64 {
        var (rest, end) = (UInt64(0), bytes.count)
        while end > place {
            end -= 1
            rest = rest << 8 | UInt64(unsafe bytes[end])
        }
        return rest
    }
}
