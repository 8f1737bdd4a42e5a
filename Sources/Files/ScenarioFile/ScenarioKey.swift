/// A key of a map in a scenario, in one row: the reader, the writer, the schema with its defaults and the page of the
/// manual derive from it.
struct ScenarioKey<Model>: Sendable {
    let name: String
    /// What may be written, with the description of the key.
    let schema: JSONSchema
    /// Replaces the default in the model, if the map has the key with a valid value.
    let read: @Sendable (MapReader, inout Model) -> Void
    /// The value as a scenario states it; nil if the key is left out.
    let write: @Sendable (Model) -> String?

    /// A value with a reader of its own.
    init(
        _ name: String, _ schema: JSONSchema, _ description: String,
        read: @escaping @Sendable (MapReader, inout Model) -> Void,
        write: @escaping @Sendable (Model) -> String?
    ) {
        self.name = name
        self.schema = schema.described(description)
        self.read = read
        self.write = write
    }

    init<Value>(
        _ name: String, _ path: any WritableKeyPath<Model, Value> & Sendable, _ form: ValueForm<Value>,
        _ description: String
    ) {
        self.init(name, form.schema, description) { map, model in
            let value = map.value(name) { text throws(ValueError) in try form.read(name, text) }
            if let value { model[keyPath: path] = value }
        } write: {
            form.write($0[keyPath: path])
        }
    }

    /// A map with keys of its own.
    init<Value>(
        _ name: String, _ path: any WritableKeyPath<Model, Value> & Sendable, _ keys: ScenarioKeys<Value>,
        _ description: String
    ) {
        self.init(name, .map(keys.schemas), description) { map, model in
            guard let node = map.entry(name)?.value, let inner = keys.map(node, map.findings) else { return }
            keys.read(inner, into: &model[keyPath: path])
        } write: {
            keys.text($0[keyPath: path])
        }
    }
}

/// The keys of a map in a scenario.
struct ScenarioKeys<Model>: Sendable {
    /// The kind of the map with its article, for error messages: `a server`.
    let what: String
    /// Keys that are reported as not available yet.
    var planned: [String] = []
    /// In the order in which they are read, written and listed.
    let rows: [ScenarioKey<Model>]

    var names: [String] { self.rows.map(\.name) }

    var schemas: [String: JSONSchema] {
        Dictionary(uniqueKeysWithValues: self.rows.map { ($0.name, $0.schema) })
    }

    /// Nil, and reported, when the node is not a map.
    func map(_ node: Node, _ findings: Findings) -> MapReader? {
        MapReader(node, what: self.what, keys: self.names, planned: self.planned, findings: findings)
    }

    func read(_ map: MapReader, into model: inout Model) {
        for row in self.rows { row.read(map, &model) }
    }

    func values(_ model: Model) -> [(key: String, value: String)] {
        self.rows.compactMap { row in row.write(model).map { (row.name, $0) } }
    }

    /// The map on one line.
    func text(_ model: Model) -> String {
        "{\(self.values(model).map { "\($0.key): \($0.value)" }.joined(separator: ", "))}"
    }
}
