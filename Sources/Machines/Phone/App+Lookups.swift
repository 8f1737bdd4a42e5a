import Observations
import SimBase
import Talaria

// The look-up of one barcode: the answer to the upload ends the scan, with its book or without.

extension App {
    mutating func lookupAnswered(
        _ exchange: Exchange, _ answer: Answer, at now: Instant, into effects: inout [PhoneEffect]
    ) {
        guard let index = self.activeIndex(exchange.scan) else {
            preconditionFailure("a look-up without a scan")
        }
        var answer = answer
        let judgement = LookupJudgement.judge(
            &answer, barcode: self.active[index].scan.barcode,
            obeysRetryable: self.profile.upload.obeysRetryable)
        self.observe(answer, exchange, at: now, into: &effects)
        switch judgement {
        case .found(let book, let isRepeated):
            self.observe(found: true, isRepeated: isRepeated, exchange, index, at: now, into: &effects)
            self.file([book], promised: nil, index, at: now, into: &effects)
        case .unknown(let code):
            self.observe(found: false, isRepeated: false, exchange, index, at: now, into: &effects)
            let cause = RefusalCause.answer(
                .upload, attempt: exchange.attempt, status: answer.head.status,
                retryable: answer.problem.retryable)
            self.refuse(exchange.scan, code: code, cause: cause, at: now, into: &effects)
        case .failed(let judgement):
            self.act(on: judgement, exchange, answer, at: now, into: &effects)
        }
    }

    private mutating func observe(
        found: Bool, isRepeated: Bool, _ exchange: Exchange, _ index: Int, at now: Instant,
        into effects: inout [PhoneEffect]
    ) {
        self.observe(
            .lookupAnswered(
                found: found, repeated: isRepeated, took: now - self.uploadBegan(exchange, index),
                service: now - exchange.sentAt),
            of: exchange.scan, at: now, into: &effects)
    }
}

/// The meaning of the response to the look-up of a barcode (Docs/contract.md section 3.2).
enum LookupJudgement: Hashable, Sendable {
    /// `isRepeated`: the server says that it is the answer to an earlier request.
    case found(Book, isRepeated: Bool)
    /// No provider has the book, however often it is asked for.
    case unknown(code: String)
    /// As for any upload.
    case failed(UploadJudgement)

    /// A 404 is the server's word about the book only if its body says so; another may come from a wrong address.
    static func judge(_ answer: inout Answer, barcode: String?, obeysRetryable: Bool) -> LookupJudgement {
        switch answer.head.status {
        case 200:
            let reading = answer.read(
                { LookupReading.read($0, barcode: barcode, into: &$1) }, bytesMax: AppLimits.answerBytesMax)
            guard let reading else {
                return .failed(.again(.backoff(answer.badness.waitingCause), answer.badness))
            }
            if let bad = answer.objection(success: reading.success, jobId: nil, to: "") {
                return .failed(.again(.backoff(.unreadableAnswer), bad))
            }
            return .found(reading.book, isRepeated: reading.isRepeated)
        case 201...299:
            answer.note(.unexpectedStatus)
            return .failed(.again(.backoff(.unexpectedStatus), .unexpectedStatus))
        case 404
        where answer.problem.code == ProblemCode.notFound.rawValue && answer.problem.retryable != true:
            return .unknown(code: ProblemCode.notFound.rawValue)
        case 404 where answer.isCut:
            // A legal answer, whose word about the book was lost on its way.
            return .failed(.again(.backoff(.transport, atLeast: answer.serverWait), nil))
        default:
            return .failed(UploadJudgement.judge(&answer, .v2, obeysRetryable: obeysRetryable))
        }
    }
}
