#!/usr/bin/env python3
"""Prints what a release is made of, as SPDX 2.3 in JSON: sbom.py PROGRAM VERSION PACKAGE.deb SOURCE.tar.gz

The C libraries are those that the program loads on this machine, as its dpkg knows them. The Swift runtime is a part of the program;
its version is that of the toolchain on PATH. The time is SOURCE_DATE_EPOCH.
"""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import urllib.parse
import uuid

NAME = "swiftwing-sim"
FIELDS = ["Package", "Version", "Architecture", "source:Package", "Homepage"]


def printed(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def names(path):
    """The names that dpkg may know a library by: folders were merged into /usr, and others link to files."""
    paths = [path, os.path.realpath(path)]
    return [name for path in paths for name in (path, path.removeprefix("/usr"), "/usr" + path)]


def libraries(program):
    """The packages of the libraries that the program loads: whether it is linked with one of them itself."""
    needed = set(re.findall(r"NEEDED\s+(\S+)", printed("objdump", "-p", program)))
    loaded = re.findall(r"(\S+) => (/\S+) ", printed("ldd", program))
    # It complains of the names that it does not know.
    search = subprocess.run(
        ["dpkg-query", "--search", *(name for _, path in loaded for name in names(path))], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)
    owners = {path: owner for owner, path in re.findall(r"^([^,\n]+?): (/\S+)$", search.stdout, re.MULTILINE)}
    packages = {}
    for name, path in loaded:
        owner = next((owners[name].split(":")[0] for name in names(path) if name in owners), None)
        if owner is not None:
            packages[owner] = packages.get(owner, False) or name in needed
        elif "swift" not in path:
            sys.exit(f"sbom.py: no Debian package has {path}")
    return packages


def system():
    with open("/etc/os-release") as file:
        return dict(line.rstrip().replace('"', "").split("=", 1) for line in file if "=" in line)


def part(name, version, license, supplier="NOASSERTION", location="NOASSERTION", **more):
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
        "supplier": supplier, "downloadLocation": location, "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
        "licenseDeclared": license, "copyrightText": "NOASSERTION", **more,
    }


def library(line, release):
    name, version, architecture, source, homepage = line.split("\t")
    query = urllib.parse.urlencode({"arch": architecture, "distro": release["VERSION_CODENAME"], "upstream": source})
    reference = {
        "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
        "referenceLocator": f"pkg:deb/{release['ID']}/{name}@{urllib.parse.quote(version, safe='')}?{query}"}
    return part(
        name, version, "NOASSERTION", f"Organization: {release['NAME']}", externalRefs=[reference],
        **({"homepage": homepage} if homepage else {}))


def artifact(name, version, path):
    checksum = {"algorithm": "SHA256", "checksumValue": sha256(path)}
    return part(name, version, "MIT", packageFileName=os.path.basename(path), checksums=[checksum])


def main():
    program, version, package, source = sys.argv[1:]
    release, linked = system(), libraries(program)
    form = "\\t".join(f"${{{field}}}" for field in FIELDS) + "\\n"
    fields = printed("dpkg-query", "--show", "--showformat", form, *sorted(linked))
    swift = re.search(r"Swift version (\S+)", printed("swift", "--version"))[1]
    parts = [
        artifact(NAME, version, package), artifact(f"{NAME}-source", version, source),
        part("swift", swift, "Apache-2.0 WITH Swift-exception", location="https://www.swift.org/install/"),
    ] + [library(line, release) for line in fields.splitlines()]
    identifiers = [entry["SPDXID"] for entry in parts]
    kinds = ["GENERATED_FROM", "STATIC_LINK"]
    kinds += ["DYNAMIC_LINK" if linked[entry["name"]] else "DEPENDS_ON" for entry in parts[3:]]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", identifiers[0])]
    relations += [(identifiers[0], kind, other) for kind, other in zip(kinds, identifiers[1:])]
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    # A name for exactly these files.
    unique = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(parts, sort_keys=True))
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{NAME}-{version}", "documentNamespace": f"urn:uuid:{unique}",
        "creationInfo": {
            "created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": [f"Tool: {NAME}-sbom", f"Organization: {NAME}"]},
        "packages": parts,
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in relations],
    }
    print(json.dumps(document, indent=2))


main()
