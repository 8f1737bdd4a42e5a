import Observations
internal import OriginServer
internal import SimBase
internal import Talaria

// The look-up of a book by its text: its upload is answered with what was found, and becomes no job that is followed.

extension Backend {
    mutating func textUploaded(
        _ upload: PendingUpload, _ bytes: [UInt8], into effects: inout [OriginEffect]
    ) {
        let context = upload.context
        self.observe(ContractNotes(text: bytes), of: context, into: &effects)
        do throws(TextRequest.Flaw) {
            let found = self.enrichment(of: try TextRequest(bytes), for: context.caller)
            effects.append(.observe(self.payload(context.caller, .textLookedUp)))
            let headers = [HeaderField("Content-Type", "application/json")] + upload.headers
            let id = self.requestID(context.exchange)
            self.reply(
                context, 200, headers, found.body(self.configuration.enrichmentForm, jobId: id),
                into: &effects)
        } catch {
            self.refuse(context, Refusal(.invalidRequest, error.text), into: &effects)
        }
    }

    /// The book of a simulated phone is that of its shelf. Of any other text, what it says is confirmed.
    private func enrichment(of request: TextRequest, for caller: Caller) -> Enrichment {
        if self.shelf.stock(of: caller.device) == .oneSpine {
            return self.shelf.enrichment(device: caller.device, scan: caller.scan)
        }
        let lines = request.text.split(whereSeparator: \.isNewline)
        return Enrichment(
            verifiedTitle: request.title ?? lines.first.map { String($0) } ?? "",
            verifiedAuthor: request.author ?? (lines.count > 1 ? String(lines[1]) : ""), confidence: 0.95)
    }
}
