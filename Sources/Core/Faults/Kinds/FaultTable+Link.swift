import SimBase
import Talaria

extension FaultTable {
    private static let exchanges: [FaultTarget] = [.upload, .stream, .results, .cleanup, .status, .refresh]

    /// The fields that define the position at which an exchange ends.
    private static let cutFields: [FaultField] = [
        .standard(
            "cut", .cut, "between-events",
            "where the cut is made; with `after: N bytes`, the default is exactly there"),
        .standard(
            "side", .choice(ExchangeSide.allCases.map(\.rawValue)), "reply",
            "the direction whose bytes are counted: `request` cuts before the server has the whole request, `reply` after it has handled it"
        ),
    ]

    /// The faults of the link. `reset`, `close`, `end-cleanly` and `silence` take effect by a type in `Faults/Cuts`, `slice`
    /// and the impairments by one in `Faults/Link` (`LinkImpairments.swift`). `refuse` is carried out where the phone connects.
    static let link: [FaultKindEntry] = [
        FaultKindEntry(
            .reset, "reset", .link, .endsExchange, on: Self.exchanges, orElse: .stream,
            after: [.time, .events, .bytes],
            fields: Self.cutFields, does: "resets the connection (RST)",
            example: "{do: reset, on: stream, after: 1..4 events, cut: inside-event, chance: 35%}"),
        FaultKindEntry(
            .close, "close", .link, .endsExchange, on: Self.exchanges, orElse: .stream,
            after: [.time, .events, .bytes],
            fields: Self.cutFields, does: "closes the connection (FIN)",
            example: "{do: close, on: upload, side: request, after: 4KiB, chance: 20%}"),
        FaultKindEntry(
            .endCleanly, "end-cleanly", .link, .endsExchange, on: [.stream], after: [.time, .events, .bytes],
            fields: [.standard("cut", .cut, "inside-event", "where in the stream the end is")],
            does: "ends the stream with the last chunk and FIN as the server would, also inside an event",
            example: "{do: end-cleanly, after: 1..4 events, chance: 20%}"),
        FaultKindEntry(
            .silence, "silence", .link, .endsExchange, on: Self.exchanges, orElse: .stream,
            after: [.time, .events, .bytes],
            fields: Self.cutFields,
            does: "leaves the connection half open: no data passes, and neither side is notified",
            example: "{do: silence, on: stream, after: 2 events, chance: 20%}"),
        FaultKindEntry(
            .slice, "slice", .link, .lasts, on: Self.exchanges + [.link], count: .eachAttempt,
            fields: [
                .standard("bytes", .integers(1...1_400), "1", "size of a piece in bytes")
            ],
            does: "delivers the server's data in tiny pieces",
            example: "{do: slice, on: stream, bytes: 1..7, chance: 30%}"),
        FaultKindEntry(
            .delay, "delay", .link, .lasts, on: Self.exchanges + [.link], count: .eachAttempt,
            fields: [
                .required("by", .durations, example: "50ms..200ms", "added delay in each direction")
            ],
            does: "delays all data",
            example: "{do: delay, on: link, by: 50ms..200ms}"),
        FaultKindEntry(
            .bandwidth, "bandwidth", .link, .lasts, on: Self.exchanges + [.link], count: .eachAttempt,
            fields: [
                .required("rate", .bitRate, example: "240kbps", "bits per second in each direction")
            ],
            does: "limits the bandwidth",
            example: "{do: bandwidth, on: upload, rate: 240kbps, chance: 30%}"),
        FaultKindEntry(
            .loss, "loss", .link, .lasts, on: Self.exchanges + [.link], count: .eachAttempt,
            fields: [
                .required("share", .share, example: "2%", "share of the segments that are lost once")
            ],
            does: "stalls the connection like packet loss",
            example: "{do: loss, on: stream, share: 2%}"),
        FaultKindEntry(
            .refuse, "refuse", .link, [.endsExchange, .isHandledByPhone], on: Self.exchanges + [.link],
            does: "refuses the connection",
            example: "{do: refuse, on: upload, chance: 30%}"),
    ]
}
