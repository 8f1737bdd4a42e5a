package import Talaria

// What a request has and the contract does not define, or lacks (Docs/contract.md section 1.1).

extension OriginRequest {
    /// The deviations of the head of a request. No token is in them.
    package func deviations(for operation: Operation) -> ContractNotes {
        var notes = ContractNotes()
        self.noteQuery(operation, into: &notes)
        self.note("X-Device-ID", "a version 4 UUID", self.deviceID, isDecisive: true, into: &notes) {
            DeviceKey(header: $0) != nil
        }
        switch operation {
        case .upload:
            self.note(
                "Content-Type", Contract.uploadType, self.contentType, isDecisive: true, into: &notes
            ) { Self.mediaType($0) == Contract.uploadType }
        case .stream:
            self.note(
                "Accept", Contract.eventStreamType, self.accept, isDecisive: false, into: &notes
            ) { accept in
                accept.split(separator: ",").contains {
                    Self.mediaType(String($0)) == Contract.eventStreamType
                }
            }
        case .results, .cleanup, .status, .cancel: break
        }
        if operation != .upload {
            let scheme = self.authorization?.split(separator: " ").first?.lowercased()
            if scheme != "bearer" {
                notes.add(
                    "header Authorization", expected: "a bearer token",
                    seen: scheme == nil ? "missing" : "another scheme", isDecisive: true)
            }
        }
        return notes
    }

    private func noteQuery(_ operation: Operation, into notes: inout ContractNotes) {
        guard let query = self.query, !query.isEmpty else { return }
        let known = Contract.queryParameters(of: operation)
        for field in query.split(separator: "&") {
            let name = String(field.prefix { $0 != "=" })
            let path = "query " + name
            guard known.contains(name) else {
                // Its value may be a token.
                notes.add(path, expected: "a parameter of the contract", seen: "an unknown parameter")
                continue
            }
            let value = String(field.dropFirst(name.count + 1))
            guard !Contract.resultsFormats.contains(value) else { continue }
            notes.add(
                path, expected: Contract.resultsFormats.joined(separator: " or "), seen: "another value",
                excerpt: value, isDecisive: true)
        }
    }

    private func note(
        _ name: String, _ expected: String, _ value: String?, isDecisive: Bool,
        into notes: inout ContractNotes, isRight: (String) -> Bool
    ) {
        guard let value, !value.isEmpty else {
            notes.add("header " + name, expected: expected, seen: "missing", isDecisive: isDecisive)
            return
        }
        guard !isRight(value) else { return }
        notes.add(
            "header " + name, expected: expected, seen: "another value", excerpt: value,
            isDecisive: isDecisive)
    }

    private static func mediaType(_ value: String) -> String {
        value.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
    }
}

extension ContractNotes {
    /// The deviations of the parts of an upload: other parts than photos are ignored, and a photo is known by its bytes.
    package init(parts: [UploadPart]) {
        self.init()
        for part in parts {
            guard part.name == Contract.photoField else {
                self.add("part", expected: Contract.photoField, seen: "another name", excerpt: part.name)
                continue
            }
            guard let type = part.contentType, Contract.photoTypes.contains(type.lowercased()) else {
                self.add(
                    "part Content-Type", expected: Contract.photoTypes.joined(separator: " or "),
                    seen: part.contentType == nil ? "missing" : "another type", excerpt: part.contentType)
                continue
            }
        }
    }
}
