/* SPDX-License-Identifier: Apache-2.0 */
/* apart.c - a call must not write what it reads: checks results and the caller's memory against
 * every input, including arrays of numbers. Tests: tests/attention/test_apart.c */
#include "attention/args.h"

/* ------------------------------------------------------------------------------- inputs */

static attn_status check_pair(const char *name, const attn_tensor *t, const char *input_name,
                              const attn_tensor *input, attn_error *err) {
    if (!attni_tensors_overlap(t, input)) return ATTN_OK;
    return attni_fail(err, ATTN_E_OVERLAP, "%s: overlaps %s; give it memory of its own", name,
                      input_name);
}

/* The arrays of attn_args, each of 8-byte numbers. */
static attn_status check_arrays(const attn_args *a, const char *name, const attn_tensor *t,
                                attn_error *err) {
    const int64_t B = attni_sequence_count(a), H = a->q.shape[1], starts = a->n_seqs + 1;
    const struct {
        const char *name;
        const void *data;
        int64_t n;
    } arrays[7] = {{"offsets", a->offsets, B}, {"len_q", a->len_q, B},    {"len_k", a->len_k, B},
                   {"cu_q", a->cu_q, starts},  {"cu_k", a->cu_k, starts}, {"alibi", a->alibi, H},
                   {"sinks", a->sinks, H}};
    for (int x = 0; x < 7; x++) {
        if (!arrays[x].data) continue;
        const attn_tensor view = attn_tensor_bhsd(arrays[x].data, ATTN_I64, 1, 1, 1, arrays[x].n);
        ATTN_TRY(check_pair(name, t, arrays[x].name, &view, err));
    }
    return ATTN_OK;
}

attn_status attni_check_apart(const attn_args *a, const char *name, const attn_tensor *t,
                              attn_error *err) {
    ATTN_TRY(check_pair(name, t, "q", &a->q, err));
    ATTN_TRY(check_pair(name, t, "k", &a->k, err));
    ATTN_TRY(check_pair(name, t, "v", &a->v, err));
    ATTN_TRY(check_pair(name, t, "mask", &a->mask, err));
    ATTN_TRY(check_pair(name, t, "bias", &a->bias, err));
    return check_arrays(a, name, t, err);
}

/* ----------------------------------------------------------------- memory of the caller */

static attn_tensor bytes_at(void *data, size_t size) {
    return attn_tensor_bhsd(data, ATTN_BOOL, 1, 1, 1, (int64_t)size);
}

static attn_status check_space(const attn_args *a, const char *name, const attn_tensor *space,
                               const attn_tensor *const *results, size_t n, attn_error *err) {
    if (!space->data) return ATTN_OK;
    for (size_t i = 0; i < n; i++) {
        if (results[i] && attni_tensors_overlap(space, results[i])) {
            return attni_fail(err, ATTN_E_OVERLAP,
                              "%s: overlaps a tensor; give it memory of its own", name);
        }
    }
    return attni_check_apart(a, name, space, err);
}

attn_status attni_check_spaces(const attn_args *a, const attn_tensor *const *results, size_t n,
                               attn_error *err) {
    const attn_tensor workspace = bytes_at(a->workspace, a->workspace_size),
                      saved = bytes_at(a->saved, a->saved_size);
    ATTN_TRY(check_space(a, "workspace", &workspace, results, n, err));
    ATTN_TRY(check_space(a, "saved", &saved, results, n, err));
    if (!attni_tensors_overlap(&workspace, &saved)) return ATTN_OK;
    return attni_fail(err, ATTN_E_OVERLAP, "saved: overlaps workspace; give it memory of its own");
}
