import Foundation

/// nginx in front of a backend: TLS and HTTP/2 as others speak them, with an authority that no other client
/// trusts.
final class TLSFront: Sendable {
    /// What its certificate is like.
    enum Certificate: String, CaseIterable {
        case good
        case otherName
        case expired
        case selfSigned
    }

    static let host = "talaria.test"

    let port: Int
    private let scratch: Scratch
    private let child: Child

    /// The file of the authority's certificate.
    var authority: String { self.scratch.folder.path + "/ca.pem" }

    /// The options of a run through it.
    var options: [String] {
        [
            "--target", "https://\(Self.host):\(self.port)", "--resolve",
            "\(Self.host):\(self.port):127.0.0.1",
        ]
    }

    /// `isHTTP2`: agrees to HTTP/2 by ALPN, else to HTTP/1.1 only.
    init(_ certificate: Certificate, upstream: Int, isHTTP2: Bool = true) async throws {
        self.scratch = try Scratch()
        let folder = self.scratch.folder
        try await Self.makeCertificates(certificate, in: folder)
        self.port = try await Self.freePort()
        let listen = "127.0.0.1:\(self.port) ssl\(isHTTP2 ? " http2" : "")"
        try Data(Self.configuration(folder.path, listen: listen, upstream: upstream).utf8)
            .write(to: folder.appending(path: "nginx.conf"))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["nginx", "-p", folder.path, "-c", folder.path + "/nginx.conf"]
        process.environment = Subprocess.environment.merging(
            ["PATH": (Subprocess.environment["PATH"] ?? "") + ":/usr/sbin"]) { $1 }
        process.standardError = FileHandle.nullDevice
        self.child = Child(process)
        try self.child.start()
        try await self.waitUntilListening()
    }

    deinit { self.child.signal(SIGTERM) }

    /// A line a request: protocol, method, status and the two headers that a run may add.
    func requests() throws -> [[String]] {
        let log = try Data(contentsOf: self.scratch.folder.appending(path: "access.log"))
        return String(decoding: log, as: UTF8.self).split(separator: "\n")
            .map { $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init) }
    }

    // MARK: Making it

    private static func configuration(_ folder: String, listen: String, upstream: Int) -> String {
        """
        worker_processes 1;
        daemon off;
        pid \(folder)/nginx.pid;
        error_log \(folder)/error.log;
        events { worker_connections 2048; }
        http {
            log_format seen '$server_protocol|$request_method|$status|$http_x_load_test|$http_x_gateway_key';
            access_log \(folder)/access.log seen;
            client_body_temp_path \(folder)/body;
            proxy_temp_path \(folder)/proxy;
            fastcgi_temp_path \(folder)/fastcgi;
            uwsgi_temp_path \(folder)/uwsgi;
            scgi_temp_path \(folder)/scgi;
            client_max_body_size 60m;
            server {
                listen \(listen);
                server_name \(self.host);
                ssl_certificate \(folder)/server.pem;
                ssl_certificate_key \(folder)/server.key;
                location / {
                    proxy_pass http://127.0.0.1:\(upstream);
                    proxy_http_version 1.1;
                    proxy_set_header Connection "";
                    proxy_buffering off;
                    proxy_request_buffering off;
                    proxy_read_timeout 1h;
                }
            }
        }
        """
    }

    private static func makeCertificates(_ certificate: Certificate, in folder: URL) async throws {
        try await Self.openssl(
            "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem",
            in: folder)
        let name = certificate == .otherName ? "other.test" : self.host
        try Data("subjectAltName=DNS:\(name)".utf8).write(to: folder.appending(path: "names"))
        guard certificate != .selfSigned else {
            try await Self.openssl(
                "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=\(name) -addext subjectAltName=DNS:\(name) -keyout server.key -out server.pem",
                in: folder)
            return
        }
        try await Self.openssl(
            "req -newkey rsa:2048 -nodes -subj /CN=\(name) -keyout server.key -out server.csr", in: folder)
        // x509 can begin a certificate's life now only; with no days at all it has ended already.
        let days = certificate == .expired ? "0" : "2"
        try await Self.openssl(
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days \(days) -extfile names -out server.pem",
            in: folder)
        if certificate == .expired { try await Task.sleep(for: .seconds(1.5)) }
    }

    private static func openssl(_ words: String, in folder: URL) async throws {
        let outcome = try await Subprocess.run(
            URL(filePath: "/usr/bin/env"), ["openssl"] + words.split(separator: " ").map(String.init),
            folder: folder)
        guard outcome.code == 0 else { throw Unusable(description: "openssl: \(outcome.complaint)") }
    }

    /// A port that was free a moment ago: nginx cannot choose one by itself. It is below the ports that
    /// systems give to programs that ask for any port, so that no other program gets it.
    private static func freePort() async throws -> Int {
        let script = """
            import random, socket
            while True:
                try:
                    port = random.randrange(20000, 30000)
                    socket.socket().bind(('127.0.0.1', port))
                    print(port)
                    break
                except OSError:
                    pass
            """
        let outcome = try await Subprocess.run(URL(filePath: "/usr/bin/env"), ["python3", "-c", script])
        guard let port = Int(outcome.output.filter(\.isNumber)) else {
            throw Unusable(description: "no free port: \(outcome.complaint)")
        }
        return port
    }

    private func waitUntilListening() async throws {
        let pid = self.scratch.folder.appending(path: "nginx.pid").path
        for _ in 0..<200 {
            if FileManager.default.fileExists(atPath: pid) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        let errors = try? String(
            contentsOf: self.scratch.folder.appending(path: "error.log"), encoding: .utf8)
        throw Unusable(description: "nginx does not start: \(errors ?? "")")
    }

    struct Unusable: Error, CustomStringConvertible {
        var description: String
    }
}
