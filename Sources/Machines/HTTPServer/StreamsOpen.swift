/// The server's own count of open event streams: how many there were at least and at most since somebody last asked.
package struct StreamsOpen: Hashable, Sendable {
    package private(set) var least: Int
    package private(set) var most: Int

    package init(least: Int, most: Int) {
        self.least = least
        self.most = most
    }

    mutating func record(_ count: Int) {
        self.least = min(self.least, count)
        self.most = max(self.most, count)
    }
}
