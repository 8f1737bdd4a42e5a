extension Array {
    /// Takes an element out, moved and not copied, and leaves another at its index.
    @inlinable public mutating func take(_ index: Int, leaving other: consuming Element) -> Element {
        var taken = other
        swap(&taken, &self[index])
        return taken
    }

    /// Looks at an element in place: a subscript that is only read copies a large element.
    @inlinable public mutating func update<Result>(
        _ index: Int, _ change: (inout Element) -> Result
    ) -> Result { change(&self[index]) }

    /// Empties it and keeps its room: a few one by one, which costs less than all at once.
    @inlinable public mutating func clear() {
        guard self.count <= 4 else { return self.removeAll(keepingCapacity: true) }
        while !self.isEmpty { self.removeLast() }
    }
}
