import SimBase
import Wire

/// The standard's algorithm on a whole stream, written for likeness to its text and not for speed: decode, split
/// in lines, then treat each line (WHATWG HTML section 9.2.6). An oracle for `SSEReader`.
func wholeStreamItems(_ stream: [UInt8]) -> [SSEItem] {
    var scalars = Array(String(decoding: stream, as: UTF8.self).unicodeScalars)
    if scalars.first == "\u{FEFF}" { scalars.removeFirst() }

    var lines: [[Unicode.Scalar]] = []
    var line: [Unicode.Scalar] = []
    var offset = 0
    while offset < scalars.count {
        switch scalars[offset] {
        case "\r":
            lines.append(line)
            line = []
            if offset + 1 < scalars.count, scalars[offset + 1] == "\n" { offset += 1 }
        case "\n":
            lines.append(line)
            line = []
        case let scalar:
            line.append(scalar)
        }
        offset += 1
    }
    // What is left in `line` has no end and is discarded.

    var items: [SSEItem] = []
    var (data, type, id, lastID) = ("", "", "", "")
    var ownID = false
    for line in lines {
        guard !line.isEmpty else {
            lastID = id
            if !data.isEmpty {
                data.unicodeScalars.removeLast()
                items.append(
                    .event(
                        SSEEvent(
                            type: type.isEmpty ? "message" : type, data: data, id: lastID, hasOwnID: ownID)))
            } else if ownID {
                items.append(.lastEventID(id))
            }
            (data, type, ownID) = ("", "", false)
            continue
        }
        let colon = line.firstIndex(of: ":") ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == " " { value.removeFirst() }
        let text = String(String.UnicodeScalarView(value))
        switch String(String.UnicodeScalarView(line[..<colon])) {
        case "" where colon < line.endIndex: items.append(.comment(SSEComment(text)))
        case "event": type = text
        case "data":
            data.unicodeScalars.append(contentsOf: value)
            data.unicodeScalars.append("\n")
        case "id" where !value.contains("\0"):
            id = text
            ownID = true
        case "retry" where !value.isEmpty && value.allSatisfy({ ("0"..."9").contains($0) }):
            let most = SSEReader.Limits.standard.retryMax.wholeMilliseconds
            items.append(.retry(.milliseconds(min(most, Int64(text) ?? most))))
        default: break
        }
    }
    return items
}
