/* SPDX-License-Identifier: Apache-2.0 */
/* attend_text.c - a look as text: the sentence, the answers, and a heatmap or a table.
 * Tests: tests/cli/test_attend.py */
#include "attend/attend.h"
#include "shared/cli.h"
#include "shared/heatmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *attend_parameter(const attend_view *view, int64_t i, char text[ATTEND_NAME]) {
    if (view->model) return view->model->parameters.list[i].name;
    snprintf(text, ATTEND_NAME, "layers.%lld.%s", (long long)i / LAB_RANDOM_MATRICES,
             lab_random_matrix_name[i % LAB_RANDOM_MATRICES]);
    return text;
}

/* -------------------------------------------------------------------------------------- answers */

static void print_sentence(const attend_view *v) {
    printf("  ");
    for (int64_t i = 0; i < v->look->n; i++) printf("%s%s", i ? " " : "", v->word[i]);
    printf("\n");
}

static void print_answers(const attend_view *v) {
    const attni_look *look = v->look;
    for (int64_t i = v->first; v->model && i < v->first + v->n_asked; i++) {
        printf("  %s ->", v->word[i]);
        for (int64_t s = 0; s < look->slots; s++) {
            int32_t word;
            double probability;
            attni_likeliest(attni_look_logits(look, i, s), look->n_words, 1, &word, &probability);
            printf(" %s%s%s (%.0f %%)", out_begin(stdout, OUT_BOLD), v->model->words[word],
                   out_begin(stdout, OUT_PLAIN), 100 * probability);
        }
        printf("%s\n", v->is_untaught ? "  (the model was not trained to answer here)" : "");
    }
}

/* ------------------------------------------------------------------------------------- heatmaps */

static void draw(const attend_view *v, const float *weights) {
    heatmap map = {.n = v->look->n, .word = v->word, .weights = weights};
    for (int64_t i = v->first; i < v->first + v->n_asked && i < 64; i++)
        map.marked |= (uint64_t)1 << i;
    heatmap_print(&map);
}

static void print_title(const attend_view *v) {
    printf("\nattention in percent, ");
    if (v->aggregate == ATTNI_SHOW_ROLLOUT)
        printf("rollout over all layers");
    else
        printf("layer %lld, ", (long long)v->layer + 1);
    if (v->aggregate == ATTNI_SHOW_HEAD) printf("head %lld", (long long)v->head + 1);
    if (v->aggregate == ATTNI_SHOW_MEAN) printf("mean of %lld heads", (long long)v->look->heads);
    if (v->aggregate == ATTNI_SHOW_MAX) printf("largest of %lld heads", (long long)v->look->heads);
    printf(" (rows are queries, columns are keys)\n");
}

/* Weights times gradient have no scale of their own: in percent of the largest. */
static int print_gradient(const attend_view *v) {
    const int64_t cells = v->look->n * v->look->n;
    const float *weighted = attend_matrix(v);
    float *share = calloc((size_t)cells, sizeof *share), most = 0;
    if (!share) {
        out_error("attend", "out of memory for the heatmap");
        return CLI_FAILED;
    }
    for (int64_t i = 0; i < cells; i++) most = fmaxf(most, weighted[i]);
    for (int64_t i = 0; i < cells && most > 0; i++) share[i] = weighted[i] / most;
    printf("\nweights times their gradient, layer %lld, mean of %lld heads, loss at %s: percent of "
           "the largest, %.3g\n",
           (long long)v->layer + 1, (long long)v->look->heads, v->word[v->at], (double)most);
    draw(v, share);
    free(share);
    return CLI_OK;
}

static void print_heads(const attend_view *v) {
    for (int64_t i = 0; i < v->look->layers * v->look->heads; i++) {
        attend_view one = *v;
        one.aggregate = ATTNI_SHOW_HEAD;
        one.layer = i / v->look->heads;
        one.head = i % v->look->heads;
        print_title(&one);
        draw(&one, attend_matrix(&one));
    }
}

/* --------------------------------------------------------------------------------------- tables */

/* A row for each token, so that it fits with any number of them; a column for each head. */
static void print_entropy(const attend_view *v) {
    const attni_look *look = v->look;
    printf("\nentropy of each row of each head in nats, at most %.2f\n  %-10s",
           log((double)look->n), "");
    for (int64_t h = 0; h < look->layers * look->heads; h++)
        printf("  L%lld.H%lld", (long long)(h / look->heads + 1), (long long)(h % look->heads + 1));
    for (int64_t i = 0; i < look->n; i++) {
        printf("\n  %-10s", v->word[i]);
        for (int64_t h = 0; h < look->layers * look->heads; h++)
            printf(" %6.2f", fabs((double)look->entropy[h * look->n + i]));
    }
    printf("\n");
}

static void print_product(const attend_view *v) {
    const attni_look *look = v->look;
    const int64_t first = (v->layer * look->heads + v->head) * look->n;
    const float *q = look->q + (first + v->at) * look->d_k,
                *k = look->k + (first + v->key) * look->d_k;
    double sum = 0;
    printf("\nquery of %s times key of %s, layer %lld, head %lld\n%8s%12s%12s%12s\n",
           v->word[v->at], v->word[v->key], (long long)v->layer + 1, (long long)v->head + 1, "",
           "q", "k", "q k");
    for (int64_t c = 0; c < look->d_k; c++) {
        const double product = (double)q[c] * (double)k[c];
        printf("%8lld%12.4f%12.4f%12.4f\n", (long long)c + 1, (double)q[c], (double)k[c], product);
        sum += product;
    }
    const int64_t cell = (first + v->at) * look->n + v->key;
    printf("%8s%36.4f\n%8s%36.4f\n%8s%36.4f\n", "sum", sum, "score", (double)look->scores[cell],
           "weight", (double)look->weights[cell]);
}

static void print_positions(const attend_view *v) {
    printf("\n|dL/dx| by position, loss at %s\n", v->word[v->at]);
    for (int64_t i = 0; i < v->look->n; i++)
        printf("  %-24s %10.4g\n", v->word[i], (double)v->look->by_position[i]);
}

static void print_parameters(const attend_view *v) {
    char name[ATTEND_NAME];
    printf("\n|dL/dw| by parameter, loss at %s\n", v->word[v->at]);
    for (int64_t i = 0; i < v->look->n_parameters; i++)
        printf("  %-24s %10.4g\n", attend_parameter(v, i, name), v->look->by_parameter[i]);
}

static void print_shift(const attend_view *v) {
    const float *before = v->points, *after = before + 2 * v->look->n;
    printf("\nbefore the first layer and after the last, on two principal axes\n");
    for (int64_t i = 0; i < v->look->n; i++)
        printf("  %-16s %8.3f %8.3f  -> %8.3f %8.3f\n", v->word[i], (double)before[2 * i],
               (double)before[2 * i + 1], (double)after[2 * i], (double)after[2 * i + 1]);
}

static int print_map(const attend_view *v) {
    if (v->aggregate == ATTNI_SHOW_GRADIENT) return print_gradient(v);
    print_title(v);
    draw(v, attend_matrix(v));
    return CLI_OK;
}

int attend_print(const attend_view *view) {
    print_sentence(view);
    print_answers(view);
    switch (view->show) {
    case ATTEND_MAP: return print_map(view);
    case ATTEND_HEADS: print_heads(view); break;
    case ATTEND_ENTROPY: print_entropy(view); break;
    case ATTEND_PRODUCT: print_product(view); break;
    case ATTEND_POSITIONS: print_positions(view); break;
    case ATTEND_PARAMETERS: print_parameters(view); break;
    case ATTEND_SHIFT: print_shift(view); break;
    }
    return CLI_OK;
}

/* ----------------------------------------------------------------------------------------- both */

/* "tired | dirty", or the word itself where both have it. */
static const char *pair_name(const attend_view view[2], const attend_pair *pair,
                             char text[ATTEND_NAME]) {
    const char *word[2];
    for (int s = 0; s < 2; s++) word[s] = pair->of[s] < 0 ? "-" : view[s].word[pair->of[s]];
    if (strcmp(word[0], word[1]) == 0) return word[0];
    snprintf(text, ATTEND_NAME, "%s | %s", word[0], word[1]);
    return text;
}

static void print_difference(const attend_view view[2], const attend_pair *pairs, int64_t n) {
    char name[ATTEND_NAME];
    printf("\nfirst minus second, in hundredths (rows are queries, columns are keys)\n%18s", "");
    for (int64_t j = 0; j < n; j++) printf(" %5.5s", pair_name(view, &pairs[j], name));
    for (int64_t i = 0; i < n; i++) {
        const int length = printf("\n  %s", pair_name(view, &pairs[i], name));
        int blank = 19 - length; /* printed when a number follows: no line ends in spaces */
        for (int64_t j = 0; j < n; j++) {
            const double difference = 100 * attend_difference(view, &pairs[i], &pairs[j]);
            if (isnan(difference)) {
                blank += 6;
                continue;
            }
            printf("%*s %+5.0f", blank > 0 ? blank : 0, "", difference);
            blank = 0;
        }
    }
    printf("\n");
}

int attend_print_both(const attend_view view[2]) {
    attend_pair *pairs = NULL;
    for (int s = 0; s < 2; s++) {
        print_sentence(&view[s]);
        print_answers(&view[s]);
        if (view->show == ATTEND_SHIFT) print_shift(&view[s]);
    }
    if (view->show == ATTEND_SHIFT) return CLI_OK;
    const int64_t n = attend_align(view, &pairs);
    if (n < 0) {
        out_error("attend", "out of memory to compare");
        return CLI_FAILED;
    }
    print_difference(view, pairs, n);
    free(pairs);
    return CLI_OK;
}
