import CurlLoop
import EventLoop
import Foundation
import SimBase

/// The options that say how a backend of somebody else is reached.
enum TargetOptions {
    static let options = [
        Option(name: "--cacert", value: "FILE", help: "certificate authorities to trust, as PEM"),
        Option(
            name: "--resolve", value: "HOST:PORT:ADDR", isRepeatable: true,
            help: "connect to this address instead of looking the host up"),
        Option(
            name: "--header", value: "'Name: value'", isRepeatable: true,
            help: "send this with every request; its value is kept out of every output"),
        Option(
            name: "--allow-target", value: "HOST",
            help: "repeat the host's name to allow load on a machine that is not this one"),
        Option(
            name: "--allow-production", value: nil,
            help: "allow the production host too: its users would feel it"),
    ]

    /// Set by the phones themselves, or by the transport.
    private static let headersTaken = [
        "accept", "authorization", "connection", "content-length", "content-type", "expect", "host",
        "last-event-id", "transfer-encoding", "traceparent", "x-device-id", "x-load-test",
    ]

    /// `Name: value` of each `--header`.
    static func headers(_ arguments: Arguments) throws -> [HeaderField] {
        try arguments.all("--header").map { text in
            let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let name = halves[0].trimmingCharacters(in: .whitespaces)
            guard halves.count == 2, !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else {
                // Without the text: it may be a secret.
                throw CommandFailure(.usage, "--header wants 'Name: value'")
            }
            let value = halves[1].trimmingCharacters(in: .whitespaces)
            guard !value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
                throw CommandFailure(.usage, "the value of --header '\(name)' is not one line of text")
            }
            guard !Self.headersTaken.contains(name.lowercased()) else {
                throw CommandFailure(
                    .usage, "--header '\(name)' would change what the phones say themselves",
                    hint: "a gateway in front of the backend can be satisfied by a header of its own")
            }
            return HeaderField(name, value)
        }
    }

    /// RFC 9110 section 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    static func certificateAuthorities(_ arguments: Arguments) throws -> String? {
        guard let path = arguments["--cacert"] else { return nil }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw CommandFailure(.noInput, "cannot read the certificate authorities in \(path)")
        }
        return path
    }

    /// The addresses that a `--resolve` gives this host and port; nil without one.
    static func addresses(of host: String, port: UInt16, _ arguments: Arguments) throws -> [String]? {
        var found: [String] = []
        for text in arguments.all("--resolve") {
            let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, let named = UInt16(parts[1]), !parts[0].isEmpty else {
                throw CommandFailure(.usage, "--resolve wants HOST:PORT:ADDRESS, not '\(text)'")
            }
            guard parts[0].lowercased() == host.lowercased(), named == port else {
                throw CommandFailure(
                    .usage, "--resolve names \(parts[0]):\(named), and the target is \(host):\(port)")
            }
            for address in parts[2].split(separator: ",") {
                let plain = address.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
                guard IPAddress.isNumeric(plain) else {
                    throw CommandFailure(.usage, "--resolve wants a numeric address, not '\(address)'")
                }
                found.append(plain)
            }
        }
        return found.isEmpty ? nil : found
    }
}
