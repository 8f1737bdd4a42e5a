internal import CSV
import JSON
import Observations
internal import OriginServer
internal import SimBase
internal import Talaria

// The enrichment of a single book: its upload is answered with the book, and becomes no job.

extension Backend {
    mutating func barcodeUploaded(
        _ upload: PendingUpload, _ bytes: [UInt8], into effects: inout [OriginEffect]
    ) {
        self.observe(ContractNotes(lookup: bytes), of: upload.context, into: &effects)
        do throws(EnrichmentRequest.Flaw) {
            let request = try EnrichmentRequest(bytes)
            guard let isbn = ISBN(request.barcode) else {
                let refusal = Refusal(.invalidRequest, "The barcode is not a valid ISBN.")
                return self.refuse(upload.context, refusal, into: &effects)
            }
            self.lookUp(isbn, request, upload, into: &effects)
        } catch {
            self.refuse(upload.context, Refusal(.invalidRequest, error.text), into: &effects)
        }
    }

    private mutating func lookUp(
        _ isbn: ISBN, _ request: EnrichmentRequest, _ upload: PendingUpload,
        into effects: inout [OriginEffect]
    ) {
        let context = upload.context
        let outcome = self.enrichments.outcome(
            of: isbn, key: request.idempotencyKey, for: context.caller, at: self.now)
        guard case .answered(let book, let isRepeated) = outcome else {
            let refusal = Refusal(.invalidRequest, "The idempotency key belongs to another book.")
            return self.refuse(context, refusal, into: &effects)
        }
        let lookup = BookLookup(
            key: request.idempotencyKey, barcode: isbn.digits, isFound: book != nil, isBilled: !isRepeated)
        effects.append(.observe(self.payload(context.caller, .bookLookedUp(lookup))))
        guard let book else {
            let refusal = Refusal(.notFound, "No provider has this book.")
            return self.refuse(context, refusal, into: &effects)
        }
        let form = self.configuration.v2.bookForm
        let body = V2Envelope.success(
            timestamp: self.wall, cached: isRepeated, source: request.preferredProvider ?? "auto"
        ) { writer in
            form.writeAuthors(of: book, to: &writer)
            writer.member("coverUrl", book.coverUrl)
            form.writeEdition(of: book, to: &writer)
            writer.member("isbn", book.isbn)
            writer.member("title", book.title)
            writer.member("vectorized", request.wantsVector)
            form.writeWork(of: book, to: &writer)
        }
        let headers = [HeaderField("Content-Type", "application/json")] + upload.headers
        self.reply(context, 200, headers, body, into: &effects)
    }
}
