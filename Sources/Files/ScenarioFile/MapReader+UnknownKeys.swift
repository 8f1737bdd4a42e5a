import SimBase

extension MapReader {
    /// The search for what an unknown key was meant to be costs time, and a hostile file has many: it is made for the first ones.
    private static let searchesMax = 8

    /// Reports keys that are neither in `keys` nor in `planned` as unknown, and those in `planned` as not available yet. Returns
    /// the keys that the unknown ones were probably meant to be.
    func reportUnknownKeys(among keys: [String], planned: [String]) -> Set<String> {
        var meant: Set<String> = []
        var searches = 0
        for entry in self.entries where !keys.contains(entry.key) {
            if let help = ForeignWord.help(key: entry.key, among: keys) {
                self.findings.add(
                    entry.keyLocation, "unknown key \(Findings.quoted(entry.key)) in \(self.what)", help: help
                )
                meant.formUnion(ForeignWord.meant(by: entry.key))
            } else if planned.contains(entry.key) {
                self.findings.add(entry.keyLocation, "`\(entry.key)` is not available yet")
            } else {
                self.findings.add(
                    entry.keyLocation, "unknown key \(Findings.quoted(entry.key)) in \(self.what)",
                    help: Values.didYouMean(entry.key, keys) ?? "the keys are \(Values.list(keys))")
                guard searches < Self.searchesMax else { continue }
                searches += 1
                if let nearest = Spelling.nearest(to: entry.key, among: keys) { meant.insert(nearest) }
            }
        }
        return meant
    }
}
