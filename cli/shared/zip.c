/* SPDX-License-Identifier: Apache-2.0 */
/* zip.c - see zip.h. Numbers are little-endian; names of the parts as in PKWARE's APPNOTE.TXT:
 * member ... member, directory, [zip64 end, zip64 locator,] end. */
#include "shared/zip.h"

#include "core/base.h"
#include "lab/support/system.h"

#include <ctype.h>
#include <stdlib.h>

enum {
    END = 22,            /* bytes of the end record without its comment */
    LOCATOR = 20,        /* of the zip64 locator */
    END64 = 56,          /* of the zip64 end record */
    ENTRY = 46,          /* of an entry of the directory, without name and extra fields */
    HEADER = 30,         /* of the header of a member, likewise */
    MAX_COMMENT = 65535, /* after the end record */
    MAX_DIRECTORY = 1 << 24,
    MOST_EXPANSION = 1032 /* deflate makes at most this many bytes from one */
};

static const uint32_t end_mark = 0x06054b50, locator_mark = 0x07064b50, end64_mark = 0x06064b50,
                      entry_mark = 0x02014b50, header_mark = 0x04034b50;
static const uint32_t see_zip64 = 0xFFFFFFFF; /* the true number stands elsewhere */

static uint64_t number_at(const unsigned char *at, int bytes) {
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--) value = value << 8 | at[i];
    return value;
}

static uint32_t u16(const unsigned char *at) { return (uint32_t)number_at(at, 2); }
static uint32_t u32(const unsigned char *at) { return (uint32_t)number_at(at, 4); }
static uint64_t u64(const unsigned char *at) { return number_at(at, 8); }

static bool read_at(FILE *stream, uint64_t at, void *to, size_t n) {
    return system_seek(stream, at) && fread(to, 1, n, stream) == n;
}

/* ----------------------------------------------------------------------------------- end records */

typedef struct directory {
    uint64_t at, bytes, entries;
} directory;

/* Where the end record begins: the last place where it and its comment fill the file. */
static bool find_end(FILE *stream, uint64_t size, uint64_t *at, const npy_message *say) {
    const size_t n = size < END + MAX_COMMENT ? (size_t)size : END + MAX_COMMENT;
    unsigned char *tail = malloc(n ? n : 1);
    bool found = false;
    if (!tail) return npy_fail(say, "out of memory");
    if (read_at(stream, size - n, tail, n)) {
        for (size_t i = n >= END ? n - END + 1 : 0; i > 0 && !found; i--) {
            const unsigned char *end = tail + i - 1;
            found = u32(end) == end_mark && i - 1 + END + u16(end + 20) == n;
            if (found) *at = size - n + (i - 1);
        }
    }
    free(tail);
    return found || npy_fail(say, "truncated: a zip archive without its directory");
}

/* The numbers of a large archive stand in a record of their own. */
static bool read_end64(FILE *stream, uint64_t end, directory *d, const npy_message *say) {
    unsigned char locator[LOCATOR], record[END64];
    if (end < LOCATOR + END64 || !read_at(stream, end - LOCATOR, locator, LOCATOR) ||
        u32(locator) != locator_mark)
        return npy_fail(say, "damaged: the zip64 locator is missing");
    const uint64_t at = u64(locator + 8);
    if (at > end - LOCATOR - END64 || !read_at(stream, at, record, END64) ||
        u32(record) != end64_mark)
        return npy_fail(say, "damaged: the zip64 end record is missing");
    *d = (directory){u64(record + 48), u64(record + 40), u64(record + 32)};
    return true;
}

static bool find_directory(FILE *stream, directory *d, const npy_message *say) {
    unsigned char record[END];
    uint64_t size, end = 0;
    if (!system_size(stream, &size))
        return npy_fail(say, "a zip archive can be read from a file, not from a pipe");
    if (!find_end(stream, size, &end, say)) return false;
    if (!read_at(stream, end, record, END)) return npy_fail(say, "cannot be read");
    const uint32_t entries = u16(record + 10);
    *d = (directory){u32(record + 16), u32(record + 12), entries};
    if (u16(record + 4) == 0xFFFF || entries == 0xFFFF || d->at == see_zip64 ||
        d->bytes == see_zip64) {
        if (!read_end64(stream, end, d, say)) return false;
    } else if (u16(record + 4) != 0 || u16(record + 8) != entries) {
        return npy_fail(say, "one part of a zip archive of several parts");
    }
    if (d->at > end || d->bytes > end - d->at)
        return npy_fail(say, "damaged: the directory of the archive lies outside of it");
    if (d->bytes > MAX_DIRECTORY)
        return npy_fail(say, "directory of %llu bytes, expected at most %d",
                        (unsigned long long)d->bytes, MAX_DIRECTORY);
    return true;
}

/* --------------------------------------------------------------------------------------- entries */

/* Takes an 8-byte number from the zip64 field, if the 4-byte number says that it stands there. */
static bool take_large(uint64_t *number, const unsigned char **field, size_t *left) {
    if (*number != see_zip64) return true;
    if (*left < 8) return false;
    *number = u64(*field);
    *field += 8;
    *left -= 8;
    return true;
}

/* Looks through the extra fields for the zip64 one. */
static bool read_extra(zip_member *m, const unsigned char *extra, size_t n) {
    const unsigned char *field = NULL;
    size_t left = 0;
    while (n >= 4) {
        const size_t size = u16(extra + 2);
        if (size > n - 4) break;
        if (u16(extra) == 1) {
            field = extra + 4;
            left = size;
            break;
        }
        extra += 4 + size;
        n -= 4 + size;
    }
    return take_large(&m->size, &field, &left) && take_large(&m->packed, &field, &left) &&
           take_large(&m->header, &field, &left);
}

/* One entry of the directory of n bytes; its name goes to `name`. The bytes that it takes, or 0. */
static size_t read_entry(const unsigned char *at, size_t n, zip_member *m, char *name) {
    if (n < ENTRY || u32(at) != entry_mark) return 0;
    const size_t name_bytes = u16(at + 28), extra = u16(at + 30), comment = u16(at + 32);
    const size_t whole = ENTRY + name_bytes + extra + comment;
    if (whole > n) return 0;
    *m = (zip_member){.name = name,
                      .flags = (int)u16(at + 8),
                      .method = (int)u16(at + 10),
                      .crc = u32(at + 16),
                      .packed = u32(at + 20),
                      .size = u32(at + 24),
                      .header = u32(at + 42)};
    for (size_t i = 0; i < name_bytes; i++) {
        const unsigned char c = at[ENTRY + i];
        name[i] = (char)(iscntrl(c) ? '?' : c);
    }
    name[name_bytes] = 0;
    return read_extra(m, at + ENTRY + name_bytes, extra) ? whole : 0;
}

static bool read_entries(const unsigned char *bytes, const directory *d, zip_archive *archive) {
    size_t at = 0;
    char *name = archive->names;
    while (archive->n < d->entries) {
        zip_member *m = &archive->member[archive->n];
        const size_t n = read_entry(bytes + at, (size_t)d->bytes - at, m, name);
        if (n == 0) return false;
        name += strlen(name) + 1;
        at += n;
        archive->n++;
    }
    return at == d->bytes;
}

bool zip_open(FILE *stream, zip_archive *archive, const npy_message *say) {
    directory d = {0};
    *archive = (zip_archive){0};
    if (!find_directory(stream, &d, say)) return false;
    if (d.entries > d.bytes / ENTRY) return npy_fail(say, "damaged: the directory is too short");
    unsigned char *bytes = malloc((size_t)d.bytes + 1);
    archive->member = calloc((size_t)d.entries + 1, sizeof *archive->member);
    archive->names = malloc((size_t)d.bytes + 1); /* a name is shorter than its entry */
    archive->directory = d.at;
    bool ok = bytes && archive->member && archive->names;
    if (!ok)
        npy_fail(say, "out of memory for the directory of the archive");
    else if (!read_at(stream, d.at, bytes, (size_t)d.bytes) || !read_entries(bytes, &d, archive))
        ok = npy_fail(say, "damaged: the directory of the archive cannot be understood");
    free(bytes);
    if (!ok) zip_close(archive);
    return ok;
}

void zip_close(zip_archive *archive) {
    free(archive->member);
    free(archive->names);
    *archive = (zip_archive){0};
}

/* --------------------------------------------------------------------------------------- members */

/* What makes a member unreadable, before its bytes are looked at. */
static bool check_member(const zip_member *m, const npy_message *say) {
    if (m->flags & 1) return npy_fail(say, "%s is encrypted", m->name);
    if (m->method != 0 && m->method != 8)
        return npy_fail(say,
                        "%s is compressed by method %d, expected 0 (stored) or 8 (deflated), as "
                        "numpy.savez() and numpy.savez_compressed() write",
                        m->name, m->method);
    const bool possible =
        m->method == 0 ? m->packed == m->size : m->size / MOST_EXPANSION <= m->packed;
    return possible ||
           npy_fail(say, "damaged: %s cannot have %llu bytes, packed into %llu", m->name,
                    (unsigned long long)m->size, (unsigned long long)m->packed);
}

unpack *zip_unpack(FILE *stream, const zip_archive *archive, const zip_member *member,
                   const npy_message *say) {
    unsigned char header[HEADER];
    const uint64_t end = archive->directory;
    if (!check_member(member, say)) return NULL;
    if (end < HEADER || member->header > end - HEADER ||
        !read_at(stream, member->header, header, HEADER) || u32(header) != header_mark) {
        npy_fail(say, "damaged: %s is not where the directory says", member->name);
        return NULL;
    }
    const uint64_t at = member->header + HEADER + u16(header + 26) + u16(header + 28);
    if (at > end || member->packed > end - at || !system_seek(stream, at)) {
        npy_fail(say, "damaged: %s reaches beyond the end of the archive", member->name);
        return NULL;
    }
    unpack *u =
        unpack_create(stream, member->method == 0 ? UNPACK_STORED : UNPACK_DEFLATE, member->packed);
    if (!u) npy_fail(say, "out of memory");
    return u;
}
