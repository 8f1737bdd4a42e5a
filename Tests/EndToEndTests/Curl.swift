import Foundation
import Testing

/// The installed `curl` as a client of a backend: one phone, and one job's token when it has one.
struct Curl: Sendable {
    /// Ids are compared with what a shipping app sends: an uppercase UUID v4.
    static let device = "6F9619FF-8B86-4D01-B42D-00CF4FC964FF"

    let base: String
    var device: String? = Self.device
    var token: String?
    /// The PEM file of the authority to trust; nil for those of the system.
    var authority: String?

    func get(_ path: String, _ options: [String] = []) async throws -> Reply {
        try await self.send(path, options)
    }

    func delete(_ path: String) async throws -> Reply { try await self.send(path, ["-X", "DELETE"]) }

    /// Each form as `-F` takes it.
    func upload(_ forms: [String], _ options: [String] = []) async throws -> Reply {
        try await self.send("/v3/jobs/scans", forms.flatMap { ["-F", $0] } + options)
    }

    /// The photo as a part of an upload.
    static let photo = Self.photo(Package.photo)

    static func photo(_ file: URL, type: String = "image/jpeg") -> String {
        "photos[]=@\(file.path);type=\(type)"
    }

    /// The stream to its end.
    func stream(_ job: String, after lastEventID: String? = nil) async throws -> Reply {
        try await self.send(
            "/v3/jobs/scans/\(job)/stream",
            ["-N", "-H", "Accept: text/event-stream"]
                + (lastEventID.map { ["-H", "Last-Event-ID: \($0)"] } ?? []))
    }

    /// What came of a stream that may be cut.
    func cutStream(_ job: String) async throws -> String {
        try await self.send(
            "/v3/jobs/scans/\(job)/stream", ["-N", "-H", "Accept: text/event-stream"], mayBreak: true
        ).body
    }

    private func send(_ path: String, _ options: [String], mayBreak: Bool = false) async throws -> Reply {
        var arguments = ["curl", "-q", "-sS", "-i", "--noproxy", "*", "--max-time", "30"]
        if let authority { arguments += ["--cacert", authority] }
        if let device { arguments += ["-H", "X-Device-ID: \(device)"] }
        if let token { arguments += ["-H", "Authorization: Bearer \(token)"] }
        let outcome = try await Subprocess.run(
            URL(filePath: "/usr/bin/env"), arguments + options + ["\(self.base)\(path)"], seconds: 40)
        try #require(outcome.code == 0 || mayBreak, "curl \(path): \(outcome.complaint)")
        return try #require(Reply(outcome.output), "no HTTP: \(outcome.output.prefix(200))")
    }
}

/// An HTTP response as `curl -i` shows it.
struct Reply: Sendable {
    var status: Int
    /// Names in lowercase.
    var headers: [String: String]
    var body: String

    /// The last response in the text: interim ones (100) come before it.
    init?(_ text: String) {
        var rest = text[...]
        while true {
            guard rest.hasPrefix("HTTP/1.1 "), let end = rest.range(of: "\r\n\r\n") else { return nil }
            let lines = rest[..<end.lowerBound].components(separatedBy: "\r\n")
            rest = rest[end.upperBound...]
            guard let status = Int(lines[0].dropFirst("HTTP/1.1 ".count).prefix(3)) else { return nil }
            guard status >= 200 else { continue }
            self.status = status
            self.headers = [:]
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: ":") else { return nil }
                let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                self.headers[line[..<colon].lowercased()] = value
            }
            self.body = String(rest)
            return
        }
    }

    func decoded<Body: Decodable>(_ type: Body.Type) throws -> Body {
        try JSONDecoder().decode(type, from: Data(self.body.utf8))
    }
}
