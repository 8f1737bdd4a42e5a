import Faults

/// The documentation of every fault, made from the table.
package enum FaultPage {
    /// Markdown that ends in a newline.
    package static var text: String {
        var page = """
            # Faults

            This page lists every kind of fault that a scenario can use under `faults`. `make docs` generates it from the
            table in [Sources/Core/Faults](../Sources/Core/Faults).

            Every fault has these keys:

            - do: the kind of the fault; required
            - on: what the fault acts on
            - id: the name of the fault; default: `<kind>-<ordinal within the kind>`
            - chance: the probability, drawn once per scan and operation; for a fault of the phone, once per phone; default: `100%`
            - at: the start time, from the start of the run; default: `0s`
            - for: the duration; default: until the end of the run
            - scope: the affected phones: `all`, a share such as `50% of phones`, the name of a group, or one phone by its
              number, such as `phone 7`; default: `all`
            - scan, attempt: the one scan of a phone, and the one attempt of a request, that a fault of the server or the link
              affects, numbered from 1; default: all
            - transport: of a fault on streams, `sse` or `websocket`; default: both

            Some kinds also have `after` (a time, or a number of events, bytes or records, or a step of a scan), `count` (`once`,
            a number, or `each-attempt`) and keys of their own.

            Every random decision is a function of the seed, the fault, the phone, the scan and the operation. A fault is
            identified by its `id`, or by all of its keys if it has no `id`. Adding or removing another fault therefore does not
            change its decisions. A saved plan also has a `key` for each fault (16 hexadecimal digits), which keeps the decisions
            the same after any other change.

            """
        for layer in FaultLayer.allCases {
            page += "\n## \(Self.title(layer))\n"
            for entry in FaultTable.all where entry.layer == layer { page += Self.section(entry) }
        }
        return page
    }

    private static func title(_ layer: FaultLayer) -> String {
        switch layer {
        case .server: "The server"
        case .link: "The link"
        case .phone: "The phone"
        }
    }

    private static func section(_ entry: FaultKindEntry) -> String {
        var lines = ["", "### \(entry.name)", "", Self.sentence(entry.summary), ""]
        lines += ["    - \(entry.example)", ""]
        lines.append("- on: \(Self.targets(entry))")
        if !entry.triggers.isEmpty {
            lines.append("- after: \(entry.triggers.map(Self.text).joined(separator: ", "))")
        }
        if let count = entry.defaultCount {
            lines.append("- count: how often it can fire per scan; default: `\(Units.text(count))`")
        }
        if entry.hasSpread { lines.append("- at: a time, or a range from which each phone draws its time") }
        if let length = entry.defaultLength {
            lines.append("- for: a duration; default: \(Units.text(length))")
        } else if entry.mustEnd {
            lines.append("- for: a duration; required")
        }
        lines += entry.fields.map(Self.line)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func targets(_ entry: FaultKindEntry) -> String {
        entry.targets.map {
            "`\($0.rawValue)`\($0 == entry.defaultTarget && entry.targets.count > 1 ? " (default)" : "")"
        }
        .joined(separator: ", ")
    }

    private static func line(_ field: FaultField) -> String {
        let presence =
            field.defaultText.map { "default: `\($0)`" } ?? (field.isOptional ? "optional" : "required")
        return "- \(field.name): \(field.summary); \(field.type.text); \(presence)"
    }

    private static func text(_ form: TriggerForm) -> String {
        switch form {
        case .time, .events, .bytes: form.rawValue
        case .records: "`N records` (written to the phone's storage since the app started)"
        case .step:
            "a step of a scan: "
                + ScanStep.allCases.map { "`\($0.rawValue)` (\($0.text))" }.joined(separator: ", ")
        }
    }

    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + "."
    }
}
