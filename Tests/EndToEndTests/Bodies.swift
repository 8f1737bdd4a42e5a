import Foundation

/// The bodies of the contract, written down here once more: the tests do not share the program's own.
struct Accepted: Codable, Equatable {
    struct Job: Codable, Equatable {
        var jobId, authToken, sseUrl, statusUrl: String
    }

    struct Link: Codable, Equatable {
        var href, rel, method: String
    }

    struct Links: Codable, Equatable {
        var `self`, stream, cancel: Link
    }

    var success: Bool
    var data: Job
    var _links: Links
    var metadata: Metadata
}

struct Metadata: Codable, Equatable {
    var timestamp, requestId: String
}

struct Book: Codable, Equatable {
    var title, author: String
    var isbn: String?
    var confidence: Double?
    var enrichmentStatus, coverUrl: String?
}

struct Results: Codable, Equatable {
    struct Content: Codable, Equatable {
        var jobId, status: String
        var results: [Book]
    }

    var success: Bool
    var data: Content
}

struct Status: Codable, Equatable {
    struct Content: Codable, Equatable {
        var jobId, status: String
        var progress: Double
        var processedCount, totalCount: Int
    }

    var success: Bool
    var data: Content
}

/// RFC 9457 with the contract's additions.
struct ProblemDocument: Codable, Equatable {
    var success: Bool
    var type, title: String
    var status: Int
    var detail: String
    var instance: String?
    var code: String
    var retryable: Bool
    var retryAfterMs: Int?
    var metadata: Metadata
}

// MARK: Events

struct ProgressData: Codable, Equatable {
    var type, jobId, status: String
    var progress: Double
    var processedCount, totalCount: Int
    var message: String
    var currentItem: String?
    var timestamp: String
}

struct CompletedData: Codable, Equatable {
    struct Summary: Codable, Equatable {
        var totalDetected, approved, needsReview: Int
    }

    var type, jobId, resultsUrl: String
    var summary: Summary
    var books: [Book]?
}

/// One event of a stream as it was sent.
struct StreamEvent: Equatable {
    var id: String?
    var name: String
    var data: String

    var isPing: Bool { self.name == "ping" }

    /// The blocks of a stream whose every event is one `data` line, as the backend writes them; comments are left out.
    static func all(in text: String) -> [StreamEvent] {
        text.components(separatedBy: "\n\n").compactMap { block in
            var fields: [String: String] = [:]
            for line in block.split(separator: "\n") where !line.hasPrefix(":") {
                guard let colon = line.range(of: ": ") else { continue }
                fields[String(line[..<colon.lowerBound])] = String(line[colon.upperBound...])
            }
            guard let name = fields["event"], let data = fields["data"] else { return nil }
            return StreamEvent(id: fields["id"], name: name, data: data)
        }
    }

    func decoded<Content: Decodable>(_ type: Content.Type) throws -> Content {
        try JSONDecoder().decode(type, from: Data(self.data.utf8))
    }
}
