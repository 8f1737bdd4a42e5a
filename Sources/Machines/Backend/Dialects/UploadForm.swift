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

    private static let contract = UploadForm()

    /// The body of the 202 in this form.
    func body(_ accepted: UploadAccepted) -> [UInt8] {
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
}
