/// A number of requests in a window of time.
package struct Quota: Hashable, Sendable {
    package var requests: Int
    package var window: Interval

    package init(requests: Int, window: Interval) {
        self.requests = requests
        self.window = window
    }
}
