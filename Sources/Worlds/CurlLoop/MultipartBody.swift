import SimBase

/// A `multipart/form-data` body (RFC 7578), which libcurl reads from where the bytes of its parts are.
///
/// libcurl's own form (`curl_mime`) has the same bytes. It draws each boundary from the random generator of the TLS library,
/// and prints what is between the parts character by character: both cost more than all of this.
final class MultipartBody {
    /// Bytes from an offset to the end of an array.
    private struct Piece {
        let bytes: [UInt8]
        let start: Int

        var count: Int { self.bytes.count - self.start }
    }

    /// The value of the header field `Content-Type` behind the type.
    let parameter: String
    private var pieces: [Piece] = []
    /// The number of bytes.
    private(set) var count = 0
    /// The piece that is being read, and how much of it has been.
    private var current = 0
    private var taken = 0

    /// `number` tells it from other bodies.
    init(_ parts: [TransferRequest.Part], number: UInt64) {
        let boundary = "------------------------\(Hexadecimal.text(number, digits: 16))"
        self.parameter = "; boundary=\(boundary)"
        self.pieces.reserveCapacity(3 * parts.count + 1)
        for part in parts {
            self.add(Self.head(of: part, boundary, isFirst: self.pieces.isEmpty))
            self.add(part.content.head)
            if let shared = part.content.shared { self.add(shared.bytes, from: part.content.sharedFrom) }
        }
        self.add(Array("\(self.pieces.isEmpty ? "" : "\r\n")--\(boundary)--\r\n".utf8))
    }

    private func add(_ bytes: [UInt8], from start: Int = 0) {
        let piece = Piece(bytes: bytes, start: start)
        guard piece.count > 0 else { return }
        self.pieces.append(piece)
        self.count += piece.count
    }

    private static func head(of part: TransferRequest.Part, _ boundary: String, isFirst: Bool) -> [UInt8] {
        ByteBuilder.bytes { bytes in
            if !isFirst { bytes.append(literal: "\r\n") }
            bytes.append(literal: "--")
            bytes.append(text: boundary)
            bytes.append(literal: "\r\nContent-Disposition: form-data; name=\"")
            Self.append(part.name, to: &bytes)
            if let filename = part.filename {
                bytes.append(literal: "\"; filename=\"")
                Self.append(filename, to: &bytes)
            }
            bytes.append(UInt8(ascii: "\""))
            if let type = part.contentType {
                bytes.append(literal: "\r\nContent-Type: ")
                bytes.append(text: type)
            }
            bytes.append(literal: "\r\n\r\n")
        }
    }

    /// What would end the value is escaped (WHATWG HTML section 4.10.21.8).
    private static func append(_ value: String, to bytes: inout ByteBuilder) {
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes.append(literal: "%22")
            case UInt8(ascii: "\r"): bytes.append(literal: "%0D")
            case UInt8(ascii: "\n"): bytes.append(literal: "%0A")
            default: bytes.append(byte)
            }
        }
    }

    /// Copies what fits; returns how much, 0 at the end.
    @unsafe func read(into room: UnsafeMutableRawBufferPointer) -> Int {
        var done = 0
        while done < room.count, self.current < self.pieces.count {
            let piece = self.pieces[self.current]
            let count = min(piece.count - self.taken, room.count - done)
            let from = piece.start + self.taken
            unsafe piece.bytes.withUnsafeBytes { source in
                unsafe UnsafeMutableRawBufferPointer(rebasing: room[done...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[from..<(from + count)]))
            }
            done += count
            self.taken += count
            if self.taken == piece.count { (self.current, self.taken) = (self.current + 1, 0) }
        }
        return done
    }

    /// Reads from an offset on. Returns false for one that is outside of the body.
    func seek(to offset: Int) -> Bool {
        guard (0...self.count).contains(offset) else { return false }
        (self.current, self.taken) = (0, offset)
        while self.current < self.pieces.count, self.taken >= self.pieces[self.current].count {
            self.taken -= self.pieces[self.current].count
            self.current += 1
        }
        return true
    }
}
