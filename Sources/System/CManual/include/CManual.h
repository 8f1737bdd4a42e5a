#pragma once
// The pages of the manual, as bytes of the program: `swiftwing-sim help` must work wherever the program lies.
#include <stddef.h>

/// A page: its topic, and its Markdown, which ends in a NUL.
struct shim_manual_page {
    const char *topic;
    const char *text;
};

/// The page that lists the others.
const char *shim_manual_index(void);

/// How many pages there are.
size_t shim_manual_count(void);

/// A page by its index.
struct shim_manual_page shim_manual_page(size_t index);
