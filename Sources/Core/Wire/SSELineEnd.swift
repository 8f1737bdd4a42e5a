/// The line ending of an event stream. To a reader all three are the same.
package enum SSELineEnd: String, CaseIterable, Hashable, Sendable {
    case lf, crlf, cr

    /// The bytes of whole lines that end in LF, with this end instead. Neither data nor values have a line feed of their own.
    package func ending(_ lines: [UInt8]) -> [UInt8] {
        switch self {
        case .lf: return lines
        case .cr: return lines.map { $0 == ASCII.lineFeed ? ASCII.carriageReturn : $0 }
        case .crlf:
            var bytes: [UInt8] = []
            bytes.reserveCapacity(lines.count + 8)
            for byte in lines {
                if byte == ASCII.lineFeed { bytes.append(ASCII.carriageReturn) }
                bytes.append(byte)
            }
            return bytes
        }
    }
}
