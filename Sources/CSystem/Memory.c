// How the heap lies in memory.
#include "Result.h"

#ifdef __GLIBC__
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// Address space for the heap, which costs nothing until it is used.
static const size_t room = (size_t)1 << 30;
static const size_t huge_page = (size_t)2 << 20;

int shim_prefer_huge_pages(void) {
    // The heap grows by all of it at once, is not given back, and holds large arrays as well: none is mapped by itself.
    mallopt(M_TOP_PAD, (int)room);
    mallopt(M_TRIM_THRESHOLD, (int)room);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    char *begin = sbrk(0);
    void *volatile block = malloc(4 << 20);  // Volatile, or it would be left out.
    free(block);
    char *end = sbrk(0);
    mallopt(M_TOP_PAD, 64 << 20);
    if (begin == (void *)-1 || end == (void *)-1 || end <= begin) { return 0; }
    uintptr_t from = ((uintptr_t)begin + huge_page - 1) / huge_page * huge_page;
    if (from >= (uintptr_t)end) { return 0; }
    return shim_result(madvise((void *)from, (uintptr_t)end - from, MADV_HUGEPAGE));
}
#else
int shim_prefer_huge_pages(void) { return 0; }
#endif
