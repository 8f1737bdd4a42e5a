import Reports
import RunDriver
import SimBase

/// The story of a scan in columns: a mark, the time, the time since the line before, the side, and what happened.
enum ScanStoryText {
    /// The width of a file and of an unknown terminal.
    static let columnsDefault = 80
    private static let widths = (time: 11, gap: 10, side: 6)
    /// With less room, the text is below its line.
    private static let textMin = 16
    /// What a backend sends may be long.
    private static let textBytesMax = 400

    /// Returns lines of at most `columns` columns. A wider word, such as an id, stays whole.
    static func lines(_ story: ScanStory, columns: Int) -> [String] {
        story.lines.flatMap { line in
            let content = Printable.line(line.text, bytesMax: self.textBytesMax)
            let gap = line.gap.map { "+" + StoryText.time($0) } ?? ""
            let time = Figures.seconds(line.at.nanoseconds) + " s"
            let lead =
                "\(self.sign(line.mark)) \(self.right(time, self.widths.time)) "
                + "\(self.right(gap, self.widths.gap)) \(self.left(line.side, self.widths.side)) "
            let room = columns - lead.count
            guard room >= self.textMin else {
                return [lead.trimmingSuffix(while: { $0 == " " }).description]
                    + TextFold.lines("    " + content, columns: columns, indent: 6)
            }
            let text = TextFold.lines(content, columns: room, indent: 2)
            let margin = String(repeating: " ", count: lead.count)
            return text.enumerated().map { ($0 == 0 ? lead : margin) + $1 }
        }
    }

    private static func sign(_ mark: ScanStory.Mark?) -> String {
        switch mark {
        case .silence: "~"
        case .violation: "!"
        case nil: " "
        }
    }

    private static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

extension String {
    fileprivate func trimmingSuffix(while fits: (Character) -> Bool) -> Substring {
        var text = self[...]
        while let last = text.last, fits(last) { text.removeLast() }
        return text
    }
}
