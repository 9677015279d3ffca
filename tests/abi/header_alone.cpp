// SPDX-License-Identifier: Apache-2.0
// header_alone.cpp - the same program through a C++ compiler.
#include "header_alone.c"
