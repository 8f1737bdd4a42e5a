import HTTPServer
import Phone
import Plan
import SimBase
import Talaria
import Wire

// What a phone uploads: documents, which are whole, and photos, which go as the link takes them.

extension WireState {
    /// Counts a part of a photo when the link takes it.
    mutating func sendAtOnce(_ bytes: Int) {
        self.up.sent += bytes
        self.up.delivered += bytes
    }

    /// Whether the phone is there and the server takes more.
    var mayUpload: Bool { self.isOpenToPhone && self.isRead }
}

extension World {
    /// Sends a request with a body that is whole.
    mutating func send(
        _ request: AppRequest, _ headers: [HeaderField], _ body: [UInt8], on wire: WireID, at arrival: Instant
    ) {
        let bytes =
            ByteBuilder.bytes { bytes in
                RequestWriter.head(
                    method: request.method, target: request.target[...], host: Self.host[...],
                    fields: headers, bodyBytes: body.count, into: &bytes)
            } + body
        self.wires.update(wire) { $0.send(bytes.count) }
        self.schedule(.bytes(wire, bytes), at: arrival)
    }

    /// What a phone without photos uploads.
    func document(of scan: ScanNumber, of phone: Int) -> UploadDocument {
        UploadDocument(
            shelf: self.plan.run.shelf, files: self.plan.run.groups[self.phones[phone].group].spec.library,
            device: self.phones[phone].machine.number, scan: scan)
    }

    private static let boundary = "------------------------d74496d66958873e"
    static let uploadType = "multipart/form-data; boundary=\(boundary)"
    /// The first bytes of a JPEG.
    static let photoStart: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0]
    static let fileStart = Array(UploadPart.file.head(boundary: Self.boundary).utf8)

    static func start(of photo: UploadPart) -> [UInt8] {
        Array(photo.head(boundary: Self.boundary).utf8) + Self.photoStart
    }

    static let lineEnd = Array("\r\n".utf8)
    static let uploadEnd = Array("\r\n--\(boundary)--\r\n".utf8)

    /// Sends on as much of a photo as the link takes.
    mutating func continueUpload(_ wire: WireID) {
        let now = self.now
        while case (let connection?, let fillerLeft?)? = self.wires.ask(
            wire, { state in state.mayUpload ? (state.connection, state.upload?.fillerLeft) : (nil, nil) })
        {
            if fillerLeft > 0 {
                let block = min(fillerLeft, WorldTime.uploadBlock)
                self.wires.update(wire) { state in
                    state.upload?.fillerLeft -= block
                    state.movedAt = now
                    state.sendAtOnce(block)
                }
                self.sendToServer(.receivedFiller(connection, bytes: block))
            } else if self.wires.ask(wire, { $0.upload?.photosLeft ?? 0 }) ?? 0 > 0 {
                let phone = self.wires.ask(wire) { $0.phone }
                guard let profile = phone.map({ self.phones[$0].machine.profile }) else { return }
                let start = Self.lineEnd + Self.start(of: .photo(profile))
                self.wires.update(wire) { state in
                    state.upload?.beginNext()
                    state.movedAt = now
                    state.sendAtOnce(start.count)
                }
                self.sendToServer(.received(connection, start[...]))
            } else {
                self.wires.update(wire) { state in
                    state.upload = nil
                    state.movedAt = now
                    state.sendAtOnce(Self.uploadEnd.count)
                }
                self.sendToServer(.received(connection, Self.uploadEnd[...]))
                // The answer may have come, and the next upload may have taken the wire: its head is still to come.
                return
            }
        }
    }
}
