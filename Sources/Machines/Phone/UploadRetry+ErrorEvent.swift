import Observations
import SimBase
import Talaria

// What an `error` event of a stream means for its scan (Docs/design.md section 6 "Retryable stream error" and
// "Final error").

extension UploadRetry {
    /// Whether an `error` event that could be read ends its scan: unless it calls itself retryable.
    static func isFinal(_ error: ErrorData) -> Bool { error.retryable != true }

    /// An `error` event that is not final: as often as the profile allows by itself (`EventPolicy.errorRetriesMax`), then with the next path. `errors` counts this one.
    static func retryableError(errors: Int, max: Int?, delay: Interval) -> Self {
        let isAutomatic = errors <= (max ?? .max)
        return Self(
            cause: .retryableError, wait: isAutomatic ? .none : .nextPath,
            atLeast: isAutomatic ? delay : .zero)
    }
}
