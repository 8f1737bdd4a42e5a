import SimBase
import Talaria

extension FaultTable {
    private static let exchanges: [FaultPlace] = [.upload, .stream, .results, .cleanup]

    /// What ends an exchange may choose its place by.
    private static let cutFields: [FaultField] = [
        .standard(
            "cut", .cut, "between-events", "where it lands; with `after: N bytes` exactly there unless told"),
        .standard(
            "side", .choice(ExchangeSide.allCases.map(\.rawValue)), "reply",
            "whose bytes are counted: `request` ends it before the server has all, `reply` after it has acted"
        ),
    ]

    /// What a network may do.
    static let link: [FaultKindEntry] = [
        FaultKindEntry(
            "reset", .link, on: Self.exchanges, orElse: .stream, after: [.time, .events, .bytes],
            fields: Self.cutFields, does: "resets the connection (RST)",
            example: "{do: reset, on: stream, after: 1..4 events, cut: inside-event, chance: 35%}"),
        FaultKindEntry(
            "close", .link, on: Self.exchanges, orElse: .stream, after: [.time, .events, .bytes],
            fields: Self.cutFields, does: "closes the connection (FIN)",
            example: "{do: close, on: upload, side: request, after: 4KiB, chance: 20%}"),
        FaultKindEntry(
            "end-cleanly", .link, on: [.stream], after: [.time, .events, .bytes],
            fields: [.standard("cut", .cut, "inside-event", "where the stream ends")],
            does: "ends the stream as its server would, with its last chunk and FIN, also inside an event",
            example: "{do: end-cleanly, after: 1..4 events, chance: 20%}"),
        FaultKindEntry(
            "silence", .link, on: Self.exchanges, orElse: .stream, after: [.time, .events, .bytes],
            fields: Self.cutFields,
            does: "leaves the connection half open: nothing passes any more, and neither side is told",
            example: "{do: silence, on: stream, after: 2 events, chance: 20%}"),
        FaultKindEntry(
            "slice", .link, on: Self.exchanges + [.link], count: .eachAttempt,
            fields: [
                .standard("bytes", .integers(1...1_400), "1", "how many bytes a piece has")
            ],
            does: "hands what the server sends on in tiny pieces",
            example: "{do: slice, on: stream, bytes: 1..7, chance: 30%}"),
        FaultKindEntry(
            "delay", .link, on: Self.exchanges + [.link], count: .eachAttempt,
            fields: [
                .required("by", .durations, example: "50ms..200ms", "how much longer it takes, each way")
            ],
            does: "delays what passes",
            example: "{do: delay, on: link, by: 50ms..200ms}"),
        FaultKindEntry(
            "bandwidth", .link, on: Self.exchanges + [.link], count: .eachAttempt,
            fields: [
                .required("rate", .bitRate, example: "240kbps", "how many bits a second pass, each way")
            ],
            does: "limits the rate of what passes",
            example: "{do: bandwidth, on: upload, rate: 240kbps, chance: 30%}"),
        FaultKindEntry(
            "loss", .link, on: Self.exchanges + [.link], count: .eachAttempt,
            fields: [
                .required("share", .share, example: "2%", "the share of the segments that is lost once")
            ],
            does: "stalls the connection as lost packets do",
            example: "{do: loss, on: stream, share: 2%}"),
        FaultKindEntry(
            "refuse", .link, on: Self.exchanges + [.link],
            does: "refuses the connection",
            example: "{do: refuse, on: upload, chance: 30%}"),
    ]
}
