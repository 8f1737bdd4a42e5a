/// One header field of HTTP. Names are compared without case and keep the spelling in which they came or were given.
public struct HeaderLine: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Its value, without the blanks around it.
    public var value: String

    /// A field with a name and a value.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
