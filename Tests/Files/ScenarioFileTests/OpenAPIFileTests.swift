import Foundation
import JSON
import OriginServer
import SimTestSupport
import Talaria
import Testing

@testable import ScenarioFile

/// `Docs/talaria-openapi.yaml`, as the reader of this project reads it, says what the backend sends and the phone reads.
@Suite struct OpenAPIFileTests {
    private let text: String
    private let document: Node

    init() throws {
        self.text = try String(
            contentsOf: Checkout.root.appending(path: "Docs/talaria-openapi.yaml"), encoding: .utf8)
        let findings = Findings()
        let source = findings.add(SourceText(name: "openapi", isOption: false, text: self.text))
        let reader = YAMLReader(Array(self.text.utf8), source: source, columnShift: 0, findings: findings)
        self.document = try #require(reader.document())
        #expect(findings.errors == nil)
    }

    /// The value at a path of keys, with references resolved.
    private func node(_ path: String..., in start: Node? = nil) throws -> Node {
        var node = start ?? self.document
        for key in path { node = try self.resolved(try #require(node[key], "\(key) of \(path)")) }
        return node
    }

    private func resolved(_ node: Node) throws -> Node {
        guard case .scalar(let reference)? = node["$ref"]?.content else { return node }
        var target = self.document
        for key in reference.dropFirst(2).split(separator: "/") {
            target = try #require(target[String(key)], "\(reference)")
        }
        return target
    }

    private func keys(_ node: Node) -> [String] {
        if case .map(let entries) = node.content { entries.map(\.key) } else { [] }
    }

    private func text(_ node: Node) throws -> String {
        guard case .scalar(let text) = node.content else { throw JSONMismatch() }
        return text
    }

    private func texts(_ node: Node) -> [String] {
        guard case .list(let nodes) = node.content else { return [] }
        return nodes.compactMap { if case .scalar(let text) = $0.content { text } else { nil } }
    }

    @Test func `the committed file is the one that the program makes`() throws {
        #expect(
            self.text == OpenAPIDocument.text,
            "`make docs` writes Docs/talaria-openapi.yaml again")
    }

    @Test func `every long line and special character comes back as it was`() throws {
        let description = try self.node("info", "description")
        #expect(try self.text(description).contains("(Server-Sent Events)"))
        let text = try self.text(
            try self.node("components", "parameters", "JobID", "schema", "pattern"))
        for id in ["j", "3f0c1f9e-8a55-4b7e-9d0e-5d6f0c1b2a39", "a.b", String(repeating: "x", count: 128)] {
            #expect(try id.wholeMatch(of: Regex(text)) != nil && Endpoint.isJobID(id))
        }
        for id in ["", ".", "..", "a/b", "ü", "%41", String(repeating: "x", count: 129)] {
            #expect(try id.wholeMatch(of: Regex(text)) == nil && !Endpoint.isJobID(id))
        }
    }

    @Test func `the file has the paths and methods that the backend serves, and no others`() throws {
        let paths = try self.node("paths")
        var served: [Talaria.Operation] = []
        for path in self.keys(paths) where path.hasPrefix("/v3/") {
            let endpoint = try #require(JourneyPath(path: path.replacing("{jobId}", with: "j")))
            for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"] {
                let operation = endpoint.operation(method: method)
                #expect((paths[path]?[method.lowercased()] != nil) == (operation != nil), "\(method) \(path)")
                if let operation { served.append(operation) }
            }
        }
        let expected = Talaria.Operation.allCases.filter { $0 != .refresh }  // It is one of v2.
        #expect(Set(served).sorted { $0.rawValue < $1.rawValue } == expected)
    }

    @Test func `the paths and methods of v2 are served, and those of each journey are there`() throws {
        let paths = try self.node("paths")
        var journeys: [Journey: Set<Talaria.Operation>] = [:]
        for path in self.keys(paths) where !path.hasPrefix("/v3/") {
            #expect(APIVersion(path: path) == .v2)
            let methods = self.keys(try self.node("paths", path)).filter { $0 != "parameters" }
            #expect(methods.count == 1, "\(path)")
            let method = methods[0].uppercased()
            let ids = ["scan_j", "enrichment_j", "import_j"]
            let taken = ids.filter { id in
                let address = path.replacing("{jobId}", with: id)
                if let known = JourneyPath(path: address) {
                    guard let operation = known.operation(method: method) else { return false }
                    journeys[known.journey, default: []].insert(operation)
                    return true
                }
                return false
            }
            #expect(!taken.isEmpty, "\(method) \(path)")
        }
        // The job of an exchange is in its body.
        #expect(journeys[.bookshelfScan]?.remove(.refresh) != nil)
        for journey in Journey.all(.v2) {
            #expect(
                journeys[journey]
                    == (journey.hasJobs ? [.upload, .stream, .results, .cleanup, .status] : [.upload]),
                "\(journey)")
        }
    }

    @Test func `every operation needs a device, and every one of a job a token, but for imports`() throws {
        for path in self.keys(try self.node("paths")) {
            let isOpen = path.hasPrefix(Journey.csvImport.path(.upload)) || !path.contains("{jobId}")
            let item = try self.node("paths", path)
            for method in self.keys(item) where method != "parameters" {
                let operation = try self.node(method, in: item)
                guard case .list(let parameters) = try self.node("parameters", in: operation).content else {
                    Issue.record("no parameters")
                    continue
                }
                let names = try parameters.map {
                    try self.text(try self.node("name", in: try self.resolved($0)))
                }
                #expect(names.contains(HeaderName.deviceID), "\(method) \(path): \(names)")
                let security = try self.node("security", in: operation)
                if case .list(let schemes) = security.content {
                    #expect(schemes.isEmpty == isOpen, "\(method) \(path)")
                }
            }
        }
    }

    @Test func `every problem code has a status that some operation may be answered with`() throws {
        let codes = self.texts(
            try self.node("components", "schemas", "ProblemDetails", "properties", "code", "enum"))
        #expect(Set(ProblemCode.allCases.map(\.rawValue)).isSubset(of: codes))
        var statuses: Set<String> = []
        for path in self.keys(try self.node("paths")) {
            let item = try self.node("paths", path)
            for method in self.keys(item) where method != "parameters" {
                statuses.formUnion(self.keys(try self.node(method, "responses", in: item)))
            }
        }
        // A path that does not take a method is not an operation.
        for code in ProblemCode.allCases where code != .methodNotAllowed {
            #expect(statuses.contains(String(code.status)), "\(code)")
        }
    }

    @Test func `every event that a client understands is in the file with its data`() throws {
        let schema = try self.node(
            "paths", "/v3/jobs/scans/{jobId}/stream", "get", "responses", "200", "content",
            "text/event-stream",
            "schema", "oneOf")
        guard case .list(let events) = schema.content else { throw JSONMismatch() }
        var names: [String] = []
        for event in events {
            names += self.texts(try self.node("properties", "event", "enum", in: event))
            let data = try self.node("properties", "data", "contentSchema", in: event)
            #expect(try self.text(try self.node("type", in: data)) == "object")
        }
        // `complete` is the accepted alias of `completed`. Of `result` there is another form, which not all clients read.
        for name in ["complete"] + EventKind.allCases.map(\.rawValue) + [
            "result", "canceled", "failed", "timeout",
        ] {
            let reading = JobEvent(name: name, bytes: Array("{}".utf8))
            let isKnown = name == EventKind.result.rawValue || reading != .unknown(name: name)
            #expect(names.contains(name) == isKnown, "\(name)")
        }
    }

    /// What the program writes, and where its schema is.
    private func expectWritten(_ body: some JSONWritable, at schema: String) throws {
        let node = try #require(JSONNode(JSON.encode(body)))
        try self.expectWritten(node, at: try self.node("components", "schemas", schema), schema)
    }

    private func expectWritten(_ value: JSONNode, at schema: Node, _ path: String) throws {
        let properties = try self.node("properties", in: schema)
        #expect(Set(value.members.map(\.key)).isSubset(of: self.keys(properties)), "\(path)")
        if let required = schema["required"] {
            #expect(Set(self.texts(required)).isSubset(of: value.members.map(\.key)), "\(path)")
        }
        for (key, member) in value.members {
            let schema = try self.node(key, in: properties)
            if member.kind == .object { try self.expectWritten(member, at: schema, path + "." + key) }
            for element in member.elements where element.kind == .object {
                try self.expectWritten(element, at: try self.node("items", in: schema), path + "." + key)
            }
        }
    }

    @Test func `every body and event that is written has the members of the file`() throws {
        let text = "t"
        let book = Book(
            title: text, author: text, isbn: nil, confidence: 0.5, enrichmentStatus: .notFound, coverUrl: nil)
        let link = UploadAccepted.Link(href: text, rel: text, method: text)
        let metadata = Metadata(timestamp: text, requestId: text)
        try self.expectWritten(
            UploadAccepted(
                job: .init(jobId: text, authToken: text, sseUrl: text, statusUrl: text),
                links: .init(own: link, stream: link, cancel: link), metadata: metadata), at: "UploadAccepted"
        )
        try self.expectWritten(ResultsBody(jobId: text, results: [book]), at: "Results")
        try self.expectWritten(
            StatusBody(
                .init(jobId: text, status: .failed, progress: 0.5, processedCount: 1, totalCount: 2)),
            at: "JobStatus")
        try self.expectWritten(CancelBody(jobId: text), at: "JobCanceled")
        try self.expectWritten(
            Problem(.conflict, detail: text, instance: text, retryAfterMs: 1, metadata: metadata),
            at: "ProblemDetails")
        try self.expectWritten(
            CompletedData(
                jobId: text, resultsUrl: text,
                summary: CompletedSummary(totalDetected: 1, approved: 1, needsReview: 0), books: [book]),
            at: "CompletedEvent")
        try self.expectWritten(
            ErrorData(jobId: text, code: text, message: text, retryable: true), at: "ErrorEvent")
        try self.expectWritten(
            DegradedData(jobId: text, isbn: nil, title: text, reason: text, timestamp: text),
            at: "EnrichmentDegradedEvent")
    }
}
