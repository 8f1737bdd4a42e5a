/// A photograph on its way through the preprocessing, for users to look at.
package struct PhotoStage: Hashable, Sendable {
    /// The last step, with a number for sorting: the name of its file without `.jpg`.
    package let name: String
    package let jpeg: [UInt8]
}

extension Preprocessor {
    /// The quality of the stages that the app never encodes.
    private static let stageQuality = 95

    /// A picture for each step. Those before the first encoding are made by the filters themselves, fewer of them each.
    package mutating func stages(
        _ jpeg: [UInt8], noise: NoiseReduction
    ) throws(ImagingError) -> [PhotoStage] {
        let filtered = self.filter(jpeg, noise: noise)
        let upload = try self.resize(filtered)
        var stages: [PhotoStage] = []
        let tone = ToneMap(brightness: filtered.brightnessAdjustment)
        var steps: [(name: String, tone: ToneMap, noise: NoiseReduction)] = [
            ("1-rotated", .none, .off), ("2-contrast", ToneMap(brightness: 0), .off),
            ("3-brightness", tone, .off),
        ]
        if noise == .on { steps.append(("4-noise", tone, .on)) }
        for (name, tone, noise) in steps {
            let picture = try self.glimpse(jpeg, tone, noise, quality: Self.stageQuality)
            stages.append(PhotoStage(name: name, jpeg: picture))
        }
        return stages + [
            PhotoStage(name: "5-filtered", jpeg: filtered.jpeg),
            PhotoStage(name: "6-upload", jpeg: upload.jpeg),
        ]
    }
}
