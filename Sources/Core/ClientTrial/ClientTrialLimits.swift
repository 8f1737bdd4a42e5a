/// The numbers that bound what a trial remembers.
enum ClientTrialLimits {
    static let clientsMax = 10_000
    static let jobsMax = 20_000
    static let idsMax = 2_000
    static let photosMax = 64
    static let chainsMax = 64
    static let clientsShownMax = 50
}
