/* SPDX-License-Identifier: Apache-2.0 */
/* data.c - tables, and how they are written to files. See data.h. */
#include "support/data.h"

#include "core/base.h"

#include <math.h>
#include <stdlib.h>

lab_table *lab_table_add(lab_data *data, const char *name, size_t rows, size_t columns,
                         const char *const *heading) {
    attni_assert(data->n < LAB_MAX_TABLES && rows > 0 && columns > 0);
    size_t cells, bytes;
    if (!attni_mul(rows, columns, &cells) || !attni_mul(cells, sizeof(double), &bytes)) return NULL;
    lab_table *table = &data->table[data->n];
    *table = (lab_table){.name = name, .rows = rows, .columns = columns, .heading = heading};
    table->cell = malloc(bytes);
    if (table->cell == NULL) return NULL;
    for (size_t i = 0; i < cells; i++) table->cell[i] = NAN;
    data->n++;
    return table;
}

void lab_data_free(lab_data *data) {
    for (size_t i = 0; i < data->n; i++) free(data->table[i].cell);
    *data = (lab_data){.n = 0};
}

const lab_table *lab_table_named(const lab_data *data, const char *name) {
    for (size_t i = 0; i < data->n; i++) {
        if (strcmp(data->table[i].name, name) == 0) return &data->table[i];
    }
    return NULL;
}

const double *lab_column_named(const lab_table *table, const char *heading) {
    for (size_t c = 0; table->heading && c < table->columns; c++) {
        if (strcmp(table->heading[c], heading) == 0) return lab_cell(table, 0, c);
    }
    return NULL;
}

/* ---- CSV ---- */

static void put_number(FILE *file, double value) {
    char text[32];
    if (isnan(value)) return;
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, file);
}

/* Quoted where it contains a comma or a quote. */
static void put_word(FILE *file, const char *word) {
    if (strpbrk(word, ",\"\n") == NULL) {
        fputs(word, file);
        return;
    }
    fputc('"', file);
    for (; *word; word++) {
        if (*word == '"') fputc('"', file);
        fputc(*word, file);
    }
    fputc('"', file);
}

static void put_heading(FILE *file, const lab_table *table, size_t column) {
    if (table->heading) {
        put_word(file, table->heading[column]);
    } else {
        fprintf(file, "%zu", column);
    }
}

int lab_table_csv(const lab_table *table, FILE *file) {
    if (table->label) fputs("name,", file);
    for (size_t c = 0; c < table->columns; c++) {
        if (c > 0) fputc(',', file);
        put_heading(file, table, c);
    }
    fputc('\n', file);
    for (size_t r = 0; r < table->rows; r++) {
        if (table->label) {
            put_word(file, table->label[r]);
            fputc(',', file);
        }
        for (size_t c = 0; c < table->columns; c++) {
            if (c > 0) fputc(',', file);
            put_number(file, *lab_cell(table, r, c));
        }
        fputc('\n', file);
    }
    return ferror(file) ? -1 : 0;
}

/* ---- JSON ---- */

static json_t *words_json(const char *const *word, size_t n) {
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(list, json_string(word[i]));
    return list;
}

static json_t *rows_json(const lab_table *table) {
    json_t *rows = json_array();
    for (size_t r = 0; r < table->rows; r++) {
        json_t *row = json_array();
        for (size_t c = 0; c < table->columns; c++) {
            const double value = *lab_cell(table, r, c);
            json_array_append_new(row, isfinite(value) ? json_real(value) : json_null());
        }
        json_array_append_new(rows, row);
    }
    return rows;
}

json_t *lab_data_json(const lab_data *data) {
    json_t *root = json_object();
    for (size_t i = 0; i < data->n; i++) {
        const lab_table *table = &data->table[i];
        json_t *object = json_object();
        if (table->heading) {
            json_object_set_new(object, "columns", words_json(table->heading, table->columns));
        }
        if (table->label) {
            json_object_set_new(object, "labels", words_json(table->label, table->rows));
        }
        json_object_set_new(object, "rows", rows_json(table));
        json_object_set_new(root, table->name, object);
    }
    return root;
}
