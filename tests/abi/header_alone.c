/* SPDX-License-Identifier: Apache-2.0 */
/* header_alone.c - the public header compiles on its own and leaves the macros of a program alone.
 * The same text is compiled as strict C99 and, through header_alone.cpp, as C++11 and C++17. */
#define X not a macro of the header
#include "attn/attn.h"
#ifndef X
#error "attn.h undefines a macro of the program"
#endif
#undef X
#define X 3

/* What macros expand to must be clean C++ too. */
static const int64_t offsets[2] = {ATTN_OFFSET_TOP_LEFT, ATTN_OFFSET_BOTTOM_RIGHT};

int main(void) {
    attn_args args;
    attn_args_init(&args);
    const int is_default = args.struct_size == sizeof args && args.scale == ATTN_SCALE_AUTO &&
                           args.offset == offsets[1] && offsets[0] == 0 && args.q.data == NULL;
    attn_ctx_options options;
    attn_cpu cpu;
    attn_gradients gradients;
    attn_results results;
    attn_inspection what;
    attn_partial partial;
    attn_cost_info cost;
    attn_ctx_options_init(&options);
    attn_cpu_init(&cpu);
    attn_gradients_init(&gradients);
    attn_results_init(&results);
    attn_inspection_init(&what);
    attn_partial_init(&partial);
    attn_cost_info_init(&cost);
    return is_default && X == 3 && attn_version_number() == ATTN_VERSION_NUMBER ? 0 : 1;
}
