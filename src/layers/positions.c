/* SPDX-License-Identifier: Apache-2.0 */
/* positions.c - see positions.h: lookups in the table of kinds. Tests:
 * tests/layers/test_position_kinds.c */
#define ATTNI_REAL_f32 /* the rows of both tables are the same */
#include "layers/position_kind.h"

#include <stdio.h>

int attni_positions_count(void) { return R(position_kinds); }

const char *attni_positions_name(int kind) { return R(position_kind)(kind)->name; }
const char *attni_positions_about(int kind) { return R(position_kind)(kind)->about; }

attn_status attni_positions_named(const char *name, attni_positions *positions, attn_error *err) {
    char names[160] = "";
    for (int kind = 0; kind < attni_positions_count(); kind++) {
        const size_t used = strlen(names);
        const attni_position_kind *row = R(position_kind)(kind);
        snprintf(names + used, sizeof names - used, "%s%s", kind ? ", " : "", row->name);
        if (strcmp(name, row->name) != 0) continue;
        *positions = row->defaults;
        positions->kind = kind;
        return ATTN_OK;
    }
    return attni_fail(err, ATTN_E_VALUE, "positions: %.32s, expected one of %s", name, names);
}

attn_status attni_positions_check(const attni_positions *positions,
                                  const attni_positions_shape *shape, attn_error *err) {
    if (positions->kind < 0 || positions->kind >= attni_positions_count())
        return attni_fail(err, ATTN_E_VALUE, "positions: kind %d, expected 0 .. %d",
                          positions->kind, attni_positions_count() - 1);
    const attni_position_kind *row = R(position_kind)(positions->kind);
    return row->check ? row->check(positions, shape, err) : ATTN_OK;
}

attni_positions_parameter attni_positions_learn(const attni_positions *positions,
                                                const attni_positions_shape *shape) {
    const attni_position_kind *row = R(position_kind)(positions->kind);
    return row->learns ? row->learns(positions, shape) : (attni_positions_parameter){.name = ""};
}

const char *attni_positions_setting_name(int setting) {
#define X(type, name) #name,
    static const char *const names[] = {ATTNI_POSITION_SETTINGS(X)};
#undef X
    return names[setting];
}

double attni_positions_get(const attni_positions *positions, int setting) {
    switch (setting) {
#define X(type, name)                                                                              \
    case ATTNI_POSITION_##name: return (double)positions->name;
        ATTNI_POSITION_SETTINGS(X)
#undef X
    default: return 0;
    }
}

bool attni_positions_set(attni_positions *positions, int setting, double value) {
    if (!(fabs(value) < 0x1p53)) return false;
    switch (setting) {
#define X(type, name)                                                                              \
    case ATTNI_POSITION_##name: positions->name = (type)value; break;
        ATTNI_POSITION_SETTINGS(X)
#undef X
    default: return false;
    }
    return attni_positions_get(positions, setting) == value;
}
