extension Array {
    /// Takes an element out, moved and not copied, and leaves another in its place.
    @inlinable public mutating func take(_ place: Int, leaving other: consuming Element) -> Element {
        var taken = other
        swap(&taken, &self[place])
        return taken
    }
}
