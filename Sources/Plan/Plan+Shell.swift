// Plan: see Package.swift for what it may import.
