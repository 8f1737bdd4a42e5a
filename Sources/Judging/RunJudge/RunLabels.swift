import SimBase

/// The labels that distinguish a run from others of its scenario: the tested backend, and the user's tags.
/// They are in every report.
package struct RunLabels: Equatable, Sendable {
    /// The URL of `--target` without user, password and query; nil for the simulated backend.
    package let target: String?
    /// The version of HTTP that is used; nil for the simulated backend, and for runs of earlier versions.
    package var http: SpokenHTTP?
    /// The tags in the order of their keys.
    package let tags: [RunTag]

    package init(target: String? = nil, http: SpokenHTTP? = nil, tags: [RunTag] = []) {
        self.http = http
        self.target = target.map { Printable.line(Self.withoutSecrets($0)) }
        self.tags = tags.sorted { $0.key < $1.key }
    }

    package var isEmpty: Bool { self.words.isEmpty }

    /// The labels as phrases, the target first: `target https://staging.example`, `HTTP/2, agreed on by ALPN`, `build=1432`.
    package var words: [String] {
        (self.target.map { ["target " + $0] } ?? []) + (self.http.map { [$0.text] } ?? [])
            + self.tags.map { "\($0.key)=\($0.value)" }
    }

    /// Returns the labels that are equal in both.
    func agreed(with other: RunLabels) -> RunLabels {
        let isOneTarget = self.target == other.target
        return RunLabels(
            target: isOneTarget ? self.target : nil,
            http: isOneTarget && self.http == other.http ? self.http : nil,
            tags: self.tags.filter { other.tags.contains($0) })
    }

    /// The version of HTTP and the tags in which NEW differs from BASE, one phrase each.
    package static func differences(base: RunLabels, new: RunLabels) -> [String] {
        let keys = Set((base.tags + new.tags).map(\.key)).sorted()
        var versions: [String] = []
        if let before = base.http?.version, let after = new.http?.version, before != after {
            versions = ["HTTP/\(before.rawValue) in BASE, HTTP/\(after.rawValue) in NEW"]
        }
        return versions
            + keys.compactMap { key in
                let (before, after) = (base[key], new[key])
                return before == after
                    ? nil : "tag \(key): \(before ?? "none") in BASE, \(after ?? "none") in NEW"
            }
    }

    private subscript(key: String) -> String? { self.tags.first { $0.key == key }?.value }

    private static func withoutSecrets(_ url: String) -> String {
        let plain = url.prefix { $0 != "?" && $0 != "#" }
        guard let scheme = plain.firstRange(of: "://") else { return String(plain) }
        let authority = plain[scheme.upperBound...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(plain) }
        return String(plain[..<scheme.upperBound] + plain[plain.index(after: at)...])
    }
}
