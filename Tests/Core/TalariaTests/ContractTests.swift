import JSON
import Testing

@testable import Talaria

/// Readers note what the contract does not define, wherever it comes up, and nothing else.
@Suite struct ContractTests {
    /// A body or an event with its reader.
    struct Document: Sendable, CustomTestStringConvertible {
        let name: String
        let object: ContractObject
        let read: @Sendable ([UInt8], inout ContractNotes) -> Void

        var testDescription: String { self.name }
    }

    static let bodies = [
        Document(name: "UploadAccepted", object: Contract.uploadAccepted) {
            _ = UploadAccepted.read($0, into: &$1)
        },
        Document(name: "Results", object: Contract.results) { _ = ResultsReading.read($0, .data, into: &$1) },
        Document(name: "ProblemDetails", object: Contract.problem) {
            _ = ProblemReading.read($0, status: 429, into: &$1)
        },
    ]
    static let events = Contract.events.map { event in
        Document(name: event.names[0], object: event.data) {
            _ =
                event.names == [EventKind.result.rawValue]
                ? JobEvent(resultBytes: $0, into: &$1) : JobEvent(name: event.names[0], bytes: $0, into: &$1)
        }
    }
    static let documents = bodies + events

    // MARK: Examples

    private static func example(_ shape: ContractShape, key: String) -> String {
        switch shape {
        case .text(format: "byte"): #""/9j/""#
        case .text, .pattern: #""\#(key)""#
        case .words(let words, name: _): "\"\(words[0])\""
        case .flag(let flag): flag == false ? "false" : key == "truncated" ? "false" : "true"
        case .integer: key == "status" ? "429" : "1"
        case .number: "0.5"
        case .list(let shape): "[\(self.example(shape, key: key))]"
        case .object(let object):
            "{\(object.members.map { "\"\($0.key)\":\(self.example($0.shape, key: $0.key))" }.joined(separator: ","))}"
        }
    }

    /// A value of another kind.
    private static func wrong(_ shape: ContractShape) -> String {
        switch shape {
        case .text, .pattern, .words: "[]"
        case .flag, .integer, .number, .list, .object: #""wrong""#
        }
    }

    /// Every document in which one thing differs from the example: `change` is asked for the text of each member.
    private static func variants(
        of object: ContractObject, at prefix: String = "",
        _ change: (ContractMember) -> String?
    ) -> [(path: String, member: ContractMember, text: String)] {
        var variants: [(path: String, member: ContractMember, text: String)] = []
        for (index, member) in object.members.enumerated() {
            func whole(_ text: String?) -> String {
                let members = object.members.enumerated().compactMap { other, member in
                    other == index
                        ? text
                        : "\"\(member.key)\":\(Self.example(member.shape, key: member.key))"
                }
                return "{\(members.joined(separator: ","))}"
            }
            variants.append((prefix + member.key, member, whole(change(member))))
            var (inner, open, close, path) = (member.shape, "", "", prefix + member.key)
            while case .list(let shape) = inner {
                (inner, open, close, path) = (shape, open + "[", close + "]", path + "[]")
            }
            if case .object(let object) = inner {
                variants += Self.variants(of: object, at: path + ".", change).map {
                    ($0.path, $0.member, whole("\"\(member.key)\":\(open)\($0.text)\(close)"))
                }
            }
        }
        return variants
    }

    private func notes(_ document: Document, _ text: String) -> [ContractNotes.Note] {
        #expect(JSONNode(Array(text.utf8)) != nil, "\(text)")
        var notes = ContractNotes()
        document.read(Array(text.utf8), &notes)
        return notes.notes
    }

    // MARK: Readers

    @Test(arguments: documents) func `what the contract defines is no finding`(document: Document) {
        #expect(self.notes(document, Self.example(.object(document.object), key: "")) == [])
    }

    @Test(arguments: documents) func `a value of another type is one finding`(document: Document) {
        for (path, member, text) in Self.variants(
            of: document.object, { "\"\($0.key)\":\(Self.wrong($0.shape))" })
        {
            let notes = self.notes(document, text)
            #expect(notes.map(\.path) == [path], "\(text)")
            #expect(notes.allSatisfy { $0.seen != "missing" && $0.expected != "" }, "\(member.key)")
        }
    }

    @Test(arguments: documents) func `a missing member is one finding if the contract promises it`(
        document: Document
    ) {
        for (path, member, text) in Self.variants(of: document.object, { _ in nil }) {
            let notes = self.notes(document, text)
            #expect(notes.map(\.path) == (member.isRequired ? [path] : []), "\(text)")
            #expect(notes.allSatisfy { $0.seen == "missing" })
        }
    }

    @Test(arguments: documents) func `null is a finding only in a member that the contract promises`(
        document: Document
    ) {
        for (path, member, text) in Self.variants(of: document.object, { "\"\($0.key)\":null" }) {
            #expect(self.notes(document, text).map(\.path) == (member.isRequired ? [path] : []), "\(text)")
        }
    }

    @Test(arguments: documents) func `an unknown member is one finding, without its value`(document: Document)
    {
        for (path, member, text) in Self.variants(
            of: document.object,
            { "\"\($0.key)\":\(Self.example($0.shape, key: $0.key)),\"token\":\"secret\"" })
        {
            let place = path.dropLast(member.key.count) + "token"
            #expect(
                self.notes(document, text) == [
                    .init(
                        path: String(place), expected: "a field of the contract", seen: "an unknown field",
                        excerpt: nil, isDecisive: false)
                ], "\(text)")
        }
    }

    @Test(arguments: documents) func `a text that is none of the contract's words is one finding`(
        document: Document
    ) {
        for (path, member, text) in Self.variants(of: document.object, { "\"\($0.key)\":\"quantum\"" }) {
            guard case .words(_, let name) = member.shape else { continue }
            let notes = self.notes(document, text)
            #expect(notes.map(\.path) == [path] && notes.map(\.excerpt) == ["quantum"], "\(text)")
            #expect(path == "data.status" || notes.map(\.expected) == [name], "\(text)")
        }
    }

    @Test(arguments: documents) func `a number out of its range is one finding`(document: Document) {
        for (path, member, text) in Self.variants(of: document.object, { "\"\($0.key)\":-1" }) {
            switch member.shape {
            case .integer(.some), .number(.some):
                #expect(self.notes(document, text).map(\.path) == [path], "\(text)")
            case .text, .pattern, .words, .flag, .integer, .number, .list, .object: continue
            }
        }
    }

    @Test func `a ping that is no object is a finding, and a ping`() {
        var notes = ContractNotes()
        #expect(JobEvent(name: "ping", bytes: Array("pong".utf8), into: &notes) == .ping)
        #expect(notes.notes.map(\.path) == ["body"] && notes.notes.allSatisfy { !$0.isDecisive })
    }

    // MARK: Writers

    private func keys(_ body: some JSONWritable) -> [String] {
        JSONNode(JSON.encode(body))?.members.map(\.key).sorted() ?? []
    }

    /// The members of the contract at a path of keys.
    private func members(_ object: ContractObject, _ path: String...) -> [String] {
        var object = object
        for key in path {
            guard let member = object.members.first(where: { $0.key == key }),
                case .object(let inner) = member.shape
            else { return [] }
            object = inner
        }
        return object.keys.sorted()
    }

    @Test func `every member that is written is in the contract`() throws {
        let text = "t"
        let book = Book(
            title: text, author: text, isbn: text, confidence: 0.5, enrichmentStatus: .success, coverUrl: text
        )
        let link = UploadAccepted.Link(href: text, rel: text, method: text)
        let metadata = Metadata(timestamp: text, requestId: text)
        let bodies: [(any JSONWritable, ContractObject)] = [
            (
                UploadAccepted(
                    job: .init(jobId: text, authToken: text, sseUrl: text, statusUrl: text),
                    links: .init(own: link, stream: link, cancel: link), metadata: metadata),
                Contract.uploadAccepted
            ),
            (ResultsBody(jobId: text, results: [book]), Contract.results),
            (
                StatusBody(
                    .init(jobId: text, status: .processing, progress: 0.5, processedCount: 1, totalCount: 2)),
                Contract.status
            ),
            (CancelBody(jobId: text), Contract.canceled),
            (
                Problem(
                    .rateLimitExceeded, detail: text, instance: text, retryAfterMs: 1, metadata: metadata),
                Contract.problem
            ),
            (
                CompletedData(
                    jobId: text, resultsUrl: text,
                    summary: CompletedSummary(totalDetected: 1, approved: 1, needsReview: 0), books: [book]),
                Contract.completed
            ),
            (
                ErrorData(jobId: text, code: "CANCELED", message: text, retryable: false), Contract.error
            ),
            (
                DegradedData(jobId: text, isbn: text, title: text, reason: text, timestamp: text),
                Contract.degraded
            ),
        ]
        for (body, object) in bodies {
            var notes = ContractNotes()
            LeanObject(JSON.encode(body), into: &notes)?.compare(with: object, into: &notes)
            #expect(notes.notes == [], "\(object.name ?? "")")
        }
        // And everything that is always written is promised.
        #expect(self.keys(CancelBody(jobId: text)) == self.members(Contract.canceled))
        #expect(self.members(Contract.status, "data").count == 5)
    }

    @Test func `the codes of this program have a status of the contract`() {
        let statuses = Set(
            ContractOperation.all.filter { $0.version == .v3 }.flatMap(\.answers).map(\.status)
        ).union([405])
        for code in ProblemCode.allCases { #expect(statuses.contains(code.status), "\(code)") }
    }
}
