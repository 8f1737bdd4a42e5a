import Foundation
import Testing

extension SideBySide {
    /// A backend of somebody else, behind TLS and HTTP/2.
    @Suite struct TargetTests {
        private static let certificates: [(TLSFront.Certificate, isTrusted: Bool, says: String)] = [
            (.good, false, "unable to get local issuer certificate"),
            (.otherName, true, "no alternative certificate subject name matches"),
            (.expired, true, "certificate has expired"),
            (.selfSigned, true, "self-signed certificate"),
        ]

        @Test(arguments: certificates) func `a certificate that proves nothing ends the run before any load`(
            certificate: TLSFront.Certificate, isTrusted: Bool, says: String
        ) async throws {
            let front = try await TLSFront(certificate, upstream: 9)
            let trust = isTrusted ? ["--cacert", front.authority] : []
            let outcome = try await Subprocess.run(
                Binary.path, ["run", ShortRun.scenario, "--quiet"] + front.options + trust)
            #expect(outcome.code == 69)
            #expect(outcome.output == "")
            #expect(outcome.complaint.contains("does not answer: TLS: "), "\(outcome.complaint)")
            #expect(outcome.complaint.contains(says), "\(outcome.complaint)")
            #expect(try front.requests() == [])
        }

        private static let strangers: [(HostileServer.Mode, says: String)] = [
            (.page, "it is not Talaria (expected JSON, got status 200, text/html)"),
            (.redirect, "it redirects to https://elsewhere.example/v3 (status 308)"),
            (.silent, "no answer within 5 s"), (.close, "Empty reply from server"),
            (.http2Only, "Received HTTP/0.9 when not allowed"),
        ]

        @Test(arguments: strangers) func `what is not Talaria is told in one line`(
            mode: HostileServer.Mode, says: String
        ) async throws {
            let server = try await HostileServer(mode)
            let outcome = try await Subprocess.run(
                Binary.path, ["run", ShortRun.scenario, "--quiet", "--target", server.process.base])
            #expect(outcome.code == 69)
            #expect(outcome.complaint.contains(says), "\(outcome.complaint)")
            #expect(try server.requests().count == 1)
        }

        @Test func `an upstream that is away is the gateway's 502`() async throws {
            let front = try await TLSFront(.good, upstream: 9)
            let outcome = try await Subprocess.run(
                Binary.path,
                ["run", ShortRun.scenario, "--quiet", "--cacert", front.authority] + front.options)
            #expect(outcome.code == 69)
            #expect(
                outcome.complaint.contains("its gateway cannot reach the backend (status 502"), "\(outcome)")
        }

        @Test func `a run through TLS and HTTP/2 measures the network apart, and keeps secrets`() async throws
        {
            let serve = try await ServeProcess.start([])
            let front = try await TLSFront(.good, upstream: serve.port)
            let run = try RunProcess(
                [ShortRun.scenario] + ShortRun.options + ShortRun.set(["faults=[]"])
                    + ShortRun.objectiveOfScansAlone + front.options + [
                        "--cacert", front.authority, "--header", "X-Gateway-Key: hush-hush",
                    ])
            let outcome = try await run.end(seconds: 50)
            #expect(outcome.hasPassed, "\(outcome)")
            let summary = try run.report.summary()
            #expect(summary.scans.completed == ShortRun.scans && summary.scans.isConserved)
            for metric in ["net.connect.time", "net.tls.time", "net.first_byte.time"] {
                #expect(try run.report.metricCount(metric) > 0, "\(metric)")
            }

            let requests = try front.requests()
            #expect(requests.count >= 3 * ShortRun.scans)
            #expect(requests.allSatisfy { $0[0] == "HTTP/2.0" })
            #expect(requests.allSatisfy { $0[4] == "hush-hush" })
            // All but the preflight.
            #expect(Set(requests.dropFirst().map { $0[3] }).count == 1)
            #expect(requests.last?[3].hasPrefix("swiftwing-sim ") == true)
            for name in try FileManager.default.contentsOfDirectory(atPath: run.report.folder.path) {
                let text = try run.report.text(name)
                #expect(!text.contains("hush-hush"), "\(name)")
            }
            #expect(!outcome.output.contains("hush-hush") && !outcome.complaint.contains("hush-hush"))
            #expect(outcome.output.contains("--header 'X-Gateway-Key: (left-out)'"))
            #expect(outcome.output.contains("HTTP/2, agreed on by ALPN"))
        }

        @Test func `what the target agrees to holds for all processes of a run`() async throws {
            let serve = try await ServeProcess.start(ShortRun.set(["server.job-time=300ms"]))
            let front = try await TLSFront(.good, upstream: serve.port, isHTTP2: false)
            let trust = front.options + ["--cacert", front.authority]
            let refused = try await Subprocess.run(
                Binary.path, ["run", ShortRun.scenario, "--quiet", "--http", "2"] + trust)
            #expect(refused.code == 69)
            #expect(refused.complaint.contains("it does not agree to HTTP/2"), "\(refused.complaint)")
            let run = try RunProcess(
                ["staging-smoke", "--processes", "2"] + ShortRun.objectiveOfScansAlone + trust
                    + ShortRun.set(["fleet.testers.phones=4", "fleet.testers.arrivals=8/s"]))
            let outcome = try await run.end(seconds: 50)
            #expect(outcome.hasPassed, "\(outcome)")
            #expect(try run.report.summary().scans.completed == 8)
            #expect(outcome.output.contains("HTTP/1.1, agreed on by ALPN"))
            #expect(try front.requests().allSatisfy { $0[0] == "HTTP/1.1" })
        }
    }
}
