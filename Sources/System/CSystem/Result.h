#pragma once
#ifdef __linux__
#define _GNU_SOURCE
#endif
#include "CSystem.h"

// A call's value, or minus errno.
static inline int shim_result(int value) { return value < 0 ? -errno : value; }
