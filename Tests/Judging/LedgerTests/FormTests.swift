import Histories
import Metrics
import SimBase
import Talaria
import Testing

@testable import Ledger

/// request.well-formed: every part of every request, right and wrong.
@Suite struct FormTests {
    private static func judge(
        _ history: History, formats: [String] = [], _ change: (inout RequestForm) -> Void
    ) -> [Violation] {
        history.simulated(
            idleTimeout: .seconds(75), isSettled: false, rules: { $0.resultsFormats = formats },
            ledger: {
                $0.fleet = PhoneGroups(groups: ["all"], groupOfDevice: [0, 0])
                $0.examplesMax = 50
            },
            before: { invariants in
                for var form in history.forms {
                    change(&form)
                    invariants.record(form)
                }
            }
        ).flatMap(\.examples)
    }

    /// One request of each kind.
    private static let journey = History {
        $0.launch()
        $0.capture()
        $0.upload()
        $0.phone(.replied(.upload, attempt: 1, status: 202, took: .milliseconds(1)))
        $0.open(after: History.id(3))
        $0.phone(.replied(.stream, attempt: 1, status: 200, took: .milliseconds(1)))
        $0.terminal(0, inline: .absent)
        $0.send(.results, job: $0.job)
        $0.phone(.replied(.results, attempt: 1, status: 200, took: .milliseconds(1)))
        $0.addBooks()
        $0.complete()
        $0.clean()
    }

    private static func wrong(
        _ operation: Talaria.Operation, _ change: (inout RequestForm) -> Void
    ) -> Bool {
        let found = Self.judge(Self.journey) { if $0.operation == operation { change(&$0) } }
        return !found.isEmpty && found.allSatisfy { $0.invariant == .requestWellFormed }
    }

    private static let all: [Talaria.Operation] = [.upload, .stream, .results, .cleanup]

    @Test func `requests as the contract has them are right`() {
        #expect(Self.judge(Self.journey) { _ in } == [])
        // Names without case.
        let lower = Self.judge(Self.journey) { form in
            form.headers = form.headers.map { HeaderField($0.name.lowercased(), $0.value) }
        }
        #expect(lower == [])
    }

    @Test(arguments: Self.all) func `what every request has`(operation: Talaria.Operation) {
        func without(_ name: String) -> Bool {
            Self.wrong(operation) { form in form.headers.removeAll { $0.name == name } }
        }
        func twice(_ name: String) -> Bool {
            Self.wrong(operation) { form in form.headers += form.headers.filter { $0.name == name } }
        }
        for name in [HeaderName.deviceID, TraceContext.headerName] {
            #expect(without(name) && twice(name), "\(name)")
        }
        #expect(Self.wrong(operation) { $0.method = $0.method == "GET" ? "POST" : "GET" })
        #expect(Self.wrong(operation) { $0.target = "/v2" + $0.target })
        #expect(Self.wrong(operation) { $0.target += operation == .results ? "&a=b" : "?a=b" })
        #expect(
            Self.wrong(operation) { $0.headers.append(HeaderField(HeaderName.lastEventID, "9-progress")) })
        #expect(Self.wrong(operation) { $0.headers[0].value = "not-a-uuid" })
        // Version 1, and another variant.
        #expect(Self.wrong(operation) { $0.headers[0].value = "1B4E28BA-2FA1-11D2-883F-0016D3CCA000" })
        #expect(Self.wrong(operation) { $0.headers[0].value = "1B4E28BA-2FA1-41D2-C83F-0016D3CCA000" })
        let other = TraceContext(
            run: 1, device: DeviceNumber(0), scan: ScanNumber(1), operation: operation, attempt: 2)
        #expect(Self.wrong(operation) { $0.headers[1].value = other.headerValue })
    }

    @Test(arguments: [Talaria.Operation.stream, .results, .cleanup])
    func `what every request about a job has`(operation: Talaria.Operation) {
        for tokens: [RequestForm.Token] in [[], [.foreign], [.unreadable], [.own, .own]] {
            #expect(Self.wrong(operation) { $0.tokens = tokens }, "\(tokens)")
        }
        #expect(
            Self.wrong(operation) {
                let rest = $0.target.dropFirst("/v3/jobs/scans/job-1".count)
                $0.target = "/v3/jobs/scans/job-2\(rest)"
            })
        #expect(Self.wrong(operation) { $0.headers.append(HeaderField("Content-Type", "application/json")) })
        #expect(
            Self.wrong(operation) {
                $0.body = .photos(field: "photos[]", type: "image/jpeg", of: ScanNumber(1), count: 1)
            })
    }

    @Test func `an upload is a photo of its scan in photos[], and shows no token`() {
        #expect(Self.wrong(.upload) { $0.tokens = [.foreign] })
        #expect(Self.wrong(.upload) { $0.body = .none })
        #expect(
            Self.wrong(.upload) {
                $0.body = .photos(field: "image", type: "image/jpeg", of: ScanNumber(1), count: 1)
            })
        #expect(
            Self.wrong(.upload) {
                $0.body = .photos(field: "photos[]", type: "text/plain", of: ScanNumber(1), count: 1)
            }
        )
        #expect(
            Self.wrong(.upload) {
                $0.body = .photos(field: "photos[]", type: "image/jpeg", of: ScanNumber(2), count: 1)
            }
        )
        #expect(
            !Self.wrong(.upload) {
                $0.body = .photos(field: "photos[]", type: "image/png", of: ScanNumber(1), count: 1)
            }
        )
        #expect(Self.wrong(.upload) { form in form.headers.removeAll { $0.name == "Content-Type" } })
        #expect(
            Self.wrong(.upload) { form in
                form.headers.removeAll { $0.name == "Content-Type" }
                form.headers.append(HeaderField("Content-Type", "multipart/form-data"))
            })
    }

    @Test func `a stream accepts events, and resumes exactly where the phone says`() {
        func changed(_ name: String, _ value: String?) -> Bool {
            Self.wrong(.stream) { form in
                form.headers.removeAll { $0.name == name }
                if let value { form.headers.append(HeaderField(name, value)) }
            }
        }
        #expect(changed("Accept", nil) && changed("Accept", "*/*"))
        #expect(!changed("Accept", "text/event-stream"))
        #expect(changed(HeaderName.lastEventID, nil) && changed(HeaderName.lastEventID, History.id(2)))
        #expect(!changed(HeaderName.lastEventID, History.id(3)))
    }

    @Test func `results have their format once`() {
        let path = "/v3/jobs/scans/job-1/results"
        for query in ["", "?", "?format=full", "?format=lite&format=lite", "?format=", "?format=lite&"] {
            #expect(Self.wrong(.results) { $0.target = path + query }, "\(query)")
        }
        // A group of the fleet may ask for another.
        let full = Self.judge(Self.journey, formats: ["full"]) {
            if $0.operation == .results { $0.target = path + "?format=full" }
        }
        #expect(full == [])
        let lite = Self.judge(Self.journey, formats: ["full"]) { _ in }
        #expect(lite.map(\.invariant) == [.requestWellFormed])
    }

    @Test func `a job is one that was accepted for the scan`() {
        let foreign = History {
            $0.launch()
            for scan in 1...2 {
                $0.scan = ScanNumber(UInt32(scan))
                $0.job = "job-\(scan)"
                $0.capture()
                $0.upload()
                $0.phone(.replied(.upload, attempt: 1, status: 202, took: .milliseconds(1)))
            }
            $0.send(.stream, job: "job-1")
        }
        #expect(Self.judge(foreign) { _ in }.map(\.invariant) == [.requestWellFormed])
        let own = History {
            $0.launch()
            $0.capture()
            $0.upload()
            $0.phone(.replied(.upload, attempt: 1, status: 202, took: .milliseconds(1)))
            $0.send(.stream, job: "job-1")
        }
        #expect(Self.judge(own) { _ in } == [])
    }

    @Test func `no two phones, and no two installations, have one identity`() {
        func two(_ between: (inout History) -> Void) -> History {
            History {
                $0.launch()
                $0.capture()
                $0.send(.upload, job: nil)
                $0.phone(.requestFailed(.upload, attempt: 1, .reset, took: .milliseconds(1)))
                between(&$0)
                $0.scan = ScanNumber(2)
                $0.launch()
                $0.capture()
                $0.send(.upload, job: nil)
            }
        }
        let phones = two { $0.device = DeviceNumber(1) }
        let same = Self.judge(phones) { $0.headers[0].value = History.identity(of: DeviceNumber(0)) }
        #expect(same.map(\.text) == ["upload: the device id of another phone"])
        #expect(Self.judge(phones) { _ in } == [])
        let installations = two { $0.phone(.reinstalled(discarded: 1)) }
        let kept = Self.judge(installations) { _ in }
        #expect(kept.map(\.text) == ["upload: the device id of the previous installation"])
        let relaunched = Self.judge(two { $0.phone(.killed) }) { _ in }
        #expect(relaunched == [])
    }
}
