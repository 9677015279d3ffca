/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c - see guard.h. Touches: its own mappings, and the handlers of SIGSEGV and SIGBUS, or of
 * access violations on Windows. */
#include "guard.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#include <io.h>
#include <windows.h>
#elif !defined(__wasm__)
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

static void place(guard *g, guard_side side) {
    g->data = side == GUARD_BEFORE ? g->open : g->open + g->open_size - g->size;
    memset(g->open, GUARD_FILL, g->open_size);
}

#ifdef __wasm__

enum { MARGIN = 256, ALIGN = 64 };

bool guard_alloc(guard *g, size_t size, guard_side side) {
    const size_t rounded = (size + ALIGN - 1) / ALIGN * ALIGN;
    *g = (guard){.size = size, .open_size = rounded, .map_size = rounded + 2 * MARGIN + ALIGN};
    g->map = malloc(g->map_size);
    if (!g->map) return false;
    memset(g->map, GUARD_FILL, g->map_size);
    g->open = (unsigned char *)(((uintptr_t)g->map + MARGIN + ALIGN - 1) / ALIGN * ALIGN);
    place(g, side);
    return true;
}

void guard_free(guard *g) {
    free(g->map);
    *g = (guard){0};
}

static const unsigned char *watched_begin(const guard *g) { return g->map; }
static const unsigned char *watched_end(const guard *g) {
    return (const unsigned char *)g->map + g->map_size;
}

void guard_explain(const char *text) { (void)text; }

#else

#if defined(_WIN32)

static size_t page_size(void) {
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

static void *map_closed(size_t size) {
    return VirtualAlloc(NULL, size, MEM_RESERVE, PAGE_NOACCESS);
}
static bool open_pages(void *pages, size_t size) {
    return VirtualAlloc(pages, size, MEM_COMMIT, PAGE_READWRITE) != NULL;
}
static void unmap(void *map, size_t size) {
    (void)size;
    VirtualFree(map, 0, MEM_RELEASE);
}

#else

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static void *map_closed(size_t size) {
    void *map = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}
static bool open_pages(void *pages, size_t size) {
    return mprotect(pages, size, PROT_READ | PROT_WRITE) == 0;
}
static void unmap(void *map, size_t size) { munmap(map, size); }

#endif

bool guard_alloc(guard *g, size_t size, guard_side side) {
    const size_t page = page_size();
    const size_t pages = (size + page - 1) / page;
    *g = (guard){.size = size, .open_size = pages * page, .map_size = (pages + 2) * page};
    g->map = map_closed(g->map_size);
    if (!g->map) {
        *g = (guard){0};
        return false;
    }
    g->open = (unsigned char *)g->map + page;
    if (pages > 0 && !open_pages(g->open, g->open_size)) {
        guard_free(g);
        return false;
    }
    place(g, side);
    return true;
}

void guard_free(guard *g) {
    if (g->map) unmap(g->map, g->map_size);
    *g = (guard){0};
}

static const unsigned char *watched_begin(const guard *g) { return g->open; }
static const unsigned char *watched_end(const guard *g) { return g->open + g->open_size; }

static const char *explanation;

static void say(const char *text) {
    if (write(1, text, (unsigned)strlen(text)) < 0) return; /* nothing better to do here */
}

static void say_explanation(void) {
    say("\n    memory outside a buffer was touched in:\n    ");
    if (explanation) say(explanation);
    say("\n");
}

#if defined(_WIN32)

static LONG WINAPI on_fault(EXCEPTION_POINTERS *fault) {
    if (fault->ExceptionRecord->ExceptionCode == EXCEPTION_ACCESS_VIOLATION) say_explanation();
    return EXCEPTION_CONTINUE_SEARCH;
}

static void watch_faults(void) { AddVectoredExceptionHandler(1, on_fault); }

#else

static struct sigaction before[2];
static const int fatal[2] = {SIGSEGV, SIGBUS};

/* The instruction is tried again under the handler that was there before: the program ends as it
 * would have ended, with a core dump or a sanitizer's report. */
static void on_fault(int number) {
    say_explanation();
    for (int s = 0; s < 2; s++) {
        if (fatal[s] == number) sigaction(number, &before[s], NULL);
    }
}

static void watch_faults(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_fault;
    for (int s = 0; s < 2; s++) sigaction(fatal[s], &action, &before[s]);
}

#endif

void guard_explain(const char *text) {
    static bool installed;
    explanation = text;
    if (!installed) watch_faults();
    installed = true;
}

#endif

bool guard_intact(const guard *g) {
    if (!g->map) return true;
    for (const unsigned char *at = watched_begin(g); at < watched_end(g); at++) {
        if (at == g->data) at += g->size;
        if (at < watched_end(g) && *at != GUARD_FILL) return false;
    }
    return true;
}
