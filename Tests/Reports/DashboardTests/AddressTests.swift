import Testing

@testable import Dashboard

@Suite struct AddressTests {
    @Test(arguments: [
        ("5665", "http://127.0.0.1:5665/"), (":5665", "http://127.0.0.1:5665/"),
        ("127.0.0.1:0", "http://127.0.0.1:0/"), ("localhost:80", "http://127.0.0.1:80/"),
        ("127.1.2.3:65535", "http://127.1.2.3:65535/"), ("[::1]:9", "http://[::1]:9/"),
    ]) func `a port, or a host of this machine and a port`(text: String, url: String) throws {
        let address = try DashboardAddress(text)
        #expect(address.url(port: address.port) == url)
    }

    @Test(arguments: [
        "", "x", ":", "127.0.0.1", "127.0.0.1:", "65536", "-1", "+5", "5665/", "[::1]", "1:2:3",
    ])
    func `anything else is not understood`(text: String) {
        #expect(throws: DashboardAddress.Problem.unreadable) { try DashboardAddress(text) }
    }

    @Test(arguments: [
        "0.0.0.0:80", "192.168.1.7:80", "[::]:80", "example.org:80", "127.0.0.1.example.org:80",
        "[fe80::1]:80",
    ]) func `nothing but loopback`(text: String) {
        #expect(throws: DashboardAddress.Problem.notLoopback) { try DashboardAddress(text) }
    }
}
