package import SimBase

/// The paths of the scan endpoints (Docs/contract.md section 1.1 rows 1 to 6).
package enum Endpoint: Hashable, Sendable {
    case upload
    case stream(jobId: String)
    case results(jobId: String)
    case cleanup(jobId: String)
    case job(jobId: String)
    /// Its body names the job, and v2 alone has it.
    case refresh

    package static let scans = "/v3/jobs/scans"
    private static let scansFolder = scans + "/"
    private static let otherScansFolder = "/v3/jobs/ai_scan/scans/"

    /// The path without a query.
    package var path: String {
        switch self {
        case .upload: Self.scans
        case .stream(let jobId): Self.path(jobId, "/stream")
        case .results(let jobId): Self.path(jobId, "/results")
        case .cleanup(let jobId): Self.path(jobId, "/cleanup")
        case .job(let jobId): Self.path(jobId, "")
        case .refresh: TokenRefresh.path
        }
    }

    private static func path(_ jobId: String, _ end: StaticString) -> String {
        ByteBuilder.text { text in
            text.append(text: Self.scansFolder)
            text.append(text: jobId)
            text.append(literal: end)
        }
    }

    /// The path of the results in the events of the live backend (Docs/contract.md section 2.4).
    package static func otherResultsPath(_ jobId: String) -> String {
        ByteBuilder.text { text in
            text.append(text: Self.otherScansFolder)
            text.append(text: jobId)
            text.append(literal: "/results")
        }
    }

    /// Nil for any other path. The job id is taken unchanged, at most 128 bytes of unreserved characters.
    package init?(path: String) {
        if path == Self.scans {
            self = .upload
            return
        }
        let bytes = Array(path.utf8)
        let isOther = bytes.holds(Self.otherScansFolder, at: 0)
        guard isOther || bytes.holds(Self.scansFolder, at: 0) else { return nil }
        let rest = bytes[(isOther ? Self.otherScansFolder : Self.scansFolder).utf8.count...]
        let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        guard Self.isJobID(rest[..<slash]) else { return nil }
        let jobId = String(decoding: rest[..<slash], as: UTF8.self)
        func ends(_ end: String) -> Bool {
            bytes.count - slash == end.utf8.count && bytes.holds(end, at: slash)
        }
        if ends("/results") {
            self = .results(jobId: jobId)
        } else if isOther {
            return nil
        } else if ends("") {
            self = .job(jobId: jobId)
        } else if ends("/stream") {
            self = .stream(jobId: jobId)
        } else if ends("/cleanup") {
            self = .cleanup(jobId: jobId)
        } else {
            return nil
        }
    }

    /// The path of a request's target, without its query.
    package static func path(ofTarget target: String) -> String {
        let mark = UInt8(ascii: "?")
        guard target.contains(byte: { $0.equal(mark) }) else { return target }
        return String(decoding: Array(target.utf8).prefix { $0 != mark }, as: UTF8.self)
    }

    /// Whether a text can be a path segment without escaping (RFC 3986, unreserved) and stays one: `.` and
    /// `..` are taken out of a path by anything that normalizes it (section 5.2.4).
    package static func isJobID(_ text: String) -> Bool { self.isJobID(Array(text.utf8)[...]) }

    private static func isJobID(_ text: ArraySlice<UInt8>) -> Bool {
        guard (1...128).contains(text.count), text != [0x2E], text != [0x2E, 0x2E] else { return false }
        for byte in text {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."), UInt8(ascii: "~"):
                continue
            default: return false
            }
        }
        return true
    }
}

/// Header names of the contract, as they are written on the wire.
package enum HeaderName {
    package static let deviceID = "X-Device-ID"
    package static let lastEventID = "Last-Event-ID"
    package static let authorization = "Authorization"
    /// The token alone, in v2 (Docs/contract.md section 3.2).
    package static let otherToken = "X-Auth-Token"
    package static let retryAfter = "Retry-After"
    package static let requestID = "X-Request-ID"
}

/// The numbers of the contract (Docs/contract.md sections 1.2, 2.3 and 8).
package enum ContractLimit {
    package static let photosMax = 5
    /// The life of a token (Docs/contract.md section 2.5).
    package static let tokenLifetime = Interval.minutes(120)
    /// The regions of a photo that the app segments; more are an error of the segmentation (Docs/apps.md section 4.2).
    package static let regionsMax = 20
    package static let photoBytesMax = 10_000_000
    package static let batchBytesMax = 50_000_000
    /// A `completed` payload above this loses its books: the 128 KB of a Durable Object.
    package static let completedBytesMax = 131_072
    package static let streamsMax = 5
    /// The status of a job may be requested once in this time (Docs/contract.md section 1.4).
    package static let statusPollMin = Interval.seconds(2)
}
