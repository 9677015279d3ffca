/* SPDX-License-Identifier: Apache-2.0 */
/* exit_status.c - fails on purpose: ctest expects a failure, so the emulator must report it. */
int main(void) { return 3; }
