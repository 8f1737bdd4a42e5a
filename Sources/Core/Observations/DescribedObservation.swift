/// The observations of one side. `coded(by:)` describes each case once; the log, the pipe between processes and the digest follow
/// from the description.
protocol DescribedObservation {
    static var side: Side { get }
    /// One of each case, with any fields, by their names.
    static var byName: [String: Self] { get }
    /// Passes the name and the fields to a codec, and returns what was read.
    func coded(by codec: inout some FieldCodec & ~Copyable) throws(MalformedObservation) -> Self?
}

extension DescribedObservation {
    /// Reads what `coded(by:)` wrote.
    init(
        _ name: String, from codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) {
        guard let observation = try Self.byName[name]?.coded(by: &codec) else { throw MalformedObservation() }
        self = observation
    }

    static func named(_ observations: [Self]) -> [String: Self] {
        Dictionary(uniqueKeysWithValues: observations.map { (NameCodec.name(of: $0), $0) })
    }

    /// A case with any fields.
    static func blank<each Value: FieldValue>(_ make: (repeat each Value) -> Self) -> Self {
        make(repeat (each Value).blank)
    }
}

/// Receives the name of an observation.
private struct NameCodec: FieldCodec {
    private var name = ""

    static func name(of observation: some DescribedObservation) -> String {
        var codec = NameCodec()
        _ = try? observation.coded(by: &codec)
        return codec.name
    }

    var isReader: Bool { false }
    mutating func begin(_ side: Side, _ name: StaticString) { self.name = name.description }
    func number(_ key: StaticString, _ value: Int64?) -> Int64? { value }
    func identifier(_ key: StaticString, _ value: UInt64) -> UInt64 { value }
    func flag(_ key: StaticString, _ value: Bool?) -> Bool? { value }
    func text(_ key: StaticString, _ value: String?) -> String? { value }
}

// A parameter pack in place of the numbers of fields makes a simulated run a sixth slower.
extension FieldCodec where Self: ~Copyable {
    typealias Key = StaticString

    /// An observation without fields.
    mutating func row<Case: DescribedObservation>(_ name: Key, _ observation: Case) -> Case? {
        self.begin(Case.side, name)
        return observation
    }

    /// The name of an observation, its case, and the keys and values of its fields.
    @inline(__always) mutating func row<Case: DescribedObservation, A: FieldValue>(
        _ name: Key, _ make: (A) -> Case, _ k0: Key, of a: A
    ) throws(MalformedObservation) -> Case? {
        self.begin(Case.side, name)
        let a = try self.field(k0, a)
        return self.isReader ? make(a) : nil
    }

    @inline(__always) mutating func row<Case: DescribedObservation, A: FieldValue, B: FieldValue>(
        _ name: Key, _ make: (A, B) -> Case, _ k0: Key, _ k1: Key, of a: A, _ b: B
    ) throws(MalformedObservation) -> Case? {
        self.begin(Case.side, name)
        let (a, b) = try (self.field(k0, a), self.field(k1, b))
        return self.isReader ? make(a, b) : nil
    }

    @inline(__always)
    mutating func row<Case: DescribedObservation, A: FieldValue, B: FieldValue, C: FieldValue>(
        _ name: Key, _ make: (A, B, C) -> Case, _ k0: Key, _ k1: Key, _ k2: Key, of a: A, _ b: B, _ c: C
    ) throws(MalformedObservation) -> Case? {
        self.begin(Case.side, name)
        let (a, b, c) = try (self.field(k0, a), self.field(k1, b), self.field(k2, c))
        return self.isReader ? make(a, b, c) : nil
    }

    @inline(__always)
    mutating func row<Case: DescribedObservation, A: FieldValue, B: FieldValue, C: FieldValue, D: FieldValue>(
        _ name: Key, _ make: (A, B, C, D) -> Case, _ k0: Key, _ k1: Key, _ k2: Key, _ k3: Key, of a: A,
        _ b: B, _ c: C, _ d: D
    ) throws(MalformedObservation) -> Case? {
        self.begin(Case.side, name)
        let (a, b, c, d) = try (self.field(k0, a), self.field(k1, b), self.field(k2, c), self.field(k3, d))
        return self.isReader ? make(a, b, c, d) : nil
    }

    @inline(__always)
    mutating func row<
        Case: DescribedObservation, A: FieldValue, B: FieldValue, C: FieldValue, D: FieldValue, E: FieldValue
    >(
        _ name: Key, _ make: (A, B, C, D, E) -> Case, _ k0: Key, _ k1: Key, _ k2: Key, _ k3: Key, _ k4: Key,
        of a: A, _ b: B, _ c: C, _ d: D, _ e: E
    ) throws(MalformedObservation) -> Case? {
        self.begin(Case.side, name)
        let (a, b, c, d, e) = try (
            self.field(k0, a), self.field(k1, b), self.field(k2, c), self.field(k3, d), self.field(k4, e)
        )
        return self.isReader ? make(a, b, c, d, e) : nil
    }

    @inline(__always)
    mutating func row<
        Case: DescribedObservation, A: FieldValue, B: FieldValue, C: FieldValue, D: FieldValue, E: FieldValue,
        F: FieldValue
    >(
        _ name: Key, _ make: (A, B, C, D, E, F) -> Case, _ k0: Key, _ k1: Key, _ k2: Key, _ k3: Key,
        _ k4: Key, _ k5: Key, of a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F
    ) throws(MalformedObservation) -> Case? {
        self.begin(Case.side, name)
        let (a, b, c, d, e, f) = try (
            self.field(k0, a), self.field(k1, b), self.field(k2, c), self.field(k3, d), self.field(k4, e),
            self.field(k5, f)
        )
        return self.isReader ? make(a, b, c, d, e, f) : nil
    }

    @inline(__always) mutating func field<Value: FieldValue>(
        _ key: Key, _ value: Value
    ) throws(MalformedObservation) -> Value {
        guard let coded = try Value.coded(value, key, by: &self) else { throw MalformedObservation() }
        return coded
    }
}
