import Foundation
import Testing

extension SideBySide {
    /// `/metrics` of the dashboard, of `serve` and of `proxy`, read with what others have published.
    @Suite struct MetricsTests {
        /// What `.ci/packages test` unpacks on Debian.
        private static let prometheus = Package.root.appending(path: ".build/prometheus/usr/bin/prometheus")
        private static let isInstalled = FileManager.default.isExecutableFile(atPath: Self.prometheus.path)

        private static func tool(_ name: String, _ arguments: [String]) async throws -> Data {
            let script = Package.tests.appending(path: "Tools/\(name)").path
            let python = Package.root.appending(path: ".build/venv/bin/python")
            let outcome = try await Subprocess.run(python, [script] + arguments, seconds: 120)
            try #require(outcome.code == 0, "\(outcome.complaint)")
            return Data(outcome.output.utf8)
        }

        private struct Scraped: Decodable {
            var scrapes: Int
            var fell, types: [String]
            var late: Bool
            var text: String
        }

        private static func scraped(_ url: String, _ more: [String] = []) async throws -> Scraped {
            try JSONDecoder().decode(Scraped.self, from: await Self.tool("scrape.py", [url] + more))
        }

        private static let types = [
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
            "text/plain; version=0.0.4; charset=utf-8",
        ]

        @Test func `no counter of a run ever falls, and its last scrape is metrics.prom`() async throws {
            let run = try RunProcess(ShortRun.arguments + ["--dashboard-stay"])
            let scraped = try await Self.scraped(
                try await run.dashboard() + "metrics", ["--until-judged"])
            #expect(scraped.fell == [] && scraped.scrapes >= 5 && !scraped.late)
            #expect(scraped.types == Self.types)
            let isWritten = try await Patience.until(seconds: 20) {
                run.report.files.contains("metrics.prom") && run.report.files.contains("summary.json")
            }
            #expect(isWritten)
            #expect(try scraped.text == run.report.text("metrics.prom"))
            run.signal(SIGINT)
            let outcome = try await run.end(seconds: 60)
            #expect(outcome.hasPassed, "\(outcome)")
        }

        @Test func `serve counts what it answers, and so does a proxy, whose own path is not the upstream's`()
            async throws
        {
            try await ServeProcess.during(["--quiet"]) { serve in
                _ = try await Curl(base: serve.base).get("/v3/jobs/scans/none/results")
                for path in ["/metrics", "/_sim/metrics"] {
                    let scraped = try await Self.scraped(serve.base + path)
                    #expect(scraped.types == Self.types && !scraped.late)
                    let sample = #"{method="GET",route="/v3/jobs/scans/{jobId}/results",status="4xx"} 1"#
                    #expect(scraped.text.contains("\nswiftwing_server_requests_total\(sample)\n"))
                }
                let proxy = try await ServeProcess.start(
                    Binary.path, ["proxy", "--port", "0", "--quiet", "--upstream", serve.base])
                let text = try await Self.scraped(proxy.base + "/_sim/metrics").text
                #expect(text.contains("\nswiftwing_server_info{serving=\"fault gateway\"} 1\n"))
                let upstream = try await Self.scraped(proxy.base + "/metrics").text
                #expect(upstream.contains("\nswiftwing_server_info{serving=\"simulated Talaria\"} 1\n"))
                #expect(await proxy.end() == 0)
            }
        }

        private struct Held: Decodable {
            struct Objective: Decodable {
                var name: String
                var value, told: Double?

                init(from decoder: any Decoder) throws {
                    var fields = try decoder.unkeyedContainer()
                    self.name = try fields.decode(String.self)
                    self.value = try fields.decodeIfPresent(Double.self)
                    self.told = try fields.decodeIfPresent(Double.self)
                }
            }

            var scrapes: Int
            var held: [Objective]
            var quantile: [Double]
            var refused, empty: [String]
        }

        @Test(
            .enabled(if: Self.isInstalled, "Prometheus is missing: .ci/packages test unpacks it on Debian"))
        func `a Prometheus that scrapes each second holds what the report says, and fills the dashboard`()
            async throws
        {
            let run = try RunProcess(
                ShortRun.arguments + ["--dashboard-stay"]
                    + ShortRun.set(["slo.scan.time=p(95) < 1m", "slo.upload.time=avg < 1m"]))
            let url = try await run.dashboard()
            let target = url.replacing("http://", with: "").replacing("/", with: "")
            let held = try JSONDecoder().decode(
                Held.self,
                from: await Self.tool(
                    "prometheus.py",
                    [
                        Self.prometheus.path, target, run.report.folder.path + "/summary.json",
                        Package.root.appending(path: "Distributed/grafana/swiftwing-sim.json").path,
                    ]))
            run.signal(SIGINT)
            #expect(try await run.end(seconds: 60).hasPassed)
            #expect(held.scrapes >= 5 && held.held.count >= 8)
            for objective in held.held {
                let (value, told) = (objective.value, objective.told)
                #expect((value == nil) == (told == nil), "\(objective)")
                // The summary rounds times to the microsecond.
                if let value, let told { #expect(abs(value - told) < 0.000_001, "\(objective)") }
            }
            // Within its bucket: the bounds of one are 2.5 apart at most.
            #expect(held.quantile[0] / held.quantile[1] > 0.4 && held.quantile[0] / held.quantile[1] < 2.5)
            #expect(held.refused == [])
            // A run has neither several groups nor a server of its own.
            #expect(
                Set(held.empty)
                    == [
                        "scan.time p95 by group", "Requests per second", "Streams, connections and jobs",
                        "Violations of invariants", "Events sent per second", "Bytes per second",
                    ])
        }
    }
}
