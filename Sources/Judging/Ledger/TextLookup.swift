import Talaria

/// The look-ups by text of one group of phones.
package struct TextRule: Hashable, Sendable {
    /// Whether its phones read the answers of this backend: both have the same form (Docs/contract.md section 7, C24).
    package var readsAnswers: Bool
    /// The confidence, in percent, below which the photo of a reading is uploaded.
    package var photoBelow: Int
    /// How often a failed look-up is repeated.
    package var retriesMax: UInt32

    package init(readsAnswers: Bool, photoBelow: Int, retriesMax: UInt32) {
        self.readsAnswers = readsAnswers
        self.photoBelow = photoBelow
        self.retriesMax = retriesMax
    }
}

/// What is known of the look-up of one text: the cause for keeping the reading, or for uploading the photo.
struct TextLookup: Hashable, Sendable {
    /// The last request, from 1; 0 before the first.
    private(set) var attempt: UInt32 = 0
    /// The status of the response to it; nil while there is none, and when the rest of it was lost.
    private(set) var status: Int?
    /// The phone could not read the response.
    private(set) var isUnreadable = false
    /// The backend has answered one of the requests with what it found.
    var isFound = false

    mutating func sent(attempt: UInt32) {
        self.attempt = attempt
        self.status = nil
        self.isUnreadable = false
    }

    mutating func replied(attempt: UInt32, status: Int?) {
        guard attempt == self.attempt else { return }
        self.status = status
    }

    mutating func unreadable(attempt: UInt32) {
        guard attempt == self.attempt else { return }
        self.isUnreadable = true
    }

    private static let successes = 200...299

    /// What is wrong with keeping the reading. `isDisturbed`: a fault has hit the last request. `isFinal`: its response does not
    /// allow a retry.
    func complaint(keepingBy rule: TextRule, isDisturbed: Bool, isFinal: Bool) -> String? {
        guard self.attempt > 0 else { return "kept what was read without a look-up" }
        if let status = self.status {
            if self.statusWithoutIt != nil {
                return
                    "kept what was read, and not the photo uploaded, after a \(status) to look-up \(self.attempt)"
            }
            if Self.successes.contains(status) {
                let isExplained = self.isUnreadable && (isDisturbed || !rule.readsAnswers || status != 200)
                return isExplained
                    ? nil : "kept what was read, although look-up \(self.attempt) was answered with \(status)"
            }
        }
        guard !isFinal, self.attempt <= rule.retriesMax else { return nil }
        let response = self.status.map { "a \($0)" } ?? "no response"
        return "kept what was read after \(response) to look-up \(self.attempt) of \(rule.retriesMax + 1)"
    }

    /// What is wrong with a book that was merged with an answer. `isSeen`: the backend is observed.
    func complaint(mergingWhereBackendIsSeen isSeen: Bool) -> String? {
        guard self.status == 200, self.isFound || !isSeen else {
            return "merged with the answer to look-up \(self.attempt), which the backend did not give"
        }
        return nil
    }

    /// The status of the last response, if it says that the backend has no look-up by text.
    private var statusWithoutIt: Int? {
        self.status.flatMap { TextRequest.statusesWithoutIt.contains($0) ? $0 : nil }
    }

    /// What is wrong with another look-up after this one.
    var complaintOfMissingPhoto: String? {
        self.statusWithoutIt.map {
            "waits for another look-up, and its photo is not uploaded, after a \($0) to look-up \(self.attempt)"
        }
    }

    /// What is wrong with an upload of the photo because the backend has no look-up by text.
    var complaintOfMissingEndpoint: String? {
        guard self.statusWithoutIt == nil else { return nil }
        return "uploaded as a photo, although no response to look-up \(self.attempt) says that there is none"
    }
}
