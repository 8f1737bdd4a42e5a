import JSON
import Testing

struct JSONTextTests {
    private static func object(_ text: String) -> JSONObjectText? { JSONObjectText(text) }

    private static func text(_ object: JSONObjectText?) -> String? {
        object.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test(arguments: [
        ("{\"books\":[1],\"a\":2}", "{\"a\":2}"), ("{\"a\":2,\"books\":[{\"b\":\"]}\"}]}", "{\"a\":2}"),
        ("{ \"a\" : 2 , \"books\" : null , \"c\" : 3 }", "{ \"a\" : 2 , \"c\" : 3 }"),
        ("{\"books\":[]}", "{}"), ("{\"a\":{\"books\":1}}", "{\"a\":{\"books\":1}}"),
    ])
    func `a member goes and every other byte stays`(before: String, after: String) {
        var object = Self.object(before)
        object?.remove("books")
        #expect(Self.text(object) == after)
    }

    @Test(arguments: [
        "", "[]", "{", "{\"a\"}", "{\"a\":1", "{\"a\":1}x", "{\"a\":\"x}", "{a:1}", "{\"a\":[}", "1",
    ])
    func `what is no object is left alone`(text: String) { #expect(Self.object(text) == nil) }

    @Test func `strings under a key are changed at any depth, escapes and all`() {
        var object = Self.object(
            "{\"sseUrl\":\"https:\\/\\/a\\/b\",\"x\":{\"href\":\"/c\",\"other\":\"/d\"},\"l\":[{\"href\":\"/e\"}]}"
        )
        let changed = object?.changeStrings(under: ["sseUrl", "href"]) { "<\($0)>" }
        #expect(changed == true)
        #expect(
            Self.text(object)
                == "{\"sseUrl\":\"<https://a/b>\",\"x\":{\"href\":\"</c>\",\"other\":\"/d\"},\"l\":[{\"href\":\"</e>\"}]}"
        )
    }

    @Test func `elements of an array`() {
        let array = Array("[ {\"a\":[1,2]}, 3 ,\"x,y\"]".utf8)
        let elements = JSONObjectText.elements(of: array[...])
        #expect(elements?.map { String(decoding: $0, as: UTF8.self) } == ["{\"a\":[1,2]}", "3", "\"x,y\""])
        #expect(JSONObjectText.elements(of: Array("[1".utf8)[...]) == nil)
    }
}
