package import Talaria

// What a request has and the contract does not define, or lacks (Docs/contract.md section 1.1).

extension OriginRequest {
    /// The deviations of the head of a request for an operation at a path. No token is in them.
    package func deviations(for operation: Operation, at path: JourneyPath) -> ContractNotes {
        switch path.journey.version {
        case .v2: self.v2Deviations(operation, path)
        case .v3: self.v3Deviations(operation, path)
        }
    }

    private func v3Deviations(_ operation: Operation, _ path: JourneyPath) -> ContractNotes {
        var notes = ContractNotes()
        self.noteQuery(Contract.queryParameters(of: operation), into: &notes)
        self.note("X-Device-ID", "a version 4 UUID", self.deviceID, isDecisive: true, into: &notes) {
            DeviceKey(header: $0) != nil
        }
        switch operation {
        case .upload:
            self.noteContentType(
                path.journey.payload == .json ? Contract.jsonType : Contract.uploadType, into: &notes)
        case .stream: self.noteAccept(into: &notes)
        case .results, .cleanup, .status, .cancel, .refresh: break
        }
        if operation != .upload { self.noteAuthorization(isNeeded: true, into: &notes) }
        return notes
    }

    /// Docs/contract.md section 3.2. A device id is not asked for.
    private func v2Deviations(_ operation: Operation, _ path: JourneyPath) -> ContractNotes {
        var notes = ContractNotes()
        // The documents do not decide how a stream is authorized (C13): by a header, or by its query.
        let token = "token"
        self.noteQuery(operation == .stream ? [token] : [], into: &notes)
        switch operation {
        case .upload:
            self.noteContentType(
                path.journey.payload == .json ? Contract.jsonType : Contract.uploadType, into: &notes)
            return notes
        case .stream: self.noteAccept(into: &notes)
        case .cleanup, .cancel:
            if path.path != self.path {
                // Its id is in the path.
                notes.add(
                    "path", expected: "the DELETE of /v1/jobs", seen: "a path of older clients")
            }
        case .refresh:
            self.noteContentType(Contract.jsonType, into: &notes)
            return notes
        case .results, .status: break
        }
        guard !self.hasOlderToken else {
            notes.add(
                "header " + HeaderName.otherToken, expected: HeaderName.authorization,
                seen: "a header of older clients")
            return notes
        }
        let isRead = operation != .cleanup && operation != .cancel
        let fields = self.query?.split(separator: "&") ?? []
        let isInQuery = operation == .stream && fields.contains { $0.hasPrefix(token + "=") }
        self.noteAuthorization(isNeeded: !(isRead && path.journey.isPublic) && !isInQuery, into: &notes)
        return notes
    }

    private func noteContentType(_ type: String, into notes: inout ContractNotes) {
        self.note("Content-Type", type, self.contentType, isDecisive: true, into: &notes) {
            $0 == type || Self.mediaType($0) == type
        }
    }

    private func noteAccept(into notes: inout ContractNotes) {
        self.note("Accept", Contract.eventStreamType, self.accept, isDecisive: false, into: &notes) {
            accept in
            accept == Contract.eventStreamType
                || accept.split(separator: ",").contains {
                    Self.mediaType(String($0)) == Contract.eventStreamType
                }
        }
    }

    private func noteAuthorization(isNeeded: Bool, into notes: inout ContractNotes) {
        guard self.authorization?.hasPrefix("Bearer ") != true else { return }  // As it should be.
        let scheme = self.authorization?.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1).first
            .map { Substring($0).lowercased() }
        guard scheme != "bearer", isNeeded || scheme != nil else { return }
        notes.add(
            "header Authorization", expected: "a bearer token",
            seen: scheme == nil ? "missing" : "another scheme", isDecisive: true)
    }

    /// `known`: the names of the parameters of the operation. Only those of the results have values to compare.
    private func noteQuery(_ known: [String], into notes: inout ContractNotes) {
        guard let query = self.query, !query.isEmpty else { return }
        for field in query.split(separator: "&") {
            let name = String(field.prefix { $0 != "=" })
            let path = "query " + name
            guard known.contains(name) else {
                // Its value may be a token.
                notes.add(path, expected: "a parameter of the contract", seen: "an unknown parameter")
                continue
            }
            guard name == "format" else { continue }
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

    fileprivate static func mediaType(_ value: String) -> String {
        let type = Array(value.utf8).prefix { $0 != UInt8(ascii: ";") }.filter { $0 != UInt8(ascii: " ") }
        return String(decoding: type, as: UTF8.self).lowercased()
    }
}

extension ContractNotes {
    /// The deviations of the parts of an upload: other parts than photos are ignored, and a photo is known by its bytes.
    package init(parts: [UploadPart], of journey: Journey) {
        self.init()
        let name = Contract.partName(of: journey)
        let types = Contract.partTypes(of: journey)
        for part in parts {
            guard part.name == name else {
                self.add("part", expected: name, seen: "another name", excerpt: part.name)
                continue
            }
            guard let type = part.contentType, types.contains(OriginRequest.mediaType(type)) else {
                self.add(
                    "part Content-Type", expected: types.joined(separator: " or "),
                    seen: part.contentType == nil ? "missing" : "another type", excerpt: part.contentType)
                continue
            }
        }
    }
}
