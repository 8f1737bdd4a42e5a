import Testing

@testable import Talaria

@Suite struct PathMapTests {
    private static func map(_ rules: String...) -> PathMap {
        var map = PathMap()
        for rule in rules {
            let isAdded = map.add(rule)
            #expect(isAdded, "\(rule)")
        }
        return map
    }

    @Test func `a path has the operation of the first rule that it fits`() {
        let map = Self.map("/a/*/events=stream", "POST /a=upload", "/a/*=results", "/a/b=status")
        let places: [(String, String, Operation?)] = [
            ("GET", "/a/7/events", .stream), ("POST", "/a", .upload), ("GET", "/a", nil),
            ("GET", "/a/b", .results),
            ("OPTIONS", "/a/7/events", nil), ("GET", "/a/7/events/", nil), ("GET", "/a/7/8/events", nil),
            ("GET", "/", nil), ("GET", "", nil),
        ]
        for (method, path, operation) in places {
            let place = map.place(method: method, path: path, query: "x=1")
            #expect(place?.foreignOperation == operation, "\(method) \(path)")
        }
    }

    @Test func `a path of the contract stays one`() {
        let map = Self.map("/v3/jobs/*=stream")
        let place = map.place(method: "POST", path: Endpoint.scans, query: nil)
        #expect(place == JourneyPath(path: Endpoint.scans) && place?.foreignOperation == nil)
    }

    @Test(arguments: [
        "", "=", "/a", "/a=", "a=stream", "/a=streams", "GET PUT /a=stream", "=stream", "/a?x=stream",
        "/a#b=stream", "G{T /a=stream", "/v3/jobs/scans=upload",
    ])
    func `what names no path and operation is no rule`(text: String) {
        var map = PathMap()
        let isAdded = map.add(text)
        #expect(!isAdded)
    }
}
