import SimBase
import Talaria
import Testing

@testable import Phone

/// What deviates in answers and events of v2 (Docs/contract.md sections 3.1 to 3.3).
struct V2FindingTests {
    private func phone(_ journey: Journey = .bookshelfScan, polls: Bool = false) -> TestPhone {
        var profile = ClientProfile.contract
        profile.journey = journey
        if polls { profile.status.polling = .always }
        return TestPhone(profile: profile)
    }

    /// An upload that was answered with the body of a job, with some text in it replaced.
    private func accepted(_ text: String = "", _ other: String = "", type: String? = nil) -> [String] {
        var phone = phone()
        phone.capture(1)
        let body = String(decoding: V2Wording.accepted("scan_1"), as: UTF8.self)
        #expect(text.isEmpty || body.contains(text))
        phone.answer(
            .upload, 202, Array(body.replacing(text.isEmpty ? "\0" : text, with: other).utf8), type: type)
        return phone.found
    }

    @Test func `the answer to an upload`() {
        #expect(self.accepted() == [])
        for (text, other, finding) in [
            (#","token":"t""#, "", nil), (#""authToken":"t","#, "", "data.authToken: missing"),
            (#""statusUrl""#, #""status_url""#, "data.status_url: an unknown field"),
            (#""timestamp":"2026-01-01T00:00:00.000Z""#, "", "metadata.timestamp: missing"),
            (#""metadata""#, #""meta""#, "meta: an unknown field"),
            ("scan_1", "job-1", "data.jobId: another one"),
            (#""success":true,"#, "", "success: missing"),
            (#""jobId":"scan_1","#, "", "data.jobId: missing!"),
            (#""authToken":"t""#, #""authToken":7"#, "data.authToken: a number"),
        ] as [(String, String, String?)] {
            let found = self.accepted(text, other)
            #expect(found.contains { $0 == "upload 202 " + (finding ?? "") } == (finding != nil), "\(found)")
            #expect(finding != nil || found == [])
        }
        #expect(self.accepted(type: "text/plain") == ["upload 202 header Content-Type: another type"])
    }

    @Test func `the answer to a refused upload`() {
        func refused(_ status: Int, _ body: [UInt8], type: String = "application/json") -> [String] {
            var phone = phone()
            phone.capture(1)
            phone.answer(.upload, status, body, type: type)
            return phone.found
        }
        let text = #"{"success":false,"error":{"code":"X","message":"m","retryable":true}}"#
        #expect(refused(503, Array(text.utf8)) == [])
        #expect(refused(507, Array(text.utf8)).contains("upload 507 status: 507"))
        #expect(
            refused(503, Array(text.utf8), type: "text/html")
                == ["upload 503 header Content-Type: another type"])
        for (part, finding) in [
            (#""success":false,"#, "success: missing"), (#""code":"X","#, "error.code: missing"),
            (#""message":"m","#, "error.message: missing"),
            (#","retryable":true"#, "error.retryable: missing"),
        ] {
            #expect(refused(503, Array(text.replacing(part, with: "").utf8)) == ["upload 503 " + finding])
        }
        #expect(
            refused(503, Array(text.replacing("false", with: "true").utf8)) == ["upload 503 success: true"])
        #expect(refused(503, Wording.problem(.circuitOpen)).contains("upload 503 error: missing"))
    }

    private static let state =
        #"{"jobId":"scan_1","status":"processing","progress":0.5,"processedCount":1,"totalCount":2}"#

    private func told(_ name: String, _ data: String, _ journey: Journey = .bookshelfScan) -> [String] {
        var phone = phone(journey)
        phone.capture(1)
        phone.answer(.upload, 202, V2Wording.accepted(journey.jobPrefix + "1"))
        phone.openStream()
        phone.findings = []
        phone.stream(Wording.event(name, id: "1", data))
        return phone.found
    }

    @Test(arguments: ["initialized", "processing", "timeout"]) func `the state of a job`(name: String) {
        let part = name == "timeout" ? "event" : "progress"
        #expect(self.told(name, Self.state) == [])
        for (text, other, finding) in [
            ("0.5", "50", "progress: another number"), ("0.5", "-0.1", "progress: another number"),
            (#""processedCount":1"#, #""processedCount":3"#, "processedCount: a higher number"),
            (#""processedCount":1"#, #""processedCount":-1"#, "processedCount: another number"),
            (#""processedCount":1,"#, "", "processedCount: missing"),
            (#""processing""#, "1", "status: a number"),
            ("processing", "busy", "status: another one"), (#""jobId":"scan_1","#, "", "jobId: missing"),
            (#""totalCount":2"#, #""total":2"#, "total: an unknown field"),
        ] {
            let found = self.told(name, Self.state.replacing(text, with: other))
            #expect(found.contains("stream \(part) \(finding)"), "\(found)")
        }
    }

    @Test func `the end of a job, in the form of either document`() {
        for good in [
            #"{"jobId":"scan_1","type":"job_complete","pipeline":"ai_scan","summary":{"totalProcessed":3,"successCount":2,"failureCount":1,"duration":5},"expiresAt":"2026"}"#,
            #"{"jobId":"scan_1","status":"completed","progress":1,"processedCount":3,"totalCount":3,"completedAt":"2026"}"#,
        ] {
            #expect(self.told("completed", good) == [])
        }
        // One of the documents has no id in it.
        #expect(self.told("completed", #"{"summary":{}}"#) == [])
        for (data, finding) in [
            (#"{"jobId":"scan_1"}"#, "summary: missing"),
            (
                #"{"jobId":"scan_1","summary":{"totalProcessed":3,"successCount":3,"failureCount":1}}"#,
                "summary.totalProcessed: another number"
            ),
            (#"{"jobId":"scan_1","summary":{},"pipeline":"scan"}"#, "pipeline: another one"),
            (#"{"jobId":"scan_2","summary":{}}"#, "jobId: another job"),
            (#"{"jobId":"scan_1","status":"done"}"#, "status: another one"),
            (#"{"jobId":"scan_1","summary":{},"books":[]}"#, "books: an unknown field"),
        ] {
            let found = self.told("completed", data)
            #expect(found == ["stream completed " + finding], "\(found)")
        }
    }

    @Test func `the failure of a job`() {
        let good =
            #"{"jobId":"scan_1","status":"failed","error":{"code":"X","message":"m","retryable":false,"details":{"row":3}}}"#
        #expect(self.told("failed", good) == [])
        #expect(self.told("error", #"{"code":"X","message":"m"}"#) == [])
        for (text, other, finding) in [
            (#""code":"X","#, "", "error.code: missing"), (#""message":"m","#, "", "error.message: missing"),
            (#""retryable":false,"#, "", "error.retryable: missing"),
            (#""failed""#, #""completed""#, "status: another one"),
        ] {
            #expect(self.told("failed", good.replacing(text, with: other)) == ["stream error " + finding])
        }
    }

    @Test func `an event of no document is found, and the end of a stream is none`() {
        #expect(self.told("ping", "{}") == ["stream event event: ping"])
        #expect(self.told("timeout", Self.state) == [])
    }

    @Test func `the results of a scan and of an import`() {
        func results(_ journey: Journey, _ members: String) -> [String] {
            var phone = phone(journey)
            phone.capture(1)
            phone.answer(.upload, 202, V2Wording.accepted(journey.jobPrefix + "1"))
            phone.openStream()
            phone.stream(
                Wording.event("completed", id: "9", #"{"jobId":"\#(journey.jobPrefix)1","summary":{}}"#))
            phone.findings = []
            phone.answer(.results, 200, V2Wording.success(members))
            return phone.found
        }
        let books =
            #""jobId":"scan_1","status":"completed","totalCount":1,"books":[{"title":"T","author":"A"}]"#
        #expect(results(.bookshelfScan, books) == [])
        #expect(
            results(.bookshelfScan, books.replacing("completed", with: "done")) == [
                "results 200 data.status: another one"
            ])
        #expect(
            results(.bookshelfScan, books.replacing(#""totalCount":1,"#, with: "")) == [
                "results 200 data.totalCount: missing"
            ])
        let rows =
            #""booksCreated":1,"booksUpdated":0,"duplicatesSkipped":0,"enrichmentSucceeded":1,"enrichmentFailed":0,"totalCount":1,"errors":[]"#
        #expect(results(.csvImport, rows) == [])
        #expect(
            results(.csvImport, rows.replacing(#","errors":[]"#, with: "")) == [
                "results 200 data.errors: missing"
            ])
        #expect(
            results(.csvImport, rows.replacing(#""totalCount":1"#, with: #""totalCount":2"#)) == [
                "results 200 data.totalCount: another number"
            ])
    }

    @Test func `the status, and the answer to a DELETE`() {
        var polling = phone(polls: true)
        polling.capture(1)
        polling.answer(.upload, 202, V2Wording.accepted("scan_1"))
        polling.pass(.seconds(2))
        polling.answer(.status, 200, V2Wording.success(String(Self.state.dropFirst().dropLast())))
        #expect(polling.found == [])
        polling.pass(.seconds(2))
        polling.answer(
            .status, 200,
            V2Wording.success(String(Self.state.replacing("0.5", with: "5").dropFirst().dropLast())))
        #expect(polling.found == ["status 200 data.progress: another number"])

        func answered(_ status: Int, _ body: [UInt8]) -> TestPhone {
            var phone = phone()
            phone.capture(1)
            phone.answer(.upload, 202, V2Wording.accepted("scan_1"))
            phone.openStream()
            phone.stream(
                Wording.event(
                    "failed", id: "9",
                    #"{"jobId":"scan_1","status":"failed","error":{"code":"X","message":"m","retryable":false}}"#
                ))
            phone.findings = []
            phone.answer(.cleanup, status, body)
            return phone
        }
        func deleted(_ status: Int, _ body: [UInt8]) -> [String] { answered(status, body).found }
        func isTriedAgain(_ body: [UInt8]) -> Bool {
            var phone = answered(200, body)
            phone.pass(.minutes(1))
            return phone.request(.cleanup) != nil
        }
        let gone =
            #""jobId":"scan_1","status":"canceled","message":"m","cleanup":{"kvCacheCleared":true,"r2ObjectsDeleted":1}"#
        #expect(deleted(200, V2Wording.success(gone)) == [])
        #expect(!isTriedAgain(V2Wording.success(gone)))
        #expect(isTriedAgain(Array(#"{"success":false}"#.utf8)), "nothing was deleted")
        #expect(
            deleted(200, V2Wording.success(gone.replacing("scan_1", with: "scan_2"))) == [
                "cleanup 200 data.jobId: another job!"
            ])
        #expect(
            deleted(200, V2Wording.success(gone.replacing(#""message":"m","#, with: ""))) == [
                "cleanup 200 data.message: missing"
            ])
        #expect(deleted(204, []) == ["cleanup 204 status: 204"])
    }

    /// What a phone says of the failures of a job that ends with an event.
    private func failures(
        _ journey: Journey, named name: String = "completed", _ data: String
    ) -> [BookFailures] {
        var profile = ClientProfile.contract
        profile.journey = journey
        if name != "completed" { profile.events.names = .dotted }
        var phone = TestPhone(profile: profile)
        phone.capture(1)
        let job = journey == .batchEnrichment ? "enrichment_1" : "scan_1"
        phone.answer(.upload, 202, V2Wording.accepted(job))
        phone.openStream()
        phone.stream("id: 9-final\nevent: \(name)\ndata: \(data)\n\n")
        return phone.payloads.compactMap {
            if case .booksNotFound(_, let failures) = $0 { failures } else { nil }
        }
    }

    @Test func `the failures of a batch are told`() {
        func end(_ counts: String, job: String = "enrichment_1") -> String {
            #"{"jobId":"\#(job)","type":"job_complete","summary":{\#(counts)}}"#
        }
        let counts = #""totalProcessed":5,"successCount":3,"failureCount":2"#
        #expect(self.failures(.batchEnrichment, end(counts)) == [BookFailures(failed: 2, total: 5)])
        #expect(
            self.failures(.batchEnrichment, end(#""successCount":3,"failureCount":2"#))
                == [BookFailures(failed: 2, total: 5)])
        for none in [
            #""successCount":3,"failureCount":0"#, #""failureCount":2"#,
            #""successCount":-1,"failureCount":2"#, #""successCount":3,"failureCount":-2"#,
            #""successCount":3,"failureCount":1e300"#, #""successCount":3,"failureCount":"2""#,
        ] {
            #expect(self.failures(.batchEnrichment, end(none)) == [], "\(none)")
        }
        #expect(self.failures(.batchEnrichment, end(counts, job: "enrichment_2")) == [], "of another job")
        #expect(self.failures(.bookshelfScan, end(counts, job: "scan_1")) == [], "nobody asked by name")
    }

    @Test func `the failures of a batch are told under a dotted name as well`() {
        let data =
            #"{"isbn":"","progress":100,"status":"completed","data":{"jobId":"enrichment_1","successCount":3,"failureCount":2}}"#
        #expect(
            self.failures(.batchEnrichment, named: "enrichment.completed", data) == [
                BookFailures(failed: 2, total: 5)
            ])
    }
}
