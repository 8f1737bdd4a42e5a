import Faults
import SimBase

/// The documentation of every link preset, made from their table.
package enum LinkPage {
    /// Markdown that ends in a newline.
    package static var text: String {
        var page = """
            # Links

            `network` of a group is the link between its phones and the backend: a preset by its name, a link of your own, or a timeline of
            them. `make docs` generates this page from the table in
            [Sources/Core/Faults/Link](../../Sources/Core/Faults/Link/LinkPresets.swift).

            ## Presets

            A delay is one way: a request and its answer take both. Loss delays what is lost, by a retransmission. *Confidence* is how well the
            sources agree.


            """
        page += MarkdownTable.text(
            ["link", "down", "up", "confidence", "source"],
            LinkPreset.all.map { preset in
                let lookup = preset.profile.nameLookup
                let resolver = lookup > .zero ? "; each name is looked up for \(Units.text(lookup))" : ""
                return [
                    "`\(preset.name)`", Self.text(preset.profile.down) + resolver,
                    Self.text(preset.profile.up),
                    preset.confidence.rawValue, preset.source,
                ]
            })
        page += """

            Other names that people use: \(Self.aliases).

            ## A link of your own

                network: {up: {delay: 65ms, rate: 2Mbps, loss: 1%}, down: {delay: 50ms, rate: 8Mbps}}

            A direction without `rate` has no limit, and one without `delay` or `loss` has none. `dns-delay` of a link is the time for each
            name.

            ## A timeline

                network: [{at: 0s, link: lte}, {at: 9s, link: none, for: 4s}, {at: 30s, link: edge}]

            Each step begins at a time of the run. With `for`, the link of the step before returns after that time. `none` is no network at all,
            as in a tunnel; it is only possible in a timeline. To take a share of the phones offline, use the fault `offline`
            ([faults](faults.md)).

            With `--target` the real network counts, and the links here are those of the simulated backend. Stretches without a network
            (`none`) count in both cases.

            """
        return page
    }

    private static var aliases: String {
        LinkAlias.all.map { "\($0.name) is `\($0.link)`" }.joined(separator: ", ")
    }

    private static func text(_ direction: LinkDirection) -> String {
        var parts = [direction.bitsPerSecond.map(Units.text(bitsPerSecond:)) ?? "no limit"]
        parts.append(Units.text(direction.delay))
        if direction.loss > .never { parts.append("\(Units.percent(Int64(direction.loss.perMillion))) lost") }
        return parts.joined(separator: ", ")
    }
}

/// What other tools and people call a link.
struct LinkAlias {
    var name: String
    var link: String

    static let all: [LinkAlias] = [
        LinkAlias(name: "4g", link: "lte"), LinkAlias(name: "2g", link: "edge"),
        LinkAlias(name: "gprs", link: "edge"), LinkAlias(name: "umts", link: "3g"),
        LinkAlias(name: "hspa", link: "3g-good"), LinkAlias(name: "5g", link: "wifi"),
        LinkAlias(name: "wi-fi", link: "wifi"), LinkAlias(name: "wlan", link: "wifi"),
        LinkAlias(name: "ethernet", link: "perfect"), LinkAlias(name: "lan", link: "perfect"),
        LinkAlias(name: "tunnel", link: NetworkReader.tunnel),
        LinkAlias(name: "offline", link: NetworkReader.tunnel),
    ]

    static func link(for name: String) -> String? {
        let name = name.lowercased()
        return self.all.first { $0.name == name }?.link
    }
}
