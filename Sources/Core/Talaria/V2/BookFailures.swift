/// The books of a job that its backend counts as failures (Docs/contract.md section 3.3).
package struct BookFailures: Hashable, Sendable {
    package var failed: Int
    /// All books of the job: successes and failures.
    package var total: Int

    package init(failed: Int, total: Int) {
        self.failed = failed
        self.total = total
    }

    /// Nil for numbers that no job can have.
    init?(failed: Int?, succeeded: Int?) {
        guard let failed, let succeeded, (0...Self.booksMax).contains(failed),
            (0...Self.booksMax).contains(succeeded)
        else { return nil }
        self.init(failed: failed, total: failed + succeeded)
    }

    private static let booksMax = 1 << 20
}
