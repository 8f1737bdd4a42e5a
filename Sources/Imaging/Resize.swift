extension Bitmap {
    /// The picture at another size, by an antialiased bilinear filter: a triangle whose support grows with
    /// the reduction, so that every source pixel counts (the arithmetic of Pillow's BILINEAR, byte for byte
    /// where no axis grows).
    ///
    /// Horizontal, then vertical; each pass rounds to 8 bits. Only the source rows that the next output row
    /// needs are held in their horizontally resized form.
    package func resized(to size: PixelSize) -> Bitmap {
        guard size != self.size else { return self }
        let across = ResizeWindows(from: self.width, to: size.width)
        let down = ResizeWindows(from: self.height, to: size.height)
        let rowBytes = size.width * Self.bytesPerPixel
        let ringRows = down.tapsMax
        var ring = [UInt8](repeating: 0, count: ringRows * rowBytes)
        var sums = [UInt32](repeating: 0, count: rowBytes)
        var rowsDone = 0

        let pixels = unsafe [UInt8](unsafeUninitializedCapacity: rowBytes * size.height) { target, filled in
            unsafe ring.withUnsafeMutableBufferPointer { ring in
                unsafe sums.withUnsafeMutableBufferPointer { sums in
                    unsafe self.pixels.withUnsafeBufferPointer { source in
                        for row in 0..<size.height {
                            let window = down.windows[row]
                            while rowsDone < window.start + window.count {
                                unsafe Self.reduceRow(
                                    UnsafeBufferPointer(rebasing: source[(rowsDone * self.width * 3)...]),
                                    across,
                                    into: UnsafeMutableBufferPointer(
                                        rebasing: ring[((rowsDone % ringRows) * rowBytes)...]))
                                rowsDone += 1
                            }
                            unsafe Self.blendRows(
                                ring, rowBytes: rowBytes, ringRows: ringRows, window, down.weights,
                                sums: sums,
                                into: UnsafeMutableBufferPointer(rebasing: target[(row * rowBytes)...]))
                        }
                    }
                }
            }
            filled = rowBytes * size.height
        }
        return Bitmap(width: size.width, height: size.height, pixels: pixels)
    }

    private static func reduceRow(
        _ source: UnsafeBufferPointer<UInt8>, _ across: ResizeWindows,
        into target: UnsafeMutableBufferPointer<UInt8>
    ) {
        var output = 0
        unsafe across.weights.withUnsafeBufferPointer { weights in
            for window in across.windows {
                var red = ResizeWindows.half
                var green = ResizeWindows.half
                var blue = ResizeWindows.half
                var input = window.start * 3
                var tap = window.firstWeight
                let end = tap + window.count
                while tap < end {
                    let weight = unsafe weights[tap]
                    unsafe red &+= weight &* UInt32(source[input])
                    unsafe green &+= weight &* UInt32(source[input &+ 1])
                    unsafe blue &+= weight &* UInt32(source[input &+ 2])
                    input &+= 3
                    tap &+= 1
                }
                unsafe target[output] = UInt8(truncatingIfNeeded: red >> ResizeWindows.shift)
                unsafe target[output &+ 1] = UInt8(truncatingIfNeeded: green >> ResizeWindows.shift)
                unsafe target[output &+ 2] = UInt8(truncatingIfNeeded: blue >> ResizeWindows.shift)
                output &+= 3
            }
        }
    }

    private static func blendRows(
        _ ring: UnsafeMutableBufferPointer<UInt8>, rowBytes: Int, ringRows: Int,
        _ window: ResizeWindows.Window,
        _ weights: [UInt32], sums: UnsafeMutableBufferPointer<UInt32>,
        into target: UnsafeMutableBufferPointer<UInt8>
    ) {
        for index in 0..<rowBytes { unsafe sums[index] = ResizeWindows.half }
        for tap in 0..<window.count {
            let weight = weights[window.firstWeight + tap]
            let start = ((window.start + tap) % ringRows) * rowBytes
            let row = unsafe UnsafeMutableBufferPointer(rebasing: ring[start..<(start + rowBytes)])
            for index in 0..<rowBytes { unsafe sums[index] &+= weight &* UInt32(row[index]) }
        }
        for index in 0..<rowBytes {
            unsafe target[index] = UInt8(truncatingIfNeeded: sums[index] >> ResizeWindows.shift)
        }
    }
}

/// Which source pixels make each output pixel of one axis, and by how much, in 22-bit fixed point.
struct ResizeWindows {
    struct Window {
        let start: Int
        let count: Int
        /// Where its weights begin in `weights`.
        let firstWeight: Int
    }

    /// 32 bits less 8 for a byte and 2 of headroom: sums of weights times bytes stay inside.
    static let shift: UInt32 = 22
    static let half: UInt32 = 1 << 21

    private(set) var windows: [Window] = []
    private(set) var weights: [UInt32] = []
    private(set) var tapsMax = 1

    init(from source: Int, to target: Int) {
        precondition(source > 0 && target > 0, "a picture has at least one pixel")
        let ratio = Double(source) / Double(target)
        let support = max(ratio, 1)
        let inverse = 1 / support
        self.windows.reserveCapacity(target)
        for output in 0..<target {
            let center = (Double(output) + 0.5) * ratio
            let start = max(0, Int(center - support + 0.5))
            let end = min(source, Int(center + support + 0.5))
            let shares = (start..<end).map { input in
                max(0, 1 - abs((Double(input) - center + 0.5) * inverse))
            }
            let norm = 1 / shares.reduce(0, +)
            self.windows.append(Window(start: start, count: shares.count, firstWeight: self.weights.count))
            self.weights += shares.map { UInt32($0 * norm * Double(1 << Self.shift) + 0.5) }
            self.tapsMax = max(self.tapsMax, shares.count)
        }
    }
}
