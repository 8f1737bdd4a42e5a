import CurlLoop
import EventLoop
import Foundation
import RunDriver
import RunJudge
import ScenarioFile
import SimBase
import SystemIO

/// The options that say how a backend of somebody else is reached.
enum TargetOptions {
    static let options = [
        Option(name: "--cacert", value: "FILE", help: "trust the certificate authorities in this PEM file"),
        Option(
            name: "--http", value: "VERSION",
            help:
                "speak this version of HTTP, \(Self.versions) (default: the one that an https target agrees to in the TLS handshake)"
        ),
        Option(
            name: "--resolve", value: "HOST:PORT:ADDR", isRepeatable: true,
            help: "connect to this address instead of resolving the host name"),
        Option(
            name: "--header", value: "'Name: value'", isRepeatable: true,
            help:
                "send this header with every request; its value is never printed or written. For secrets: ${NAME} in it is a variable of the environment, and '@FILE' the headers of a file, one a line"
        ),
        Option(
            name: "--source", value: "ADDR[,ADDR...]",
            help:
                "connect from these addresses of this machine, the phones spread over them: one address has about 28,000 connections to a target"
        ),
        Option(
            name: "--allow-target", value: "HOST", isRepeatable: true,
            help: "allow load on another machine: repeat the host name of the target"),
        Option(
            name: "--allow-production", value: nil,
            help: "allow the production host, which affects real users"),
    ]

    /// Set by the phones themselves, or by the transport.
    private static let headersTaken = [
        "accept", "authorization", "connection", "content-length", "content-type", "expect", "host",
        "last-event-id", "transfer-encoding", "traceparent", "x-device-id", "x-load-test",
    ]

    /// A server accepts no more of them in one request.
    private static let headerBytesMax = 16 * 1_024

    /// `Name: value` of each `--header`, of each line of its file, or of what the process that started this one sends.
    static func headers(_ arguments: Arguments) throws -> [HeaderField] {
        let texts =
            arguments.has(ShardOptions.linked.name)
            ? Self.lines(try ShardHeaders.receive()) : try arguments.all("--header").flatMap(Self.texts)
        guard texts.reduce(0, { $0 + $1.utf8.count }) <= Self.headerBytesMax else {
            throw CommandFailure(.usage, "the values of --header have more than \(Self.headerBytesMax) bytes")
        }
        return try texts.map { text in
            let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let name = halves[0].trimmingCharacters(in: .whitespaces)
            guard halves.count == 2, !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else {
                // Without the text: it may be a secret.
                throw CommandFailure(.usage, "--header expects 'Name: value'")
            }
            let value = halves[1].trimmingCharacters(in: .whitespaces)
            guard !value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
                throw CommandFailure(.usage, "the value of --header '\(name)' must be one line of text")
            }
            guard !Self.headersTaken.contains(name.lowercased()) else {
                throw CommandFailure(
                    .usage, "--header cannot set '\(name)': the phones send this header themselves",
                    hint: "use another header for a gateway in front of the backend")
            }
            return HeaderField(name, value)
        }
    }

    /// The headers of one option. As in curl, `@` is the beginning of no name but that of a file.
    private static func texts(_ option: String) throws -> [String] {
        guard option.hasPrefix("@") else {
            do throws(OptionValues.Failure) {
                return [
                    try OptionValues.substituted(option, environment: ProcessInfo.processInfo.environment)
                ]
            } catch {
                throw CommandFailure(.usage, "--header: \(error.message)", hint: error.help)
            }
        }
        let path = String(option.dropFirst())
        do throws(File.Unreadable) {
            return Self.lines(try File.contents(of: path, bytesMax: Self.headerBytesMax))
        } catch {
            throw CommandFailure(.noInput, "--header: \(error)")
        }
    }

    private static func lines(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
            .filter { !$0.allSatisfy(\.isWhitespace) }
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

    private static let versions = SpokenHTTP.Version.allCases.map(\.rawValue).joined(separator: " or ")

    /// How the target is spoken to; nil where it decides that itself.
    static func http(isSecure: Bool, _ arguments: Arguments) throws -> SpokenHTTP? {
        let agreed = arguments.has(ShardOptions.agreedHTTP.name)
        guard let text = arguments[agreed ? ShardOptions.agreedHTTP.name : "--http"] else {
            return isSecure ? nil : SpokenHTTP(.http1, by: .plain)
        }
        guard let version = SpokenHTTP.Version(rawValue: text) else {
            throw CommandFailure(.usage, "--http expects \(Self.versions), not '\(text)'")
        }
        guard isSecure || version == .http1 else {
            throw CommandFailure(
                .usage, "--http 2 requires an https URL: without TLS, targets are spoken to by HTTP/1.1")
        }
        return SpokenHTTP(version, by: agreed ? .alpn : .option)
    }

    /// The addresses that a `--resolve` gives this host and port; nil without one.
    static func addresses(of host: String, port: UInt16, _ arguments: Arguments) throws -> [String]? {
        var found: [String] = []
        for text in arguments.all("--resolve") {
            let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, let named = UInt16(parts[1]), !parts[0].isEmpty else {
                throw CommandFailure(.usage, "--resolve expects HOST:PORT:ADDRESS, not '\(text)'")
            }
            guard parts[0].lowercased() == host.lowercased(), named == port else {
                throw CommandFailure(
                    .usage, "--resolve is for \(parts[0]):\(named), but the target is \(host):\(port)")
            }
            for address in parts[2].split(separator: ",") {
                let plain = address.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
                guard IPAddress.isNumeric(plain) else {
                    throw CommandFailure(.usage, "--resolve expects a numeric address, not '\(address)'")
                }
                found.append(plain)
            }
        }
        return found.isEmpty ? nil : found
    }

    /// The addresses of `--source`, each of which a connection to the target can have; empty without it.
    static func sources(to addresses: [String], _ arguments: Arguments) throws -> [String] {
        guard let text = arguments["--source"] else { return [] }
        return try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            let address = part.trimmingCharacters(in: CharacterSet(charactersIn: "[] "))
            guard IPAddress.isNumeric(address) else {
                throw CommandFailure(.usage, "--source expects numeric addresses, not '\(part)'")
            }
            let isVersion6 = address.contains(":")
            guard addresses.allSatisfy({ $0.contains(":") == isVersion6 }) else {
                throw CommandFailure(
                    .usage,
                    "--source has '\(address)', but the target has \(addresses.joined(separator: " and "))",
                    hint: "both must be IPv4, or both IPv6; --resolve chooses the address of the target")
            }
            do throws(SystemError) {
                try SourceAddress.require(address)
            } catch {
                throw CommandFailure(
                    .usage, "no connection can have the source address \(address): \(error)",
                    hint: "--source expects addresses of this machine")
            }
            return address
        }
    }
}
