/* SPDX-License-Identifier: Apache-2.0 */
/* subject.h - the problem that a version of the library computes. The shared objects made from
 * subject.c export two functions of these types. */
#ifndef SUBJECT_H
#define SUBJECT_H

typedef struct problem {
    const char *name;
    int backward, causal;
    long heads, n, d; /* queries = keys = n, one batch, f32 */
} problem;

/* Creates tensors and a context with one thread; isa is an attn_isa. Returns 0 on success. */
typedef int subject_begin_function(const problem *p, int isa);
/* One call of attn_forward() or attn_backward(). 0 if it succeeded. */
typedef int subject_run_function(void);

#endif
