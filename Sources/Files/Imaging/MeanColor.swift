/// The mean color of a photo and what the app makes of it (Docs/apps.md section 9, steps 3a and 3b).
struct MeanColor: Hashable {
    /// 0 to 255, of the photo before its contrast was raised.
    let red: Double
    let green: Double
    let blue: Double

    init(red: Double, green: Double, blue: Double) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Exact: every pixel counts, in whole numbers.
    init(of pixels: borrowing PhotoPixels) {
        var sums: [UInt64] = [0, 0, 0]
        for row in 0..<pixels.size.height {
            unsafe Self.add(pixels.rows.row(row), count: pixels.rows.width, to: &sums)
        }
        let count = Double(pixels.size.width * pixels.size.height)
        self.init(
            red: Double(sums[0]) / count, green: Double(sums[1]) / count, blue: Double(sums[2]) / count)
    }

    /// Eight pixels are three words. Of each word, the even bytes and the odd ones are four sums of 16 bits.
    private static func add(_ row: UnsafeMutablePointer<UInt8>, count: Int, to sums: inout [UInt64]) {
        let words = UnsafeRawPointer(row)
        let group = 24
        let mask: UInt64 = 0x00FF_00FF_00FF_00FF
        var start = 0
        while start + group <= count {
            // 257 bytes are as many as 16 bits can add up.
            let end = min(start + 256 * group, count / group * group)
            var (even0, even1, even2, odd0, odd1, odd2) = (
                UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0)
            )
            while start < end {
                let word0 = unsafe words.loadUnaligned(fromByteOffset: start, as: UInt64.self)
                let word1 = unsafe words.loadUnaligned(fromByteOffset: start &+ 8, as: UInt64.self)
                let word2 = unsafe words.loadUnaligned(fromByteOffset: start &+ 16, as: UInt64.self)
                even0 &+= word0 & mask
                even1 &+= word1 & mask
                even2 &+= word2 & mask
                odd0 &+= (word0 >> 8) & mask
                odd1 &+= (word1 >> 8) & mask
                odd2 &+= (word2 >> 8) & mask
                start &+= group
            }
            for (word, (even, odd)) in [(even0, odd0), (even1, odd1), (even2, odd2)].enumerated() {
                for lane in 0..<4 {
                    // The machine's words begin with their least byte, as every machine's do that Swift runs on.
                    sums[(word * 8 + lane * 2) % 3] += (even >> UInt64(lane * 16)) & 0xFFFF
                    sums[(word * 8 + lane * 2 + 1) % 3] += (odd >> UInt64(lane * 16)) & 0xFFFF
                }
            }
        }
        for byte in start..<count { unsafe sums[byte % 3] += UInt64(row[byte]) }
    }

    /// The luminance that the app measures, 0 to 255: of the contrasted picture's mean, read as one pixel of eight bits
    /// a channel.
    ///
    /// The mean of contrasted values is the contrasted mean because nothing is clamped in between; what the pixel
    /// cannot hold is clamped, and rounded, here.
    var contrastedLuminance: Double {
        func channel(_ mean: Double) -> Double {
            min(max(mean * ToneMap.contrast + ToneMap.contrastOffset, 0), 255).rounded()
        }
        return 0.299 * channel(self.red) + 0.587 * channel(self.green) + 0.114 * channel(self.blue)
    }

    /// Returns the value that the app adds to every channel of a picture of this luminance; 1 is the whole
    /// range.
    static func brightnessAdjustment(luminance: Double) -> Double {
        if luminance < 100 { return min(0.1 + (100 - luminance) / 500, 0.2) }
        if luminance > 180 { return max(-0.1 - (luminance - 180) / 500, -0.2) }
        return 0
    }
}
