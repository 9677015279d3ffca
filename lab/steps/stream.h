/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - NumPy's legacy random stream (RandomState), which is MT19937 and the polar method,
 * so that anybody can reproduce the numbers of the figures in Python. Tests:
 * tests/lab/test_stream.c */
#ifndef LAB_STREAM_H
#define LAB_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LAB_STREAM_WORDS = 624 };

typedef struct lab_stream {
    uint32_t state[LAB_STREAM_WORDS];
    int next;     /* index of the next word of state to return */
    bool has_one; /* normals come in pairs; the second waits here */
    double one;
} lab_stream;

/* As numpy.random.RandomState(seed); seeds of 32 bits. */
void lab_stream_seed(lab_stream *stream, uint32_t seed);
uint32_t lab_stream_u32(lab_stream *stream);
/* 53 random bits in [0, 1): rand(). */
double lab_stream_uniform(lab_stream *stream);
/* Standard normal: randn(). */
double lab_stream_normal(lab_stream *stream);
/* x (n) = factor * randn(n) */
void lab_stream_normals(lab_stream *stream, size_t n, double factor, double *x);

#endif
