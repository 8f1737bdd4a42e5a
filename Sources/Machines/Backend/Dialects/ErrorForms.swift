internal import Faults
import JSON
internal import OriginServer
internal import SimBase
internal import Talaria

/// The data of the event of a job that failed or was canceled (C4).
enum FailureForm: Hashable, Sendable {
    /// code, message and retryable are next to jobId.
    case flat
    /// Under the key `error`, next to jobId and the status of the job.
    case nested
    /// `nested` with the members of a `processing` event (Docs/contract.md section 3.3).
    case nestedWithProgress

    /// - Parameter progress: How far the job had come.
    func data(_ error: ErrorData, status: JobStatus, _ progress: JobProgress) -> [UInt8] {
        switch self {
        case .flat: return JSON.encode(error)
        case .nested: return error.nested(status: status, nil)
        case .nestedWithProgress: return error.nested(status: status, progress)
        }
    }

    /// The one event of a stream of a job that is not known (Docs/contract.md section 2.6).
    static func unknownJob(_ job: String) -> [UInt8] {
        JSON.object { writer in
            writer.object("error") { writer in
                writer.member("code", "JOB_NOT_FOUND")
                writer.member("message", "There is no such job.")
            }
            writer.member("jobId", job)
        }
    }
}

/// The data of an `enrichment_degraded` event (C10).
enum DegradedForm: Hashable, Sendable {
    /// The seven fields of S0.
    case contract
    /// message, severity and failedFields (OAS).
    case openAPI

    func data(job: String, _ book: Book, timestamp: String) -> [UInt8] {
        switch self {
        case .contract:
            EventDistortion.degradedData(job: job, isbn: book.isbn, title: book.title, timestamp: timestamp)
        case .openAPI:
            JSON.object { writer in
                writer.array("failedFields", ["coverUrl"]) { $0.text($1) }
                writer.member("jobId", job)
                writer.member("message") {
                    $0.append(text: book.title)
                    $0.append(literal: " could not be looked up.")
                }
                writer.member("severity", "warning")
            }
        }
    }
}

/// The body of a 4xx or 5xx.
enum ProblemForm: Hashable, Sendable {
    case contract
    /// A 401 TOKEN_EXPIRED is `{success, error: {code, message}, metadata}`, not RFC 9457 (Docs/contract.md section 2.6).
    case nestedTokenExpired
    /// The wait is `retryAfter`, in seconds (Docs/contract.md section 1.7).
    case retryAfterInSeconds
    /// That of v2 (Docs/contract.md section 3.1).
    case v2

    var contentType: String {
        switch self {
        case .contract, .nestedTokenExpired, .retryAfterInSeconds: Problem.contentType
        case .v2: "application/json"
        }
    }

    func body(_ problem: Problem) -> [UInt8] {
        switch self {
        case .nestedTokenExpired where problem.code == ProblemCode.tokenExpired.rawValue:
            return JSON.object { writer in
                writer.object("error") { writer in
                    writer.member("code", problem.code)
                    writer.member("message", problem.detail)
                }
                writer.member(problem.metadata)
                writer.member("success", false)
            }
        case .contract, .nestedTokenExpired: return JSON.encode(problem)
        case .v2: return problem.v2Body
        case .retryAfterInSeconds:
            var problem = problem
            problem.retryAfter = problem.retryAfterInSeconds
            problem.retryAfterMs = nil
            return JSON.encode(problem)
        }
    }
}
