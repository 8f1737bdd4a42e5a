extension Bitmap {
    /// The picture at another size, as `PhotoPixels.resized(to:)` makes it.
    package func resized(to size: PixelSize) -> Bitmap {
        guard size != self.size else { return self }
        let pixels = PhotoPixels(size: self.size)
        unsafe self.pixels.withUnsafeBufferPointer { source in
            guard let source = source.baseAddress else { return }
            unsafe pixels.rows.base.update(from: source, count: self.pixels.count)
        }
        return pixels.resized(to: size).bitmap
    }
}

extension PhotoPixels {
    /// The picture at another size, by an antialiased bilinear filter: a triangle whose support grows with
    /// the reduction, so that every source pixel counts (the arithmetic of Pillow's BILINEAR, byte for byte
    /// where no axis grows).
    ///
    /// Horizontal, then vertical; each pass rounds to 8 bits. Only the source rows that the next output row
    /// needs are held in their horizontally resized form.
    consuming func resized(to size: PixelSize) -> PhotoPixels {
        if size == self.size { return self }
        let across = ResizeWindows(from: self.size.width, to: size.width)
        let down = ResizeWindows(from: self.size.height, to: size.height)
        let target = PhotoPixels(size: size)
        let ring = ByteRows(width: target.rows.width, height: down.taps)
        let blender = RowBlender(width: target.rows.width)
        var rowsDone = 0
        for row in 0..<size.height {
            let start = down.starts[row]
            while rowsDone < start + down.taps {
                unsafe across.reduce(self.rows.row(rowsDone), into: ring.row(rowsDone % down.taps))
                rowsDone += 1
            }
            unsafe blender.blend(ring, down, row, into: target.rows.row(row))
        }
        return target
    }
}

/// Which source pixels make each output pixel of one axis, and by how much, in 22-bit fixed point. Every output has the
/// same number of taps; where fewer count, weights are 0.
struct ResizeWindows {
    /// 32 bits less 8 for a byte and 2 of headroom: sums of weights times bytes stay inside.
    static let shift: UInt32 = 22
    static let half: UInt32 = 1 << 21

    /// The first source pixel of each output pixel.
    let starts: [Int]
    let taps: Int
    /// `taps` for each output pixel.
    let weights: [UInt32]

    init(from source: Int, to target: Int) {
        precondition(source > 0 && target > 0, "a picture has at least one pixel")
        let ratio = Double(source) / Double(target)
        let support = max(ratio, 1)
        let inverse = 1 / support
        let windows = (0..<target).map { output in
            let center = (Double(output) + 0.5) * ratio
            return max(0, Int(center - support + 0.5))..<min(source, Int(center + support + 0.5))
        }
        let taps = windows.map(\.count).max() ?? 1
        var starts: [Int] = []
        var weights: [UInt32] = []
        starts.reserveCapacity(target)
        weights.reserveCapacity(target * taps)
        for (output, window) in windows.enumerated() {
            let center = (Double(output) + 0.5) * ratio
            let shares = window.map { max(0, 1 - abs((Double($0) - center + 0.5) * inverse)) }
            let norm = 1 / shares.reduce(0, +)
            // The last windows begin earlier than they count, so that none reaches beyond the end.
            let start = min(window.lowerBound, source - taps)
            let before = window.lowerBound - start
            starts.append(start)
            weights += (0..<taps).map { tap in
                let share = shares.indices.contains(tap - before) ? shares[tap - before] : 0
                return UInt32(share * norm * Double(1 << Self.shift) + 0.5)
            }
        }
        self.starts = starts
        self.taps = taps
        self.weights = weights
    }

    // MARK: Across

    /// Resizes one row.
    func reduce(_ source: UnsafePointer<UInt8>, into target: UnsafeMutablePointer<UInt8>) {
        // With a number known to the compiler, the loop over the taps is unrolled.
        switch self.taps {
        case 1: unsafe self.reduce(source, into: target, taps: 1)
        case 2: unsafe self.reduce(source, into: target, taps: 2)
        case 3: unsafe self.reduce(source, into: target, taps: 3)
        case 4: unsafe self.reduce(source, into: target, taps: 4)
        case 5: unsafe self.reduce(source, into: target, taps: 5)
        default: unsafe self.reduce(source, into: target, taps: self.taps)
        }
    }

    @inline(__always) private func reduce(
        _ source: UnsafePointer<UInt8>, into target: UnsafeMutablePointer<UInt8>, taps: Int
    ) {
        unsafe self.starts.withUnsafeBufferPointer { starts in
            unsafe self.weights.withUnsafeBufferPointer { weights in
                guard let starts = starts.baseAddress, var weight = weights.baseAddress else { return }
                var output = unsafe target
                for position in 0..<self.starts.count {
                    let input = unsafe source + starts[position] &* 3
                    var (red, green, blue) = (Self.half, Self.half, Self.half)
                    for tap in 0..<taps {
                        let share = unsafe weight[tap]
                        unsafe red &+= share &* UInt32(input[tap &* 3])
                        unsafe green &+= share &* UInt32(input[tap &* 3 &+ 1])
                        unsafe blue &+= share &* UInt32(input[tap &* 3 &+ 2])
                    }
                    unsafe output[0] = UInt8(truncatingIfNeeded: red >> Self.shift)
                    unsafe output[1] = UInt8(truncatingIfNeeded: green >> Self.shift)
                    unsafe output[2] = UInt8(truncatingIfNeeded: blue >> Self.shift)
                    unsafe output += 3
                    unsafe weight += taps
                }
            }
        }
    }
}

/// Makes one row of several, weighted.
///
/// Two channels go through one multiplication: four bytes apart in a word of 64 bits, their products, of 30 bits each,
/// stay apart. Exact, and faster than vectors of 32 bits are where the processor is not known to multiply them.
private struct RowBlender {
    private static let pair: UInt64 = 0x0000_00FF_0000_00FF
    private static let halves = UInt64(ResizeWindows.half) << 32 | UInt64(ResizeWindows.half)

    let width: Int

    func blend(
        _ ring: borrowing ByteRows, _ windows: borrowing ResizeWindows, _ row: Int,
        into target: UnsafeMutablePointer<UInt8>
    ) {
        switch windows.taps {
        case 2: unsafe self.blend(ring, windows, row, into: target, taps: 2)
        case 3: unsafe self.blend(ring, windows, row, into: target, taps: 3)
        case 4: unsafe self.blend(ring, windows, row, into: target, taps: 4)
        default: unsafe self.blend(ring, windows, row, into: target, taps: windows.taps)
        }
    }

    @inline(__always) private func blend(
        _ ring: borrowing ByteRows, _ windows: borrowing ResizeWindows, _ row: Int,
        into target: UnsafeMutablePointer<UInt8>, taps: Int
    ) {
        let start = windows.starts[row]
        let output = UnsafeMutableRawPointer(target)
        let words = self.width / 8
        unsafe withUnsafeTemporaryAllocation(of: UnsafeRawPointer.self, capacity: taps) { sources in
            unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: taps) { weights in
                guard let sources = sources.baseAddress, let weights = weights.baseAddress else { return }
                for tap in 0..<taps {
                    unsafe (sources + tap).initialize(to: UnsafeRawPointer(ring.row((start + tap) % taps)))
                    unsafe (weights + tap).initialize(to: UInt64(windows.weights[row * taps + tap]))
                }
                for word in 0..<words {
                    var (sum0, sum1, sum2, sum3) = (Self.halves, Self.halves, Self.halves, Self.halves)
                    for tap in 0..<taps {
                        let weight = unsafe weights[tap]
                        let bytes = unsafe sources[tap].loadUnaligned(
                            fromByteOffset: word &* 8, as: UInt64.self)
                        sum0 &+= (bytes & Self.pair) &* weight
                        sum1 &+= (bytes >> 8 & Self.pair) &* weight
                        sum2 &+= (bytes >> 16 & Self.pair) &* weight
                        sum3 &+= (bytes >> 24 & Self.pair) &* weight
                    }
                    let blended =
                        (sum0 >> 22 & Self.pair) | (sum1 >> 22 & Self.pair) << 8
                        | (sum2 >> 22 & Self.pair) << 16 | (sum3 >> 22 & Self.pair) << 24
                    unsafe output.storeBytes(of: blended, toByteOffset: word &* 8, as: UInt64.self)
                }
                for byte in (words * 8)..<self.width {
                    var sum = UInt64(ResizeWindows.half)
                    for tap in 0..<taps {
                        unsafe sum &+=
                            weights[tap] &* UInt64(sources[tap].load(fromByteOffset: byte, as: UInt8.self))
                    }
                    unsafe target[byte] = UInt8(truncatingIfNeeded: sum >> 22)
                }
            }
        }
    }
}
