import SimBase

/// One value of a client profile, as it is shown to people.
package struct ProfileDescription: Sendable {
    /// The name of the value, as the key of a scenario would be: `stream.idle-timeout`.
    package let name: String
    /// The documents that the contract's value comes from, with their sections.
    package let source: String
    /// The value as one word or number.
    package let text: @Sendable (ClientProfile) -> String
    /// What a client with this value does, in sentences that an app can be written from.
    package let behavior: @Sendable (ClientProfile) -> String

    init(
        _ name: String, _ source: Source, _ text: @escaping @Sendable (ClientProfile) -> String,
        _ behavior: @escaping @Sendable (ClientProfile) -> String
    ) {
        self.name = name
        self.source = source.text
        self.text = text
        self.behavior = behavior
    }

    /// Every value, in the order of the properties of `ClientProfile`.
    package static let all: [ProfileDescription] =
        Self.requests + Self.streams + Self.events + Self.jobs + Self.review + Self.scans

    /// Where a value comes from: sections of Docs/contract.md, of Docs/apps.md, and section 6 of Docs/design.md.
    enum Source {
        case contract(String? = nil, apps: String? = nil, design: Bool = false)
        case design

        fileprivate var text: String {
            let design = "Docs/design.md section 6"
            guard case .contract(let contract, let apps, let hasDesign) = self else { return design }
            let parts = [
                contract.map { "Docs/contract.md \($0)" }, apps.map { "Docs/apps.md \($0)" },
                hasDesign ? design : nil,
            ]
            return parts.compactMap { $0 }.joined(separator: ", ")
        }
    }
}

// MARK: Texts

extension ProfileDescription {
    static func text(_ isOn: Bool) -> String { isOn ? "on" : "off" }

    static func text(_ range: ClosedRange<Int>) -> String {
        range.count == 1 ? String(range.lowerBound) : "\(range.lowerBound)..\(range.upperBound)"
    }

    static func text(limit: Int?) -> String { limit.map(String.init) ?? "unlimited" }

    static func times(_ count: Int) -> String { count == 1 ? "once" : "at most \(count) times" }

    /// `30s`, `5.2s` or `500ms`.
    static func text(_ time: Interval) -> String { time == .zero ? "none" : Self.time(time, blank: "") }

    /// The same in a sentence: `5.2 s`.
    static func prose(_ time: Interval) -> String { Self.time(time, blank: " ") }

    private static func time(_ time: Interval, blank: String) -> String {
        let milliseconds = time.wholeMilliseconds
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
        guard seconds > 0 else { return "\(milliseconds)\(blank)ms" }
        guard rest > 0 else { return "\(seconds)\(blank)s" }
        var digits = String(1_000 + rest).dropFirst()
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(seconds).\(digits)\(blank)s"
    }
}
