import JSON
import Observations
import OriginServer
import SimBase
import Talaria
import Testing

@testable import Backend

/// What the bodies of requests of v2 have and the contract does not define (Docs/contract.md section 3.2).
@Suite struct V2RequestFindingTests {
    private static func upload(
        _ bench: inout Bench, _ path: String, _ parts: [UploadPart],
        type: String = "multipart/form-data; boundary=x"
    ) -> [ContractFinding] {
        let length = parts.reduce(200) { $0 + $1.bytes }
        let (exchange, effects) = bench.ask(
            "POST", path, device: nil, contentType: type, contentLength: length)
        var all = effects
        if effects.contains(.readUpload(exchange)) { all += bench.handle(.uploaded(exchange, parts)) }
        return all.backendSightings.compactMap { if case .found(let finding) = $0 { finding } else { nil } }
    }

    private static func part(_ name: String, _ type: String?, _ bytes: [UInt8]) -> UploadPart {
        UploadPart(name: name, filename: "a", contentType: type, bytes: bytes.count, prefix: bytes)
    }

    private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0]

    private static func texts(_ findings: [ContractFinding]) -> [String] {
        #expect(findings.allSatisfy { $0.part == ContractFinding.requestPart && $0.operation == .upload })
        return findings.map { "\($0.path): \($0.seen)" }
    }

    @Test(
        arguments: [
            ("photos", "image/jpeg", nil), ("photos", "image/png", nil),
            ("photos[]", "image/jpeg", "part: another name"),
            ("photos", "text/plain", "part Content-Type: another type"),
            ("photos", nil, "part Content-Type: missing"),
        ] as [(String, String?, String?)])
    func `the parts of a scan`(name: String, type: String?, finding: String?) {
        var bench = Bench()
        let found = Self.upload(&bench, "/api/batch-scan", [Self.part(name, type, Self.jpeg)])
        #expect(Self.texts(found) == (finding.map { [$0] } ?? []))
    }

    @Test(
        arguments: [
            ("file", "text/csv", nil), ("file", "text/csv; charset=utf-8", nil),
            ("csv", "text/csv", "part: another name"),
            ("file", "application/octet-stream", "part Content-Type: another type"),
        ] as [(String, String?, String?)])
    func `the part of an import`(name: String, type: String?, finding: String?) {
        var bench = Bench()
        let file = Array("Title,Author,ISBN\nEmma,Jane Austen,9780141439587\n".utf8)
        let found = Self.upload(&bench, "/api/v2/imports", [Self.part(name, type, file)])
        #expect(Self.texts(found) == (finding.map { [$0] } ?? []))
    }

    @Test(
        arguments: [
            (#"{"books":[{"title":"Emma","author":null,"isbn":"1"}],"jobId":"x"}"#, []),
            (#"{"barcodes":["9780306406157"],"vectorize":true}"#, []),
            (#"{"books":[{"title":"Emma","year":1815}]}"#, ["books[].year: an unknown field"]),
            (#"{"barcodes":[9780306406157],"lang":"en"}"#, ["lang: an unknown field"]),
            (#"{"books":{"title":"Emma"}}"#, ["books: an object"]),
            (#"{"books":[{"name":"Emma"}]}"#, ["books[].name: an unknown field", "books[].title: missing"]),
            (#"{"barcodes":["1"],"vectorize":"yes"}"#, ["vectorize: a string"]),
            ("[", []),
        ] as [(String, [String])])
    func `the body of a batch`(body: String, findings: [String]) {
        var bench = Bench()
        let part = Self.part("", "application/json", Array(body.utf8))
        let found = Self.upload(&bench, "/api/batch-enrich", [part], type: "application/json")
        #expect(Self.texts(found) == findings)
    }

    @Test(
        arguments: [
            (
                #"{"barcode":"9780306406157","vectorize":false,"idempotencyKey":"k","preferProvider":"auto"}"#,
                []
            ),
            (#"{"isbn":"9780306406157"}"#, ["isbn: the name of older clients"]),
            (#"{"barcode":"1","isbn":"2"}"#, []), (#"{"barcode":1}"#, ["barcode: a number"]),
            (#"{"barcode":"1","ean":"2"}"#, ["ean: an unknown field"]), ("x", []),
        ] as [(String, [String])])
    func `the body of a look-up`(body: String, findings: [String]) {
        let notes = ContractNotes(lookup: Array(body.utf8))
        #expect(notes.notes.map { "\($0.path): \($0.seen)" } == findings)
    }
}
