/* SPDX-License-Identifier: Apache-2.0 */
/* web_look.h - attention of all layers and heads over one text: what is asked, what a model or the
 * random layers left behind, and the views that are made of it. */
#ifndef WEB_LOOK_H
#define WEB_LOOK_H

#define ATTNI_REAL_f32
#include "engine.h"
#include "lab/steps/scaling.h"
#include "layers/mha.h"

typedef enum web_mask { WEB_ALL, WEB_CAUSAL, WEB_WINDOW, WEB_PADDING } web_mask;

typedef struct web_look_input {
    int64_t n;
    const int32_t *tokens; /* (n) of a model */
    web_mask mask;
    int64_t window, padding;
    lab_scaling scaling;
    double temperature;
    int64_t n_off;
    const int32_t *off;  /* (n_off) heads that are switched off: layer * heads + head */
    int64_t gradient_at; /* -1: no gradient */
} web_look_input;

web_look_input web_look_read(const double *block);

/* Is head h of layer l switched off? */
bool web_is_off(const web_look_input *in, int64_t l, int64_t heads, int64_t h);
/* visible (n, n): 0 where the mask, or a model that is causal itself, hides the key. */
void web_fill_visible(const web_look_input *in, bool causal, uint8_t *visible);
/* Does this mask need visible, or does `causal` say all? */
bool web_needs_visible(const web_look_input *in);

/* What has been computed. All arrays belong to the caller. */
typedef struct web_scene {
    int64_t n, layers, heads, d;
    const attn_args *attention;      /* (layers) */
    const attni_mha_saved *gradient; /* (layers) after backward, or NULL */
    const float *before, *after;     /* (n, d) what enters the first layer and leaves the last */
    const float *dbefore;            /* (n, d) after backward, or NULL */
    bool causal;
} web_scene;

/* weights, scores, entropy, rollout, visible, q, k, states; and with gradients: weighted, by_position. */
attn_status web_put_views(const web_look_input *in, const web_scene *scene);

/* Square root of the sum of squares. */
double web_norm(const float *x, size_t n);

#endif
