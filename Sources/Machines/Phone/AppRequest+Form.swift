import SimBase
package import Talaria

/// A part of a multipart upload, without its content.
package struct UploadPart: Hashable, Sendable {
    package let name: String
    package let filename: String
    package let contentType: String

    /// A library file (Docs/contract.md section 3.2).
    package static let file = UploadPart(
        name: ImportLimits.part, filename: "library.csv", contentType: "\(Journey.Payload.file.contentType)")

    /// A photo, under the name that the client gives its part (Docs/contract.md section 1.2).
    package static func photo(_ profile: ClientProfile) -> UploadPart {
        UploadPart(
            name: profile.uploadPart, filename: "spine.jpg",
            contentType: "\(Journey.Payload.photos.contentType)")
    }

    /// The lines before its content (RFC 7578 section 4.2).
    package func head(boundary: String) -> String {
        ByteBuilder.text { text in
            text.append(literal: "--")
            text.append(text: boundary)
            text.append(literal: "\r\nContent-Disposition: form-data; name=\"")
            text.append(text: self.name)
            text.append(literal: "\"; filename=\"")
            text.append(text: self.filename)
            text.append(literal: "\"\r\nContent-Type: ")
            text.append(text: self.contentType)
            text.append(literal: "\r\n\r\n")
        }
    }
}

// What a request looks like on the wire, in both worlds.
extension AppRequest {
    /// The path on the backend; nil for an address of another server, which is not requested: a token belongs to its own
    /// backend. `base`: the address of the backend, without a slash at its end.
    package func path(onServer base: String) -> String? {
        var path = self.target
        // Nearly always it is a path.
        if !path.hasPrefix("/"), path.hasPrefix(base + "/") { path = String(path.dropFirst(base.count)) }
        return path.hasPrefix("/") && !path.hasPrefix("//") ? path : nil
    }

    /// Whether the connection is another protocol's after a 101 (RFC 9110 section 7.8).
    package var asksForUpgrade: Bool { self.headers.contains { $0.name == "Upgrade" } }

    /// By what the job is followed, if it is a request for a stream.
    package var transport: StreamTransport { self.asksForUpgrade ? .websocket : .sse }

    /// Its Content-Type, unless that names the boundary of a multipart upload.
    package var contentType: String? {
        switch self.body {
        case .document(_, .json), .lookup, .text, .token: "\(Journey.Payload.json.contentType)"
        case .none, .photos, .document(_, .photos), .document(_, .file): nil
        }
    }
}
