package import SimBase

/// The head of the upstream's answer.
package struct UpstreamHead: Hashable, Sendable {
    package var status: Int
    /// The headers without the hop-by-hop fields.
    package var headers: [HeaderField]
    /// The value of `Content-Length`.
    package var length: Int?

    package init(status: Int, headers: [HeaderField], length: Int?) {
        self.status = status
        self.headers = headers
        self.length = length
    }

    package func first(_ name: String) -> String? {
        let wanted = name.lowercased()
        return self.headers.first { $0.name.lowercased() == wanted }?.value
    }

    package var mediaType: String {
        let type = self.first("Content-Type")?.split(separator: ";").first.map(String.init) ?? ""
        return type.lowercased().trimmed
    }
}

extension String {
    fileprivate var trimmed: String {
        String(self.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
