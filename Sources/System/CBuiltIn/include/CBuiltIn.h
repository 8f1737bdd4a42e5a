#pragma once
// The shipped scenarios, with the captured streams and the photos that they name, as bytes of the program: it must run them
// wherever it lies.
#include <stddef.h>

/// A file: its path below the folder of the scenarios, and its content.
struct shim_built_in_file {
    const char *path;
    const unsigned char *bytes;
    size_t count;
};

/// The commit that the program was built from, as the Makefile says it; empty if the build did not say it.
const char *shim_built_in_commit(void);

/// How many files there are.
size_t shim_built_in_count(void);

/// A file by its index.
struct shim_built_in_file shim_built_in_file(size_t index);
