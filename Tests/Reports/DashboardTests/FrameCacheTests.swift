import Reports
import Testing
import Wire

@testable import Dashboard

@Suite struct FrameCacheTests {
    private static func frame(_ title: String, _ parts: [(String, HTML)]) -> LiveFrame {
        LiveFrame(title: title, parts: parts.map { .init(id: $0.0, html: $0.1) })
    }

    private static func text(_ book: FrameCache, after version: Int) -> String {
        String(decoding: book.events(after: version), as: UTF8.self)
    }

    @Test func `before the first frame there is nothing to say`() {
        #expect(FrameCache(run: "a").events(after: 0) == [])
    }

    @Test func `whoever comes late gets every part, and only the last event has an id`() {
        var book = FrameCache(run: "a")
        book.take(Self.frame("one", [("head", "<p>1\n2"), ("time", "")]))
        book.take(Self.frame("two", [("head", "<p>1\n2"), ("time", "<svg>")]))
        #expect(
            Self.text(book, after: 0) == """
                event: part
                data: head
                data: <p>1
                data: 2

                event: part
                data: time
                data: <svg>

                id: a-2
                event: frame
                data: two


                """)
    }

    @Test func `whoever has the first frame gets what has changed since`() {
        var book = FrameCache(run: "a")
        book.take(Self.frame("one", [("head", "1"), ("time", "x")]))
        book.take(Self.frame("two", [("head", "1"), ("time", "y")]))
        #expect(
            Self.text(book, after: 1)
                == "event: part\ndata: time\ndata: y\n\nid: a-2\nevent: frame\ndata: two\n\n")
        #expect(book.events(after: 2) == [])
    }

    @Test func `ids of another run, and of frames that never were, are ids of nobody`() {
        var book = FrameCache(run: "a")
        for _ in 0..<3 { book.take(Self.frame("t", [("head", "1")])) }
        let known = ["a-1", "a-3"].map { book.version(ofLast: $0) }
        #expect(known == [1, 3])
        let unknown = [nil, "", "a", "a-", "a-0", "a-4", "a--1", "b-2", "a-1x", "2"].map {
            book.version(ofLast: $0)
        }
        #expect(unknown.allSatisfy { $0 == 0 })
    }
}
