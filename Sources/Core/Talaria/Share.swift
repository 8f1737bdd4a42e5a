// A share of a job as the wire writes it, made from a whole number: machines decide in whole numbers.

extension StatusBody.Status {
    /// `thousandths` of the job are done.
    package init(
        jobId: String, status: JobStatus, thousandths: Int, processedCount: Int, totalCount: Int
    ) {
        self.init(
            jobId: jobId, status: status, progress: Double(thousandths) / 1_000,
            processedCount: processedCount, totalCount: totalCount)
    }
}
