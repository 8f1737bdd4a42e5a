internal import OriginServer
package import SimBase
package import Talaria

// Queries of observers.

extension Backend {
    /// Calls `look` with each of its collections and its limit.
    package func eachBound(_ look: (Bound) -> Void) {
        look(
            Bound(
                "BackendConfiguration.jobsMax", self.jobs.count + self.uploads.count,
                max: self.configuration.jobsMax))
        look(
            Bound(
                "BackendConfiguration.tombstonesMax", self.tombstones.count,
                max: self.configuration.tombstonesMax))
        look(
            Bound(
                "BackendConfiguration.documentBytesMax", self.documentBytes,
                max: self.configuration.documentBytesMax))
        look(Bound("ImportRules.booksMax", self.libraries.count, max: self.configuration.imports.booksMax))
        self.enrichments.eachBound(look)
        let callers = self.limits.map(\.limiter.devices).max() ?? 0
        look(Bound("RateLimiter.devicesMax", callers, max: RateLimiter.devicesMax))
    }

    /// Whose token a request shows.
    package func owner(ofToken authorization: String, target: String) -> TokenOwner {
        let jobID: String
        switch JourneyPath(target: target)?.endpoint {
        case .stream(let id)?, .results(let id)?, .cleanup(let id)?, .job(let id)?: jobID = id
        case .upload?, .refresh?, nil: return .otherJob
        }
        guard let key = JobKey(jobID: jobID), let token = self.jobs.with(key, { $0.token }) else {
            return .thisJob
        }
        let presented = Bearer(authorization: authorization)
        if presented == .secret(token.secret) { return .thisJob }
        return token.wasOnce(presented) ? .thisJobBefore : .otherJob
    }
}
