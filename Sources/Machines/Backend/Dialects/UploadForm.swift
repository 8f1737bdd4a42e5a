import JSON
internal import Talaria

/// An upload and its 202 (Docs/contract.md section 1.2).
struct UploadForm: Hashable, Sendable {
    /// The name of a part that is a photo (C27).
    var part = "photos[]"
    /// The answer to an upload without such a part.
    var withoutPhotos = ProblemCode.invalidRequest
    /// The keys of the token and of the address of the stream (C2). Nil leaves the token out.
    var tokenKey: String? = "authToken"
    var streamKey = "sseUrl"
    var hasStatusURL = true
    var status: JobStatus?
    /// The job's members are those of the body itself, without an envelope and without links.
    var isFlat = false
    /// The body has the envelope of v2, with `token` next to `authToken` and the number of photos
    /// (Docs/contract.md section 3.2).
    var isEnveloped = false
    /// The names of the token in that envelope.
    var v2Tokens = V2Rules.TokenNames.both
    /// The addresses in that envelope.
    var webSocketURL = V2Rules.WebSocketURL.absent

    private static let contract = UploadForm()

    /// The body of the 202 in this form.
    func body(_ accepted: UploadAccepted, photos: Int, books: Int?) -> [UInt8] {
        if self.isEnveloped { return self.v2Body(accepted, photos: photos, books: books) }
        var accepted = accepted
        if self.tokenKey == nil { accepted.data.authToken = nil }
        if !self.hasStatusURL { accepted.data.statusUrl = nil }
        accepted.data.status = self.status
        let whole = JSON.encode(accepted)
        guard
            self.isFlat
                || (self.tokenKey, self.streamKey) != (Self.contract.tokenKey, Self.contract.streamKey),
            var body = JSONObjectText(whole), let value = body.value("data"),
            var data = JSONObjectText(Array(value))
        else { return whole }
        data.rename("sseUrl", to: self.streamKey)
        if let key = self.tokenKey { data.rename("authToken", to: key) }
        guard !self.isFlat else { return data.bytes }
        body.set("data", to: data.bytes)
        return body.bytes
    }

    private func v2Body(_ accepted: UploadAccepted, photos: Int, books: Int?) -> [UInt8] {
        JSON.object { writer in
            writer.object("data") { writer in
                if self.v2Tokens != .token { writer.member("authToken", accepted.data.authToken) }
                writer.member("jobId", accepted.data.jobId)
                if books != nil { writer.member("processedCount", 0) }
                if self.webSocketURL != .alone { writer.member("sseUrl", accepted.data.sseUrl) }
                writer.member("status", self.status?.rawValue)
                writer.member("statusUrl", accepted.data.statusUrl)
                if self.v2Tokens != .authToken { writer.member("token", accepted.data.authToken) }
                writer.member("totalCount", books)
                if photos > 0 { writer.member("totalPhotos", photos) }
                if self.webSocketURL != .absent { writer.member("websocketUrl", accepted.data.websocketUrl) }
            }
            writer.member(accepted.metadata)
            writer.member("success", true)
        }
    }
}
