import SimBase
import Wire

/// What a fresh reader makes of these pieces.
func items(_ pieces: [[UInt8]], limits: SSEReader.Limits = .standard) -> [SSEItem] {
    var reader = SSEReader(limits: limits)
    var items: [SSEItem] = []
    for piece in pieces { reader.receive(piece, into: &items) }
    return items
}

/// What a fresh reader of a client makes of a text.
func items(_ text: String, rules: SSEReader.Rules) -> [SSEItem] {
    var reader = SSEReader(limits: .standard, rules: rules)
    var items: [SSEItem] = []
    reader.receive(Array(text.utf8), into: &items)
    return items
}

/// What a fresh reader makes of a text in one piece.
func items(_ text: String) -> [SSEItem] { items([Array(text.utf8)]) }

/// An event without an id of its own.
func event(_ data: String, type: String = "message", lastID: String = "") -> SSEItem {
    .event(SSEEvent(type: type, data: data, id: lastID, hasOwnID: false))
}

/// An event with an id of its own.
func event(_ data: String, type: String = "message", id: String) -> SSEItem {
    .event(SSEEvent(type: type, data: data, id: id, hasOwnID: true))
}
