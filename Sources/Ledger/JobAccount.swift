import SimBase
import Talaria

/// One job that is still followed.
struct JobAccount: Sendable {
    let id: String
    let scan: ScanNumber
    /// From before this run: nothing is known of its log.
    let isInherited: Bool

    // What the backend said.
    var isAcceptedByBackend = false
    var isDeleted = false
    var isExpired = false
    /// A named fault took it away.
    var hasVanished = false

    // What the phone said.
    /// It decoded the 202.
    var isKnownToPhone = false
    var terminal: EventKind?
    var sawError = false
    var hadInlineBooks = false
    var hadResults = false
    /// The scan was completed with this job's books.
    var carriedBooks = false
    var deleteSent = false
    var deleteAnswered = false
    var isAbandoned = false
    /// The app left the screen while its scan was unsettled.
    var isGivenUp = false
    /// Something other than the phone may keep the job from being deleted.
    var isExcused = false

    var stream = StreamAccount()

    init(id: String, scan: ScanNumber, isInherited: Bool) {
        self.id = id
        self.scan = scan
        self.isInherited = isInherited
    }

    /// The backend does not have it any more.
    var isGone: Bool { self.isDeleted || self.isExpired || self.hasVanished }

    /// Nothing more is to be heard of it, so that it can be forgotten.
    func isClosed(hasBackendView: Bool) -> Bool {
        let isPhoneDone = self.deleteAnswered || self.isAbandoned
        guard hasBackendView, !self.isInherited else { return isPhoneDone }
        return self.isGone && (isPhoneDone || !self.isKnownToPhone)
    }
}
