#pragma once
// First, so that the C library settles what it declares before libevent's configuration defines _GNU_SOURCE: with other
// declarations than those of every other module, `fd_set` would exist twice in one Swift file.
#include <stdint.h>

#include <event2/event.h>
