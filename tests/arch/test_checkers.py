#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checkers themselves: each one is shown something wrong and must say so."""
import hashlib
import tempfile
import unittest
from pathlib import Path

import check_includes
import check_sources
import check_spills
import check_symbols
import check_width
from disassembly import innermost_loops, parse

FMA = "vfmadd231ps (%rax),%ymm1,%ymm2"


def listing(*instructions):
    """objdump's text for a function f whose instructions are one byte each."""
    rows = [f"   {i:x}:\t{text}" for i, text in enumerate(instructions)]
    return "\n".join(["0000000000000000 <f>:", *rows])


def spills(*instructions):
    body = parse(listing(*instructions))["f"]
    return [len(finding.stack) for finding in check_spills.examine("f", body, 6)
            if finding.kind == "product"]


class Spills(unittest.TestCase):
    def test_clean_loop_has_no_stack_reference(self):
        self.assertEqual(spills("nop", *[FMA] * 6, "jne 1 <f+0x1>", "ret"), [0])

    def test_stack_operand_in_the_loop_is_found(self):
        self.assertEqual(spills("nop", *[FMA] * 6, "vmovaps 0x20(%rsp),%ymm3", "jne 1 <f+0x1>"), [1])

    def test_stack_operand_outside_the_loop_is_allowed(self):
        self.assertEqual(spills("mov 8(%rsp),%rax", *[FMA] * 6, "jne 1 <f+0x1>", "ret"), [0])

    def test_rbp_counts_only_as_frame_pointer(self):
        loop = [*[FMA] * 6, "vbroadcastss (%rbp,%rcx,4),%ymm3", "jne 1 <f+0x1>"]
        self.assertEqual(spills("nop", *loop), [0])
        self.assertEqual(spills("mov %rsp,%rbp", *loop), [1])

    def test_aarch64_stack_operand_is_found(self):
        fma = "fmla v0.4s, v1.4s, v2.s[0]"
        self.assertEqual(spills("nop", *[fma] * 6, "ldr q3, [sp, #16]", "b.ne 1 <f+0x1>"), [1])

    def test_scalar_multiply_adds_do_not_count(self):
        self.assertEqual(spills("nop", *["vfmadd231ss %xmm0,%xmm1,%xmm2"] * 6, "jne 1 <f+0x1>"), [])

    def test_product_and_sum_count_as_one_multiply_add(self):
        self.assertEqual(spills("nop", *["mulps %xmm0,%xmm1", "addps %xmm1,%xmm2"] * 6, "jne 1 <f+0x1>"), [0])
        self.assertEqual(spills("nop", *["mulps %xmm0,%xmm1"] * 6, "jne 1 <f+0x1>"), [])

    def test_exp_loop_is_not_judged(self):
        self.assertEqual(spills("nop", *[FMA] * 6, "vpslld $0x17,%ymm0,%ymm0", "jne 1 <f+0x1>"), [])

    def test_loop_with_few_multiply_adds_is_left_out(self):
        self.assertEqual(spills("nop", *[FMA] * 6, *["vmovaps %ymm0,%ymm1"] * 30, "jne 1 <f+0x1>"), [])

    def test_a_loop_that_transposes_is_not_judged(self):
        self.assertEqual(spills("nop", *[FMA] * 6, "vunpcklps %ymm0,%ymm1,%ymm2", "jne 1 <f+0x1>"), [])

    def test_spills_do_not_dilute_a_loop(self):
        reload = "vmovaps 0x20(%rsp),%ymm3"
        self.assertEqual(spills("nop", *[FMA] * 6, *[reload] * 30, "jne 1 <f+0x1>"), [30])

    def test_only_the_innermost_loop_is_seen(self):
        body = parse(listing("nop", FMA, FMA, "jne 2 <f+0x2>", "jne 1 <f+0x1>", "ret"))["f"]
        self.assertEqual([len(loop) for loop in innermost_loops(body)], [2])

    def test_jump_back_into_straight_code_is_no_loop(self):
        body = parse(listing("je 4 <f+0x4>", "nop", FMA, "ret", "nop", "jmp 2 <f+0x2>"))["f"]
        self.assertEqual(innermost_loops(body), [])


class Width(unittest.TestCase):
    def found(self, text):
        return len(check_width.wide_instructions(parse(listing(text))))

    def test_wide_registers_and_vex_are_found(self):
        self.assertEqual(self.found("vaddps %ymm0,%ymm1,%ymm2"), 1)
        self.assertEqual(self.found("vaddps %xmm0,%xmm1,%xmm2"), 1)
        self.assertEqual(self.found("vpxord %zmm0,%zmm1,%zmm2"), 1)

    def test_baseline_instructions_are_allowed(self):
        self.assertEqual(self.found("addps %xmm0,%xmm1"), 0)
        self.assertEqual(self.found("xgetbv"), 0)


class Symbols(unittest.TestCase):
    def test_declarations_are_read_from_the_header(self):
        text = "ATTN_API int attn_a(void);\nATTN_API const char *attn_b(\n  int x);\nint attn_c(void);\n"
        self.assertEqual(check_symbols.declared(text), {"attn_a", "attn_b"})

    def test_exports_are_read_from_nm(self):
        text = "0000000000001139 T attn_a\n0000000000004010 B attn_state\n0000000000000000 A ATTN_1\n"
        self.assertEqual(check_symbols.exported(text), {"attn_a", "attn_state"})

    def test_the_list_tells_what_was_added_and_removed(self):
        self.assertEqual(check_symbols.differences({"attn_a"}, {"attn_a"}, "list"), [])
        lines = check_symbols.differences({"attn_a", "attn_b"}, {"attn_b", "attn_c"}, "list")
        self.assertEqual(lines[:2], ["added: attn_c", "removed: attn_a"])
        self.assertIn("--update", lines[-1])


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        self.write("include/attn/attn.h", "")
        self.write("src/core/base.h", '#include "attn/attn.h"\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def includes(self):
        return check_includes.check(self.root)[1]

    def sources(self):
        return [c for c in check_sources.check(self.root)[0] if "README" not in c and "SPDX" not in c]


class Includes(Tree):
    def test_downward_arrows_are_allowed(self):
        self.write("src/kernels/panel.h", '#include "core/base.h"\n')
        self.write("src/attention/forward.c", '#include "kernels/panel.h"\n#include <attn/attn.h>\n')
        self.write("cli/run/run.c", '#include "run.h"\n#include "core/base.h"\n')
        self.write("cli/run/run.h", "")
        self.assertEqual(self.includes(), [])

    def test_upward_arrow_is_found(self):
        self.write("src/attention/pattern.h", "")
        self.write("src/kernels/table.c", '#include "attention/pattern.h"\n')
        self.assertEqual(len(self.includes()), 1)

    def test_kernel_that_sees_the_public_header_is_found(self):
        self.write("src/kernels/table.c", '#include "attn/attn.h"\n')
        self.assertEqual(len(self.includes()), 1)

    def test_oracle_that_sees_kernels_is_found(self):
        self.write("src/kernels/panel.h", "")
        self.write("src/ref/reference.c", '#include "../kernels/panel.h"\n')
        self.assertEqual(len(self.includes()), 1)

    def test_include_from_cli_is_found(self):
        self.write("cli/shared/npy.h", "")
        self.write("lab/study.c", '#include "cli/shared/npy.h"\n')
        self.assertEqual(len(self.includes()), 1)

    def test_unknown_quoted_file_is_found(self):
        self.write("src/core/pool.c", '#include "pthread.h"\n')
        self.assertEqual(len(self.includes()), 1)

    def test_mpi_outside_dist_is_found(self):
        self.write("src/core/pool.c", "#include <mpi.h>\n")
        self.assertEqual(len(self.includes()), 1)


class Sources(Tree):
    def test_value_changing_flag_is_found(self):
        self.write("CMakeLists.txt", "add_compile_options(-Ofa" + "st)  # never\n")
        self.assertEqual(len(self.sources()), 1)

    def test_flag_in_a_comment_is_allowed(self):
        self.write("CMakeLists.txt", "# -ffast" + "-math is out\n")
        self.assertEqual(self.sources(), [])

    def test_a_question_to_the_system_is_found_outside_os_h(self):
        for text in ("#if defined(__linux__)\n", "  # include <pthread.h>\n", "#elif defined(_WIN32)\n"):
            self.write("src/core/pool.c", text)
            self.write("src/core/os.c", text)
            self.assertEqual(len(self.sources()), 1, text)

    def test_lab_and_command_have_a_file_for_the_system_each(self):
        for text in ("#include <unistd.h>\n", "#if defined(_WIN32)\n", "#include <sys/stat.h>\n"):
            self.write("lab/support/system.c", text)
            self.write("cli/shared/terminal.c", text)
            self.write("lab/report/files.c", text)
            self.write("cli/main.c", text)
            self.assertEqual(len(self.sources()), 2, text)
        self.write("lab/report/files.c", "#include <signal.h>\n")
        self.write("cli/main.c", "#include <signal.h>\n")
        self.assertEqual(self.sources(), [])

    def test_an_architecture_may_be_asked_for(self):
        self.write("src/core/cpu.c", "#if defined(__x86_64__)\n#elif defined(__wasm__)\n/* _WIN32 */\n")
        self.assertEqual(self.sources(), [])

    def test_machine_path_is_found(self):
        self.write("docs/tour.md", "see /ho" + "me/somebody/attn\n")
        self.assertEqual(len(self.sources()), 1)

    def test_relative_path_is_allowed(self):
        self.write("docs/tour.md", "see ../workshop/shared and ~/roots/x\n")
        self.assertEqual(self.sources(), [])

    def test_a_named_test_that_is_not_there_is_found(self):
        self.write("tests/core/test_pool.c", "")
        self.write("web/tests/run.mjs", "")
        self.write("docs/tour.md", "tests/core/test_pool.c, tests/run.mjs, tests/core/*.c\ntests/core/test_" + "pond.c\n")
        self.assertEqual(self.sources(), ["docs/tour.md:2: there is no tests/core/test_" + "pond.c"])
        self.write("docs/tour.md", "tests/core, tests/" + "pond/*.c\n")
        self.assertEqual(self.sources(), ["docs/tour.md:1: there is no tests/" + "pond"])

    def test_a_long_test_file_is_found(self):
        self.write("tests/core/test_" + "pond.py", "x\n" * 600)
        self.write("tests/golden/golden.json", "x\n" * 601)
        self.assertEqual(self.sources(), [])
        self.write("web/tests/" + "journey.mjs", "x\n" * 601)
        self.assertEqual(len(self.sources()), 1)

    def test_tab_in_c_is_found(self):
        self.write("src/core/pool.c", "int x;\t\n")
        self.assertEqual(len(self.sources()), 1)

    def test_edited_and_missing_records_are_found(self):
        self.write("docs/adr/0001-a.md", "as decided\n")
        self.assertEqual(self.sources(), [])  # new, and warned of
        digest = hashlib.sha256(b"as decided\n").hexdigest()
        self.write("docs/adr/SHA256SUMS", f"{digest}  0001-a.md\n")
        self.assertEqual(self.sources(), [])
        self.write("docs/adr/0001-a.md", "as decided today\n")
        self.assertEqual(self.sources(), ["docs/adr/0001-a.md: edited; restore it and write a new record that supersedes it"])
        (self.root / "docs/adr/0001-a.md").unlink()
        self.assertEqual(self.sources(), ["docs/adr/0001-a.md: a record is missing"])

    def test_missing_licence_line_is_found(self):
        self.write("src/core/pool.c", "int x;\n")
        complaints = check_sources.check(self.root)[0]
        self.assertTrue(any("pool.c:1: the first line" in c for c in complaints))

    def test_missing_and_long_readme_are_found(self):
        self.write("tools/README.md", "line\n" * 16)
        complaints = check_sources.check(self.root)[0]
        self.assertTrue(any(c.startswith("tools/README.md: 16 lines") for c in complaints))
        self.assertTrue(any(c == "src/core: no README.md" for c in complaints))

    def test_function_lengths_are_counted(self):
        text = "int a(void);\nint b(void) { return 1; }\nint\nc(void) {\n    return 2;\n}\nint d[] = {\n    1,\n};\n"
        self.assertEqual([lines for _, lines in check_sources.functions(text)], [1, 4])


if __name__ == "__main__":
    unittest.main()
