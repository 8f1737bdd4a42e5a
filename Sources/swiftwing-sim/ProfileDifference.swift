import Phone

/// What to change in one client to get another: the values that differ, and what each client does by them.
struct ProfileDifference {
    private let left: NamedProfile
    private let right: NamedProfile
    private let ours: ClientProfile
    private let theirs: ClientProfile
    /// The toggles that one of them has and the other has not.
    private let toggles: [ProfileToggle]

    init(_ left: NamedProfile, _ right: NamedProfile) {
        (self.left, self.right) = (left, right)
        (self.ours, self.theirs) = (left.profile(), right.profile())
        let (onLeft, onRight) = (left.toggles(with: []), right.toggles(with: []))
        self.toggles = ProfileToggle.all.filter { onLeft.contains($0) != onRight.contains($0) }
    }

    /// The values under the toggle that they come from, those that lose scans first; then the values that come from none, and
    /// what neither client shows.
    func lines(columns: Int?) -> [String] {
        let lines =
            self.toggled(columns) + self.untoggled(columns) + self.hidden(columns)
            + [self.left, self.right].flatMap { ProfileText.unproven($0, columns: columns) }
        guard !lines.isEmpty else { return ["\(self.left.name) and \(self.right.name) are identical"] }
        return self.head(columns) + lines
    }

    private func head(_ columns: Int?) -> [String] {
        let clients = [self.left, self.right].map {
            [$0.name, $0.summary, $0.source]
        }
        var lines = ["Where two clients differ, and what each does there:"]
        lines += TextTable.lines(clients, indent: 2, columns: columns)
        if self.toggles.contains(where: { ProfileText.page(of: $0) != nil }) {
            lines.append("")
            lines += ProfileText.folded(
                """
                quirk-N is defect QN in Docs/apps.md section 4.11. Section 4 describes what the app does today. What a \
                client should do is in the paragraphs "As built" of sections 1.1 to 2.2, in section 5, and in \
                Docs/design.md section 6.
                """, columns)
            lines.append("")
            lines += ProfileText.folded(
                """
                Docs/swiftwing-head.md begins with the order in which to mend them, and shows what each costs in a section \
                of its own. The order depends on the backend: with the dialect live-2026-02 every job meets quirk-6 and \
                quirk-7, and quirk-11 has no effect. The page has an order for each of the two. Before all \
                others, check whether the app has quirk-1, the last one of this list.
                """, columns)
            lines.append("")
            lines += ProfileText.folded(
                """
                The app is opened when it is launched, and when it returns from the background. The path returns when \
                the phone has a network again. Some waits end with either, others only when the app is opened: the text \
                of a value says which.
                """, columns)
        }
        return lines
    }

    // MARK: Parts

    private func toggled(_ columns: Int?) -> [String] {
        let harms = QuirkHarm.allCases.map(Optional.some) + [nil]
        return harms.flatMap { harm -> [String] in
            let toggles = self.toggles.filter { $0.harm == harm }
            guard let first = toggles.first else { return [] }
            let title = first.harm.map { ["", "\($0.title):"] } ?? []
            return title + toggles.flatMap { self.lines(of: $0, columns) }
        }
    }

    private func lines(of toggle: ProfileToggle, _ columns: Int?) -> [String] {
        let sources = [toggle.source, ProfileText.page(of: toggle)].compactMap { $0 }
        let isOurs = self.left.toggles(with: []).contains(toggle)
        let (with, without) = isOurs ? (self.ours, self.theirs) : (self.theirs, self.ours)
        var alone = without
        toggle.apply(to: &alone)
        var lines = ["", "\(toggle.key): \(toggle.title)"]
        lines += ProfileText.folded("  " + sources.joined(separator: "; "), columns)
        for value in Self.changed(alone, without) {
            // Another toggle may change the same value further: then this one is shown alone.
            let isWhole = value.text(alone) == value.text(with)
            lines.append("  \(value.name)")
            if !isWhole {
                let client = isOurs ? self.left.name : self.right.name
                let note = self.note(on: value, of: client, with, without, besides: toggle)
                lines += ProfileText.folded("    \(note)", columns)
            }
            let shown = isWhole ? with : alone
            lines += self.rows(value, isOurs ? shown : self.ours, isOurs ? self.theirs : shown, columns)
        }
        return lines
    }

    /// Why a value is not the one that a toggle gives it.
    private func note(
        on value: ProfileDescription, of client: String, _ with: ClientProfile, _ without: ClientProfile,
        besides toggle: ProfileToggle
    ) -> String {
        let other = self.toggles.first { other in
            var alone = without
            other.apply(to: &alone)
            return other != toggle && value.text(alone) == value.text(with)
        }
        guard let other else {
            return "\(client) has `\(value.text(with))` by others. With \(toggle.key) alone it would be:"
        }
        return """
            \(client) has `\(value.text(with))` by \(other.key). Nothing more is left to do when that is mended as shown \
            there. With \(toggle.key) alone it would be:
            """
    }

    private func untoggled(_ columns: Int?) -> [String] {
        let explained = Set(
            self.toggles.flatMap { toggle -> [String] in
                var alone = self.left.toggles(with: []).contains(toggle) ? self.theirs : self.ours
                let without = alone
                toggle.apply(to: &alone)
                return Self.changed(alone, without).map(\.name)
            })
        let values = Self.changed(self.ours, self.theirs).filter { !explained.contains($0.name) }
        guard !values.isEmpty else { return [] }
        return ["", "Differences that have no number and no toggle:"]
            + values.flatMap { value in
                ["", "  \(value.name) (\(value.source))"] + self.rows(value, self.ours, self.theirs, columns)
            }
    }

    private func hidden(_ columns: Int?) -> [String] {
        let hidden = ProfileToggle.hidden.filter {
            self.left.hidden.contains($0) != self.right.hidden.contains($0)
        }
        return hidden.isEmpty
            ? [] : ["", "Defects that no run can show:"] + ProfileText.hidden(hidden, columns: columns)
    }

    /// What both clients do by a value.
    private func rows(
        _ value: ProfileDescription, _ ours: ClientProfile, _ theirs: ClientProfile, _ columns: Int?
    ) -> [String] {
        TextTable.lines(
            [
                [self.left.name, value.text(ours), value.behavior(ours)],
                [self.right.name, value.text(theirs), value.behavior(theirs)],
            ], indent: 4, columns: columns ?? ProfileText.columnsMax)
    }

    private static func changed(_ left: ClientProfile, _ right: ClientProfile) -> [ProfileDescription] {
        ProfileDescription.all.filter { $0.text(left) != $0.text(right) }
    }
}
