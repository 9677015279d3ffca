/* SPDX-License-Identifier: Apache-2.0 */
/* args.c - checks every argument for every possible mistake; the message names the argument, its
 * value, what was expected and what to do. */
#include "attention/args.h"

#include "attention/pattern.h"
#include "attention/structs.h"
#include "kernels/kernels.h"

#include <inttypes.h>

#define FLOATS (1u << ATTN_F32 | 1u << ATTN_F64 | 1u << ATTN_F16 | 1u << ATTN_BF16)

static attn_status check_dim(const char *name, const attn_tensor *t, int k, int64_t expected,
                             const char *why, attn_error *err) {
    if (t->shape[k] == expected) return ATTN_OK;
    return attni_fail(err, ATTN_E_SHAPE, "%s: %s is %" PRId64 ", expected %" PRId64 " (%s)", name,
                      attni_dim_name[k], t->shape[k], expected, why);
}

/* -------------------------------------------------------------------------- q, k, v */

static attn_status check_qkv(const attn_args *a, bool need_data, attn_error *err) {
    const struct {
        const char *name;
        const attn_tensor *t;
    } inputs[3] = {{"q", &a->q}, {"k", &a->k}, {"v", &a->v}};
    for (int x = 0; x < 3; x++) {
        const attn_tensor *t = inputs[x].t;
        ATTN_TRY(attni_check_tensor(inputs[x].name, t, FLOATS, need_data, err));
        ATTN_TRY(attni_check_row_contiguous(inputs[x].name, t, err));
        if (t->dtype != a->q.dtype) {
            return attni_fail(err, ATTN_E_DTYPE, "%s: dtype %s differs from q's %s; convert one",
                              inputs[x].name, attn_dtype_name(t->dtype),
                              attn_dtype_name(a->q.dtype));
        }
        if (t->shape[1] < 1 || t->shape[3] < 1) {
            return attni_fail(err, ATTN_E_SHAPE, "%s: %s is 0, expected 1 or more", inputs[x].name,
                              attni_dim_name[t->shape[1] < 1 ? 1 : 3]);
        }
    }
    ATTN_TRY(check_dim("k", &a->k, 0, a->q.shape[0], "the batch of q", err));
    ATTN_TRY(check_dim("v", &a->v, 0, a->q.shape[0], "the batch of q", err));
    ATTN_TRY(check_dim("k", &a->k, 3, a->q.shape[3], "d_k of q", err));
    ATTN_TRY(check_dim("v", &a->v, 1, a->k.shape[1], "the heads of k", err));
    ATTN_TRY(check_dim("v", &a->v, 2, a->k.shape[2], "the keys of k", err));
    if (a->q.shape[1] % a->k.shape[1] != 0) {
        return attni_fail(err, ATTN_E_SHAPE,
                          "k: head count %" PRId64 " does not divide H=%" PRId64
                          " of q (grouped-query attention needs H %% H_kv == 0)",
                          a->k.shape[1], a->q.shape[1]);
    }
    return ATTN_OK;
}

/* ------------------------------------------------------------------------- numbers */

static attn_status check_numbers(const attn_args *a, attn_error *err) {
    if (!isfinite(a->scale) && a->scale != ATTN_SCALE_AUTO) {
        return attni_fail(err, ATTN_E_VALUE,
                          "scale: %g, expected a finite number or ATTN_SCALE_AUTO", a->scale);
    }
    if (!(a->temperature > 0) || !isfinite(a->temperature)) {
        return attni_fail(err, ATTN_E_VALUE, "temperature: %g, expected a finite number above 0",
                          a->temperature);
    }
    if (!(a->softcap >= 0) || !isfinite(a->softcap)) {
        return attni_fail(err, ATTN_E_VALUE,
                          "softcap: %g, expected 0 (off) or a finite number above 0", a->softcap);
    }
    if (!(a->dropout >= 0 && a->dropout < 1)) {
        return attni_fail(err, ATTN_E_VALUE, "dropout: %g, expected 0 <= dropout < 1", a->dropout);
    }
    if (a->window_left < -1 || a->window_right < -1) {
        const bool left = a->window_left < -1;
        return attni_fail(
            err, ATTN_E_VALUE, "%s: %" PRId64 ", expected -1 (open) or a count of keys",
            left ? "window_left" : "window_right", left ? a->window_left : a->window_right);
    }
    return ATTN_OK;
}

static attn_status check_per_head(const attn_args *a, attn_error *err) {
    if (!a->alibi && !a->sinks) return ATTN_OK;
    for (int64_t h = 0; h < a->q.shape[1]; h++) {
        if (a->alibi && !isfinite(a->alibi[h])) {
            return attni_fail(err, ATTN_E_VALUE, "alibi[%" PRId64 "]: %g, expected a finite slope",
                              h, a->alibi[h]);
        }
        if (a->sinks && !(a->sinks[h] < HUGE_VAL)) {
            return attni_fail(err, ATTN_E_VALUE,
                              "sinks[%" PRId64 "]: %g, expected a number below infinity", h,
                              a->sinks[h]);
        }
    }
    return ATTN_OK;
}

/* ------------------------------------------------------------------------- sequences */

static attn_status check_lengths(const char *name, const int64_t *lengths, int64_t B, int64_t most,
                                 attn_error *err) {
    for (int64_t b = 0; lengths && b < B; b++) {
        if (lengths[b] < 0 || lengths[b] > most) {
            return attni_fail(err, ATTN_E_VALUE,
                              "%s[%" PRId64 "]: %" PRId64 ", expected 0 .. %" PRId64, name, b,
                              lengths[b], most);
        }
    }
    return ATTN_OK;
}

static attn_status check_starts(const char *name, const int64_t *starts, int64_t n_seqs,
                                int64_t total, attn_error *err) {
    if (starts[0] != 0 || starts[n_seqs] != total) {
        const bool first = starts[0] != 0;
        return attni_fail(err, ATTN_E_VALUE, "%s[%" PRId64 "]: %" PRId64 ", expected %" PRId64,
                          name, first ? 0 : n_seqs, starts[first ? 0 : n_seqs], first ? 0 : total);
    }
    for (int64_t s = 0; s < n_seqs; s++) {
        if (starts[s + 1] < starts[s]) {
            return attni_fail(err, ATTN_E_VALUE,
                              "%s[%" PRId64 "]: %" PRId64 " is below %s[%" PRId64 "] = %" PRId64,
                              name, s + 1, starts[s + 1], name, s, starts[s]);
        }
    }
    return ATTN_OK;
}

static attn_status check_sequences(const attn_args *a, attn_error *err) {
    if (!a->cu_q != !a->cu_k) {
        return attni_fail(err, ATTN_E_NULL, "%s: NULL, but %s is given; packed sequences need both",
                          a->cu_q ? "cu_k" : "cu_q", a->cu_q ? "cu_q" : "cu_k");
    }
    if (!a->cu_q) {
        ATTN_TRY(check_lengths("len_q", a->len_q, a->q.shape[0], a->q.shape[2], err));
        return check_lengths("len_k", a->len_k, a->q.shape[0], a->k.shape[2], err);
    }
    if (a->len_q || a->len_k) {
        return attni_fail(err, ATTN_E_VALUE,
                          "%s: given together with cu_q; packed sequences have no padding",
                          a->len_q ? "len_q" : "len_k");
    }
    if (a->n_seqs < 1) {
        return attni_fail(err, ATTN_E_VALUE, "n_seqs: %" PRId64 ", expected 1 or more with cu_q",
                          a->n_seqs);
    }
    ATTN_TRY(check_dim("q", &a->q, 0, 1, "packed sequences lie in one batch entry", err));
    ATTN_TRY(check_starts("cu_q", a->cu_q, a->n_seqs, a->q.shape[2], err));
    return check_starts("cu_k", a->cu_k, a->n_seqs, a->k.shape[2], err);
}

int64_t attni_sequence_count(const attn_args *a) { return a->cu_q ? a->n_seqs : a->q.shape[0]; }

attni_sequence attni_sequence_at(const attn_args *a, int64_t index) {
    attni_sequence s = {.index = index};
    if (a->cu_q) {
        s.q_row = a->cu_q[index];
        s.k_row = a->cu_k[index];
        s.rows = s.n_q = a->cu_q[index + 1] - s.q_row;
        s.n_k = a->cu_k[index + 1] - s.k_row;
    } else {
        s.batch = index;
        s.rows = a->q.shape[2];
        s.n_q = a->len_q ? a->len_q[index] : a->q.shape[2];
        s.n_k = a->len_k ? a->len_k[index] : a->k.shape[2];
    }
    s.offset = a->offsets ? a->offsets[index] : a->offset;
    if (s.offset == ATTN_OFFSET_BOTTOM_RIGHT) s.offset = s.n_k - s.n_q;
    return s;
}

void attni_sequence_longest(const attn_args *a, int64_t *rows, int64_t *keys) {
    if (!a->cu_q) { /* padding rows count, but keys beyond len_k are never read */
        *rows = a->q.shape[2];
        *keys = a->k.shape[2];
        return;
    }
    *rows = *keys = 0;
    for (int64_t index = 0; index < attni_sequence_count(a); index++) {
        const attni_sequence s = attni_sequence_at(a, index);
        *rows = attni_max(*rows, s.rows);
        *keys = attni_max(*keys, s.n_k);
    }
}

/* ----------------------------------------------------------------------------- masks */

static attn_status check_broadcast(const char *name, const attn_tensor *t, int k, int64_t full,
                                   bool at_least, attn_error *err) {
    if (t->shape[k] == 1 || t->shape[k] == full || (at_least && t->shape[k] > full)) return ATTN_OK;
    return attni_fail(err, ATTN_E_SHAPE, "%s: %s is %" PRId64 ", expected 1 or %s%" PRId64, name,
                      attni_dim_name[k], t->shape[k], at_least ? "at least " : "", full);
}

/* mask and bias: (sequences|1, H|1, rows|1, m <= keys). Packed sequences index them locally, so
 * they may be longer there. */
static attn_status check_score_tensor(const attn_args *a, const char *name, const attn_tensor *t,
                                      unsigned dtypes, bool need_data, attn_error *err) {
    if (!attni_tensor_is_given(t)) return ATTN_OK;
    int64_t rows, keys;
    attni_sequence_longest(a, &rows, &keys);
    const bool packed = a->cu_q != NULL;
    ATTN_TRY(attni_check_tensor(name, t, dtypes, need_data, err));
    ATTN_TRY(check_broadcast(name, t, 0, attni_sequence_count(a), false, err));
    ATTN_TRY(check_broadcast(name, t, 1, a->q.shape[1], false, err));
    ATTN_TRY(check_broadcast(name, t, 2, rows, packed, err));
    if (t->shape[3] > keys && !packed) {
        return attni_fail(err, ATTN_E_SHAPE,
                          "%s: columns is %" PRId64 ", expected at most n_k = %" PRId64
                          "; keys beyond it are masked",
                          name, t->shape[3], keys);
    }
    return ATTN_OK;
}

static attn_status check_pattern(const attn_args *a, attn_error *err) {
    if (!a->pattern) return ATTN_OK;
    int64_t rows, keys;
    attni_sequence_longest(a, &rows, &keys);
    const int64_t has_rows = attn_pattern_rows(a->pattern),
                  has_keys = attn_pattern_keys(a->pattern);
    const bool fits =
        a->cu_q ? has_rows >= rows && has_keys >= keys : has_rows == rows && has_keys == keys;
    if (fits) return ATTN_OK;
    return attni_fail(err, ATTN_E_SHAPE,
                      "pattern: made for %" PRId64 " x %" PRId64 ", expected %s%" PRId64
                      " x %" PRId64 " (n_q x n_k)",
                      has_rows, has_keys, a->cu_q ? "at least " : "", rows, keys);
}

/* ------------------------------------------------------------------------------ all */

static attn_status check_args(const attn_args *args, bool need_data, attn_args *full,
                              attn_error *err) {
    ATTN_TRY(attni_struct_read(&attni_struct_args, "args", args, full, err));
    ATTN_TRY(check_qkv(full, need_data, err));
    ATTN_TRY(check_numbers(full, err));
    ATTN_TRY(check_per_head(full, err));
    ATTN_TRY(check_sequences(full, err));
    ATTN_TRY(check_score_tensor(full, "mask", &full->mask, 1u << ATTN_BOOL, need_data, err));
    ATTN_TRY(check_score_tensor(full, "bias", &full->bias, FLOATS, need_data, err));
    ATTN_TRY(check_pattern(full, err));
    if (full->scale == ATTN_SCALE_AUTO) full->scale = 1 / sqrt((double)full->q.shape[3]);
    return attni_check_range(full, err);
}

attn_status attni_args_check(const attn_args *args, attn_args *full, attn_error *err) {
    ATTN_TRY(check_args(args, true, full, err));
    if (ATTNI_JOIN_GROUPS || attni_max(full->q.shape[2], full->k.shape[2]) <= ATTNI_GROUP_KEYS)
        return ATTN_OK;
    return attni_fail(err, ATTN_E_VALUE, "q, k: this build computes at most %d rows",
                      ATTNI_GROUP_KEYS);
}

/* Plans use data only to see whether a tensor is present, so any address will do. */
static void assume_data(attn_tensor *t) {
    if (!t->data && attni_tensor_is_given(t)) t->data = t;
}

attn_status attni_args_check_shapes(const attn_args *args, attn_args *full, attn_error *err) {
    ATTN_TRY(check_args(args, false, full, err));
    assume_data(&full->mask);
    assume_data(&full->bias);
    return ATTN_OK;
}

attn_status attni_check_result(const attn_args *a, const char *name, const attn_tensor *t,
                               const int64_t shape[4], unsigned dtypes, bool row_contiguous,
                               attn_error *err) {
    ATTN_TRY(attni_check_tensor(name, t, dtypes, false, err));
    for (int k = 0; k < 4; k++) ATTN_TRY(check_dim(name, t, k, shape[k], "from q, k, v", err));
    if (row_contiguous) ATTN_TRY(attni_check_row_contiguous(name, t, err));
    if (attni_tensor_is_empty(t)) return ATTN_OK;
    ATTN_TRY(attni_check_distinct(name, t, err));
    return attni_check_apart(a, name, t, err);
}
/* A log-sum-exp in f32 is enough for f32 results, but not always for gradients. */
static unsigned lse_dtypes(const attn_args *a) {
    return 1u << ATTN_F64 | (a->q.dtype == ATTN_F64 ? 0 : 1u << ATTN_F32);
}

attn_status attni_output_check(const attn_args *a, const attn_tensor *out, const attn_tensor *lse,
                               bool allow_f64, attn_error *err) {
    if (!out) return attni_fail(err, ATTN_E_NULL, "out: NULL, expected a tensor");
    const unsigned also = allow_f64 ? 1u << ATTN_F64 : 0;
    const int64_t out_shape[4] = {a->q.shape[0], a->q.shape[1], a->q.shape[2], a->v.shape[3]};
    ATTN_TRY(attni_check_result(a, "out", out, out_shape, 1u << a->q.dtype | also, true, err));
    if (!out->data && !attni_tensor_is_empty(out))
        return attni_fail(err, ATTN_E_NULL, "out: data is NULL for a tensor with elements");
    if (!lse || !lse->data) return ATTN_OK;
    const int64_t lse_shape[4] = {a->q.shape[0], a->q.shape[1], a->q.shape[2], 1};
    ATTN_TRY(attni_check_result(a, "lse", lse, lse_shape, lse_dtypes(a) | also, true, err));
    if (attni_tensors_overlap(out, lse)) {
        return attni_fail(err, ATTN_E_OVERLAP, "lse: overlaps out; give it memory of its own");
    }
    return ATTN_OK;
}

/* --------------------------------------------------------------- memory of the caller */

attn_status attni_check_saved(const attn_args *a, size_t needed, attn_error *err) {
    if (!a->saved || (a->saved_size >= needed && (uintptr_t)a->saved % 64 == 0)) return ATTN_OK;
    return attni_fail(err, ATTN_E_WORKSPACE,
                      "saved: %zu bytes at an address %s 64-byte aligned, expected %zu bytes, "
                      "aligned; see attn_saved_size()",
                      a->saved_size, (uintptr_t)a->saved % 64 ? "not" : "that is", needed);
}

/* ------------------------------------------------------------------------- gradients */

static attn_status check_given(const char *name, const attn_tensor *t, const int64_t shape[4],
                               unsigned dtypes, attn_error *err) {
    ATTN_TRY(attni_check_tensor(name, t, dtypes, true, err));
    for (int k = 0; k < 4; k++) ATTN_TRY(check_dim(name, t, k, shape[k], "from q, k, v", err));
    return attni_check_row_contiguous(name, t, err);
}

attn_status attni_results_check(const attn_args *a, const attn_results *given, bool all,
                                attn_results *r, attn_error *err) {
    ATTN_TRY(attni_struct_read(&attni_struct_results, "results", given, r, err));
    const int64_t B = a->q.shape[0], H = a->q.shape[1], n_q = a->q.shape[2];
    const int64_t out[4] = {B, H, n_q, a->v.shape[3]}, lse[4] = {B, H, n_q, 1};
    ATTN_TRY(check_given("dout", &r->dout, out, 1u << a->q.dtype, err));
    if (!all) return ATTN_OK;
    ATTN_TRY(check_given("out", &r->out, out, 1u << a->q.dtype, err));
    return check_given("lse", &r->lse, lse, lse_dtypes(a), err);
}

/* A requested gradient among all others. */
typedef struct named_gradient {
    const char *name;
    const attn_tensor *t, *like; /* like: the input it belongs to, or NULL: an array of doubles */
    unsigned dtypes;
    bool rows; /* must have contiguous rows and distinct elements */
} named_gradient;

enum { GRADIENTS = 6 };

static attn_status check_gradient(const attn_args *a, const named_gradient *g, bool need_data,
                                  attn_error *err) {
    if (need_data ? !g->t->data : !attni_tensor_is_given(g->t)) return ATTN_OK;
    if (g->rows) {
        return attni_check_result(a, g->name, g->t, g->like->shape, g->dtypes, true, err);
    }
    if (!g->like) return attni_check_apart(a, g->name, g->t, err);
    if (!g->like->data) {
        return attni_fail(err, ATTN_E_NULL, "%s: given, but args->bias is absent", g->name);
    }
    ATTN_TRY(attni_check_tensor(g->name, g->t, g->dtypes, false, err));
    for (int k = 0; k < 4; k++)
        ATTN_TRY(check_dim(g->name, g->t, k, g->like->shape[k], "the shape of bias", err));
    return attni_check_apart(a, g->name, g->t, err);
}

/* need_data: a gradient without data was not requested. */
static attn_status check_gradients(const attn_args *a, const attn_results *r,
                                   const attn_gradients *g, bool need_data, bool allow_f64,
                                   attn_error *err) {
    const unsigned same = 1u << a->q.dtype | (allow_f64 ? 1u << ATTN_F64 : 0),
                   reals = 1u << ATTN_F32 | 1u << ATTN_F64;
    const attn_tensor dsinks = attn_tensor_bhsd(g->dsinks, ATTN_F64, 1, 1, 1, a->q.shape[1]),
                      dscale = attn_tensor_bhsd(g->dscale, ATTN_F64, 1, 1, 1, 1);
    const named_gradient all[GRADIENTS] = {
        {"dq", &g->dq, &a->q, same, true},       {"dk", &g->dk, &a->k, same, true},
        {"dv", &g->dv, &a->v, same, true},       {"dbias", &g->dbias, &a->bias, reals, false},
        {"dsinks", &dsinks, NULL, reals, false}, {"dscale", &dscale, NULL, reals, false}};
    const attn_tensor *const given[3] = {&r->out, &r->lse, &r->dout};
    static const char *const given_names[3] = {"out", "lse", "dout"};
    for (int x = 0; x < GRADIENTS; x++) {
        ATTN_TRY(check_gradient(a, &all[x], need_data, err));
        for (int y = 0; y < 3; y++) {
            if (!attni_tensors_overlap(all[x].t, given[y])) continue;
            return attni_fail(err, ATTN_E_OVERLAP, "%s: overlaps %s; give it memory of its own",
                              all[x].name, given_names[y]);
        }
        for (int y = 0; y < x; y++) {
            if (!attni_tensors_overlap(all[x].t, all[y].t)) continue;
            return attni_fail(err, ATTN_E_OVERLAP, "%s: overlaps %s; give it memory of its own",
                              all[x].name, all[y].name);
        }
    }
    if (g->dsinks && !a->sinks) {
        return attni_fail(err, ATTN_E_NULL, "dsinks: given, but args->sinks is NULL");
    }
    return ATTN_OK;
}

attn_status attni_gradients_check(const attn_args *a, const attn_results *r,
                                  const attn_gradients *given, bool allow_f64, attn_gradients *g,
                                  attn_error *err) {
    ATTN_TRY(attni_struct_read(&attni_struct_gradients, "gradients", given, g, err));
    return check_gradients(a, r, g, true, allow_f64, err);
}

attn_status attni_gradients_check_shapes(const attn_args *a, const attn_gradients *given,
                                         attn_gradients *g, attn_error *err) {
    const attn_results none = {0};
    ATTN_TRY(attni_struct_read(&attni_struct_gradients, "gradients", given, g, err));
    ATTN_TRY(check_gradients(a, &none, g, false, false, err));
    assume_data(&g->dq);
    assume_data(&g->dk);
    assume_data(&g->dv);
    assume_data(&g->dbias);
    return ATTN_OK;
}
