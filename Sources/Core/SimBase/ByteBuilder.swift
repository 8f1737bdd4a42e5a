/// A destination for bytes.
public protocol ByteSink: ~Copyable {
    mutating func append(_ byte: UInt8)
    /// Appends the `count` lowest bytes of a word, at most 8, in little-endian order.
    mutating func append(word: UInt64, count: Int)
}

extension [UInt8]: ByteSink {
    /// Appends the `count` lowest bytes of a word, at most 8, in little-endian order.
    @inlinable public mutating func append(word: UInt64, count: Int) {
        for offset in 0..<count { self.append(UInt8(truncatingIfNeeded: word >> UInt64(8 * offset))) }
    }
}

/// A growing byte buffer for frequent writes. Appending costs little more than writing the bytes, because the
/// buffer has one owner. An array checks its uniqueness on each write.
@safe public struct ByteBuilder: ~Copyable, ByteSink {
    @usableFromInline var room: UnsafeMutablePointer<UInt8>
    @usableFromInline var capacity: Int
    @usableFromInline var used = 0

    /// The number of bytes that were appended.
    @inlinable public var count: Int { self.used }

    /// Creates an empty builder. `capacity`: in bytes.
    @inlinable public init(reserving capacity: Int) {
        unsafe self.room = .allocate(capacity: max(capacity, 16))
        self.capacity = max(capacity, 16)
    }

    deinit { unsafe self.room.deallocate() }

    /// Returns the bytes that `write` appends.
    @inlinable public static func bytes(_ write: (inout ByteBuilder) -> Void) -> [UInt8] {
        var draft = ByteBuilder(reserving: 1_024)
        write(&draft)
        return draft.bytes
    }

    /// Returns the bytes that `write` appends as text; invalid UTF-8 is repaired.
    @inlinable public static func text(_ write: (inout ByteBuilder) -> Void) -> String {
        var draft = ByteBuilder(reserving: 64)
        write(&draft)
        return draft.text
    }

    /// A copy of the bytes.
    @inlinable public var bytes: [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: self.room, count: self.used))
    }

    /// Lends the bytes for a call.
    @unsafe @inlinable public func withUnsafeBytes<Result>(
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        unsafe body(UnsafeRawBufferPointer(start: self.room, count: self.used))
    }

    /// Appends the bytes to an array.
    @inlinable public func copy(to others: inout [UInt8]) {
        unsafe others.append(contentsOf: UnsafeBufferPointer(start: self.room, count: self.used))
    }

    /// The bytes as text; invalid UTF-8 is repaired.
    @inlinable public var text: String {
        unsafe String(decoding: UnsafeBufferPointer(start: self.room, count: self.used), as: UTF8.self)
    }

    // MARK: Writing

    /// Appends one byte.
    @inlinable public mutating func append(_ byte: UInt8) {
        if self.used == self.capacity { self.grow(by: 1) }
        unsafe self.room[self.used] = byte
        self.used += 1
    }

    /// Appends the `count` lowest bytes of a word, at most 8, in little-endian order.
    @inlinable public mutating func append(word: UInt64, count: Int) {
        precondition((0...8).contains(count), "more bytes than a word has")
        if self.capacity - self.used < 8 { self.grow(by: 8) }
        unsafe UnsafeMutableRawPointer(self.room + self.used).storeBytes(
            of: word.littleEndian, as: UInt64.self)
        self.used += count
    }

    /// Appends the UTF-8 of a literal.
    @inlinable public mutating func append(literal text: StaticString) {
        precondition(text.hasPointerRepresentation, "a literal of one scalar is a byte")
        unsafe self.append(text.utf8Start, text.utf8CodeUnitCount)
    }

    /// Appends the UTF-8 of a text.
    @inlinable public mutating func append(text: String) {
        let isDone: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe self.append(start, bytes.count)
        }
        if isDone == nil { for byte in text.utf8 { self.append(byte) } }
    }

    /// Appends the UTF-8 of a part of a text.
    @inlinable public mutating func append(text: Substring) {
        let isDone: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe self.append(start, bytes.count)
        }
        if isDone == nil { for byte in text.utf8 { self.append(byte) } }
    }

    /// Appends the bytes of an array.
    @inlinable public mutating func append(contentsOf bytes: borrowing [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe self.append(start, bytes.count)
        }
    }

    /// Appends the bytes of a slice.
    @inlinable public mutating func append(contentsOf bytes: ArraySlice<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe self.append(start, bytes.count)
        }
    }

    /// Appends the bytes of another builder.
    @inlinable public mutating func append(contentsOf other: borrowing ByteBuilder) {
        unsafe self.append(UnsafePointer(other.room), other.used)
    }

    /// Removes all bytes after the first `count`.
    @inlinable public mutating func shorten(to count: Int) {
        precondition((0...self.used).contains(count), "shortened to more than there is")
        self.used = count
    }

    /// Returns the offset of the first byte at or after `start` that `marks` marks; nil if there is none.
    @inlinable public func offset(from start: Int, _ marks: (SWARWord) -> UInt64) -> Int? {
        unsafe Memory.offset(
            in: UnsafeRawBufferPointer(start: self.room, count: self.used), from: start, marks)
    }

    @inlinable mutating func append(_ start: UnsafePointer<UInt8>, _ count: Int) {
        if count > self.capacity - self.used { self.grow(by: count) }
        let from = unsafe UnsafeRawPointer(start)
        let to = unsafe UnsafeMutableRawPointer(self.room + self.used)
        self.used += count
        // Most pieces are short. Two overlapping words or half words cost less than a call of `memcpy`.
        if count > 16 {
            unsafe to.copyMemory(from: from, byteCount: count)
        } else if count >= 8 {
            let (head, tail) = unsafe (
                from.loadUnaligned(as: UInt64.self),
                from.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
            )
            unsafe to.storeBytes(of: head, as: UInt64.self)
            unsafe to.storeBytes(of: tail, toByteOffset: count - 8, as: UInt64.self)
        } else if count >= 4 {
            let (head, tail) = unsafe (
                from.loadUnaligned(as: UInt32.self),
                from.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
            )
            unsafe to.storeBytes(of: head, as: UInt32.self)
            unsafe to.storeBytes(of: tail, toByteOffset: count - 4, as: UInt32.self)
        } else {
            for offset in 0..<count {
                unsafe to.storeBytes(
                    of: from.load(fromByteOffset: offset, as: UInt8.self), toByteOffset: offset,
                    as: UInt8.self)
            }
        }
    }

    @usableFromInline mutating func grow(by count: Int) {
        let capacity = max(2 * self.capacity, self.used + count)
        let room = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        unsafe room.update(from: self.room, count: self.used)
        unsafe self.room.deallocate()
        unsafe self.room = room
        self.capacity = capacity
    }
}
