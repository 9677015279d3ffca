#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A multiply-add loop that touches the stack has run out of registers, which halves its speed.

check_spills.py [--objdump TOOL] [--fma N] OBJECT...
Looks at every innermost loop with at least N (default 6) packed multiply-adds; fails if one has a
memory operand based on the stack or frame pointer, or if no such loop is found at all. A loop that
evaluates exp2 is listed but not judged: it reads its many constants from memory at no cost, and the
stack is one place for them. It is known by the shift that makes an exponent out of an integer. A
loop that transposes is not judged either: it reads the address of every row from memory, and which
memory does not matter. It is known by what puts elements of several rows into one vector.
Loops in which multiply-adds are rare (under one instruction in five) are left out.
"""
import argparse
import re
import sys
from dataclasses import dataclass

from disassembly import disassemble, innermost_loops

FUSED = re.compile(r"^(vfn?m(add|sub)\d+p[sd]|fml[as])$")
# x86 memory operands: off(%rsp), (%rax,%rbp,4); aarch64: [sp, #16], [x29, #-8]
STACK = re.compile(r"\((%rsp)\b|\[\s*sp\b")
FRAME = re.compile(r"\((%rbp)\b|\[\s*x29\b")
MAKES_EXPONENT = {"pslld", "psllq", "vpslld", "vpsllq", "vscalefps", "vscalefpd", "shl", "fscale"}
SHUFFLES = re.compile(r"^(v?unpck[lh]p[sd]|vperm[ti]2p[sd]|vshuff\d+x\d|vinsert(ps|f\d+(x\d)?)|zip[12]|trn[12])$")
RARE = 1 / 5
SETS_FRAME = re.compile(r"^(movq? %rsp,\s*%rbp|mov x29, sp|add x29, sp)")


def multiply_adds(loop):
    """Packed multiply-adds; without FMA a product and a sum make one."""
    fused = sum(bool(FUSED.match(i.mnemonic)) and not is_scalar_arm(i) for i in loop)
    products = sum(i.mnemonic in ("mulps", "mulpd") for i in loop)
    sums = sum(i.mnemonic in ("addps", "addpd") for i in loop)
    return fused + min(products, sums)


def is_scalar_arm(instruction):
    return re.match(r"^[sdh]\d+,", instruction.operands) is not None


def stack_references(loop, has_frame):
    """The frame pointer counts only where it is one: -O3 also uses it for ordinary addresses."""
    return [
        i for i in loop
        if STACK.search(i.operands) or (has_frame and FRAME.search(i.operands))
    ]


@dataclass
class Finding:
    function: str
    instructions: int
    multiply_adds: int
    kind: str  # "product", "exp" or "transpose"
    stack: list

    @property
    def is_bad(self):
        return bool(self.stack) and self.kind == "product"

    def __str__(self):
        note = "" if self.kind == "product" else f" ({self.kind})"
        head = f"{self.multiply_adds:13} {self.instructions:12} {len(self.stack):5}  {self.function}{note}"
        lines = [f"{'':34}{i.address:x}: {i.text}" for i in self.stack if self.is_bad]
        return "\n".join([head] + lines)


def makes_exponent(instruction):
    """Vectors only: general registers are shifted for addresses."""
    return instruction.mnemonic in MAKES_EXPONENT and re.search(r"mm\d|\bv\d", instruction.operands)


def kind_of(loop):
    if any(makes_exponent(i) for i in loop):
        return "exp"
    return "transpose" if any(SHUFFLES.match(i.mnemonic) for i in loop) else "product"


def examine(name, body, least):
    """A Finding for each loop with enough multiply-adds."""
    has_frame = any(SETS_FRAME.match(i.text) for i in body)
    found = []
    for loop in innermost_loops(body):
        count, stack = multiply_adds(loop), stack_references(loop, has_frame)
        # spills must not hide a loop by diluting it
        if count >= least and count / (len(loop) - len(stack)) >= RARE:
            found.append(Finding(name, len(loop), count, kind_of(loop), stack))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--objdump", default="objdump")
    parser.add_argument("--fma", type=int, default=6)
    parser.add_argument("object", nargs="+")
    options = parser.parse_args()
    bad = 0
    print(f"{'multiply-adds':>13} {'instructions':>12} {'stack':>5}  function")
    for path in options.object:
        found = []
        for name, body in disassemble(options.objdump, path).items():
            found += examine(name, body, options.fma)
        print("\n".join(map(str, found)))
        bad += sum(finding.is_bad for finding in found)
        if all(finding.kind != "product" for finding in found):
            print(f"FAILED: no product loop with {options.fma} multiply-adds in {path}")
            bad += 1
    print(f"{bad} failures")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
