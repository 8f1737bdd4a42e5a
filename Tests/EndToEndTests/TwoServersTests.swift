import Foundation
import Testing

extension EndToEnd {
    @Suite struct TwoServersTests {
        @Test func `a second server on a port in use says so and ends`() async throws {
            try await ServeProcess.during([]) { serve in
                let second = try await Binary.run(["serve", "--port", "\(serve.port)"])
                #expect(second.code == 69 && second.output.isEmpty)
                #expect(
                    second.complaint.hasPrefix(
                        "swiftwing-sim: cannot listen on 127.0.0.1 port \(serve.port): "))
                #expect(
                    second.complaint.hasSuffix(
                        """
                        Address already in use (errno \(EADDRINUSE))
                        help: choose another port with --port N, or a free port with --port 0

                        """))
                #expect(
                    try await Curl(base: serve.base).get("/nowhere").status == 404, "the first still serves")
            }
        }

        @Test func `two servers on ports of their own choosing do not meet`() async throws {
            try await ServeProcess.during([]) { one in
                try await ServeProcess.during([]) { other in
                    #expect(one.base != other.base)
                    let job = try await Curl(base: one.base).upload([Curl.photo]).decoded(Accepted.self).data
                    var phone = Curl(base: other.base, token: job.authToken)
                    phone.token = job.authToken
                    #expect(try await phone.get(job.statusUrl).status == 404)
                }
            }
        }
    }
}
