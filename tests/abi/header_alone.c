/* SPDX-License-Identifier: Apache-2.0 */
/* header_alone.c - the public header needs nothing before it. The same text is compiled as
 * strict C99 and, through header_alone.cpp, as C++11. */
#include "attn/attn.h"

int main(void) {
    attn_args args;
    attn_args_init(&args);
    const int is_default = args.struct_size == sizeof args && args.scale == ATTN_SCALE_AUTO &&
                           args.offset == ATTN_OFFSET_BOTTOM_RIGHT && args.q.data == NULL;
    return is_default && attn_version()[0] != 0 ? 0 : 1;
}
