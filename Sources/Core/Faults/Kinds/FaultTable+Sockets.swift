import Talaria

extension FaultTable {
    /// The faults of the backend that act on a WebSocket (Docs/contract.md section 3.4), and on no event stream.
    package static let sockets: [FaultKindEntry] = [
        FaultKindEntry(
            .socketClose, "ws-close", .server, .changesStream, on: [.stream], after: [.time, .events],
            fields: [
                .required(
                    "code", .integer(1_000...4_999), example: "1013",
                    "the code of the close frame, one that a frame may have (RFC 6455 section 7.4)")
            ],
            does: "closes a WebSocket with a code, before the next event",
            example: "{do: ws-close, code: 1013, after: 1 events, chance: 20%}"),
        FaultKindEntry(
            .socketFrames, "ws-frames", .server, [.changesStream, .garblesEvents], on: [.stream],
            after: [.time, .events],
            fields: [
                .standard(
                    "as", .choice(FrameShape.allCases.map(\.rawValue)), "fragmented",
                    "how an event is sent: in many frames with a ping between two of them, each event from then on; or once as what a client refuses: a frame above its limit, masked, with a reserved bit, binary, or text that is not UTF-8"
                )
            ],
            does: "sends events on a WebSocket in other frames, or in frames that a client refuses",
            example: "{do: ws-frames, as: not-utf8, chance: 20%}"),
    ]
}
