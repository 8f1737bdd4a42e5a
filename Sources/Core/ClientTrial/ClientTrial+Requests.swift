internal import OriginServer
import SimBase
import Talaria

// The form of requests (Docs/contract.md sections 1.1 and 1.2).

extension ClientTrial {
    /// The folders of the API: a request elsewhere may be that of a browser.
    private static let folders = ["/v3/", "/v1/", "/api/"]
    private static let tokenNames = ["token", "authtoken", "access_token", "auth_token"]

    mutating func judgeForm(_ id: UInt64, _ exchange: FollowedExchange, at now: Instant) {
        let request = exchange.request
        let isOfAPI = Self.folders.contains { request.path.hasPrefix($0) }
        guard exchange.meaning != nil || isOfAPI || request.device != nil else { return }
        self.tallies.occasion(.endpoint)
        guard let meaning = exchange.meaning else {
            return self.breaks(.endpoint, id, exchange, at: now, "\(request.line) is not in the contract")
        }
        if meaning.operation == .stream {
            self.tallies.occasion(.accept)
            let accepted = request.accept?.lowercased() ?? ""
            if !accepted.contains("text/event-stream") {
                self.breaks(
                    .accept, id, exchange, at: now,
                    accepted.isEmpty ? "no Accept" : "Accept: \(accepted.bounded)")
            }
        }
        if meaning.operation == .upload, let length = request.contentLength {
            let most = ContractLimit.batchBytesMax + ContractLimit.batchBytesMax / 50
            if length > most {
                self.breaks(.uploadSize, id, exchange, at: now, "an upload of \(length) bytes")
            }
        }
    }

    // MARK: Who asks

    mutating func judgeIdentity(_ id: UInt64, _ exchange: FollowedExchange, at now: Instant) {
        guard let meaning = exchange.meaning, meaning.journey.version.isJudgedInDetail else { return }
        let request = exchange.request
        let parameters = request.parameters
        self.judgeURL(parameters, id, exchange, at: now)
        // A page in a browser has the token and the device id in the query.
        let isOfPage =
            self.rules.allowsTokenInQuery && request.authorization == nil
            && parameters.contains { $0.name == "token" }
        guard !isOfPage else { return }
        self.judgeDevice(id, exchange, at: now)
        guard let job = meaning.job, let known = self.jobs[job], let token = known.token else { return }
        self.tallies.occasion(.token)
        let shown = request.token
        if shown != token {
            self.breaks(
                .token, id, exchange, at: now,
                request.authorization == nil
                    ? "no Authorization"
                    : shown == nil
                        ? "Authorization is no bearer token"
                        : "another token than that of the upload")
        }
        self.judgeStaleToken(known, id, exchange, at: now)
    }

    private mutating func judgeURL(
        _ parameters: [(name: String, value: String)], _ id: UInt64, _ exchange: FollowedExchange,
        at now: Instant
    ) {
        guard !self.rules.allowsTokenInQuery else { return }
        self.tallies.occasion(.tokenURL)
        let found = parameters.first {
            self.tokens[Digest.of($0.value)] != nil || Self.tokenNames.contains($0.name.lowercased())
        }
        if let found {
            self.breaks(
                .tokenURL, id, exchange, at: now, "a token in the query, as “\(found.name.bounded)”")
        }
    }

    private mutating func judgeDevice(_ id: UInt64, _ exchange: FollowedExchange, at now: Instant) {
        self.tallies.occasion(.deviceID)
        guard let device = exchange.request.device else {
            return self.breaks(.deviceID, id, exchange, at: now, "no X-Device-ID")
        }
        guard UUIDBits(device)?.isVersion4 == true else {
            return self.breaks(
                .deviceID, id, exchange, at: now, "X-Device-ID “\(device.bounded)” is no UUID of version 4")
        }
        self.tallies.occasion(.deviceKept)
        let key = device.lowercased()
        let before = self.devices.seen(key, on: exchange.connection)
        if let job = exchange.meaning?.job, let known = self.jobs[job], known.accepted != nil,
            known.client != key, UUIDBits(known.client) != nil
        {
            self.breaks(
                .deviceKept, id, exchange, at: now,
                "the upload of the job was of device \(known.client.bounded), this request is of \(key)")
        } else if let before {
            self.breaks(
                .deviceKept, id, exchange, at: now,
                "an earlier request on the same connection was of device \(before.bounded)")
        }
    }

    private mutating func judgeStaleToken(
        _ known: FollowedJob, _ id: UInt64, _ exchange: FollowedExchange, at now: Instant
    ) {
        guard let refused = known.tokenRefusedAt, let meaning = exchange.meaning,
            !meaning.operation.isDelete, exchange.request.token == known.token
        else { return }
        guard now - refused > ClientTrialTimes.crossing else { return }
        self.breaks(
            .tokenStale, id, exchange, at: now,
            "the token was answered with 401 \(milliseconds: now - refused) ms before")
    }

    // MARK: Uploads

    mutating func judge(
        _ upload: ClientUpload, _ id: UInt64, _ exchange: FollowedExchange, at now: Instant
    ) {
        guard let journey = exchange.meaning?.journey, journey.payload != .json else { return }
        self.tallies.occasion(.uploadForm)
        if let flaw = self.flaw(of: upload, journey) {
            self.breaks(.uploadForm, id, exchange, at: now, flaw)
        }
        guard journey.hasPhotos, upload.fault == nil else { return }
        self.tallies.occasion(.uploadSize)
        let total = upload.parts.reduce(0) { $0 + $1.bytes }
        if let large = upload.parts.first(where: { $0.bytes > ContractLimit.photoBytesMax }) {
            self.breaks(.uploadSize, id, exchange, at: now, "a photo of \(large.bytes) bytes")
        } else if total > ContractLimit.batchBytesMax {
            self.breaks(.uploadSize, id, exchange, at: now, "photos of \(total) bytes together")
        }
    }

    private func flaw(of upload: ClientUpload, _ journey: Journey) -> String? {
        if let fault = upload.fault { return fault.bounded }
        let photo = journey.version.photoPart ?? self.rules.photoPart
        let name = journey.payload == .file ? ImportLimits.part : photo
        let others = upload.parts.filter { $0.name != name }
        let photos = upload.parts.filter { $0.name == name }
        guard others.isEmpty || self.rules.allowsOtherParts else {
            return "a part “\(others[0].name.bounded)”; the name of the contract is “\(name)”"
        }
        guard !photos.isEmpty else { return "no part “\(name)”" }
        guard journey.hasPhotos else { return nil }
        guard photos.count <= ContractLimit.photosMax else { return "\(photos.count) photos" }
        return photos.allSatisfy(\.isPhoto) ? nil : "a photo that is neither JPEG nor PNG"
    }
}
