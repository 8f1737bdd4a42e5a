import Faults

/// The documentation of every fault, made from the table.
package enum FaultPage {
    /// Markdown that ends in a newline.
    package static var text: String {
        var page = """
            # Faults

            Every kind that a scenario may list under `faults`, made from the table in
            [Sources/Core/Faults](../Sources/Core/Faults): `make docs` writes this page again.

            A fault has `do` (its kind), `on` (what it acts on), an `id` (`<kind>-<ordinal within the kind>` unless told),
            `chance` (100%), `at` (0s) and `for` (to the end), `scope` (`all`, a share as `50% of devices`, or a group), and
            where it says so below `after` (a time, events, bytes, records or a step), `count` and keys of its own. Every draw is a function of
            the seed, the fault, the phone, the scan and the operation; the fault counts by its `id` if it has one, otherwise by
            all that it says, so another fault in the list changes nothing for it (`key`, 16 hexadecimal digits, is how a
            saved plan keeps it through any change). `chance` is drawn once per scan and operation, for
            a fault of the phone once per phone; `count` is how often it may fire per scan (`once`, a number, or
            `each-attempt`).

            """
        for layer in FaultLayer.allCases {
            page += "\n## \(Self.title(layer))\n"
            for entry in FaultTable.available where entry.layer == layer { page += Self.section(entry) }
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
        lines.append("- on: \(Self.places(entry))")
        if !entry.triggers.isEmpty {
            lines.append("- after: \(entry.triggers.map(Self.text).joined(separator: ", "))")
        }
        if let count = entry.defaultCount { lines.append("- count: `\(Self.text(count))` unless told") }
        if entry.hasSpread { lines.append("- at: a moment, or a range from which each phone draws") }
        if let length = entry.defaultLength {
            lines.append("- for: \(Units.text(length)) unless told")
        } else if entry.mustEnd {
            lines.append("- for: required")
        }
        lines += entry.fields.map(Self.line)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func places(_ entry: FaultKindEntry) -> String {
        entry.places.map {
            "`\($0.rawValue)`\($0 == entry.defaultPlace && entry.places.count > 1 ? " (unless told)" : "")"
        }
        .joined(separator: ", ")
    }

    private static func line(_ field: FaultField) -> String {
        let presence =
            field.defaultText.map { "`\($0)` unless told" } ?? (field.isOptional ? "optional" : "required")
        return "- \(field.name): \(field.summary); \(field.type.text); \(presence)"
    }

    private static func text(_ form: TriggerForm) -> String {
        switch form {
        case .time, .events, .bytes: form.rawValue
        case .records: "`N records` that the phone's storage took since the app was started"
        case .step:
            "or a step: "
                + ScanStep.allCases.map { "`\($0.rawValue)` (\($0.text))" }.joined(separator: ", ")
        }
    }

    private static func text(_ count: FaultCount) -> String {
        switch count {
        case .oncePerScan: "once"
        case .eachAttempt: "each-attempt"
        case .perScan(let number): String(number)
        }
    }

    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + "."
    }
}
