internal import OriginServer
internal import SimBase
internal import Talaria

extension Backend {
    /// Access to a job that is not there: gone (410) while it is remembered, otherwise unknown (404). In a version that hides
    /// them, the results of a job whose time was over are refused as those of a job without results (404).
    func accessToMissingJob(_ key: JobKey, _ context: RequestContext) -> Access {
        guard self.tombstones.contains(key) else { return .refused(.unknownJob) }
        let isHidden = context.operation == .results && context.journey.version.hidesExpiredResults
        return isHidden && self.tombstones.hasExpired(key) ? .refused(.noResults) : .gone
    }
}
