# SPDX-License-Identifier: Apache-2.0
"""Reads object files through objdump: functions, instructions, and the innermost loops of a function.

Used by check_spills.py and check_width.py. Understands GNU and LLVM objdump, x86-64 and aarch64.
"""
import re
import subprocess
from dataclasses import dataclass

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)$")
TARGET = re.compile(r"(?:^|\s|,)(?:0x)?([0-9a-f]+) <")
X86_BRANCH = re.compile(r"^j[a-z]+$")
ARM_BRANCH = re.compile(r"^(b|b\.[a-z]+|cbn?z|tbn?z)$")
ENDS_FLOW = re.compile(r"^(jmpq?|b|br|retq?|ud2|brk)$")


@dataclass
class Instruction:
    address: int
    mnemonic: str
    operands: str
    target: int | None  # where a direct branch goes

    @property
    def text(self):
        return f"{self.mnemonic} {self.operands}".strip()


def parse_instruction(address, text):
    text = re.sub(r"\s+(# |//).*$", "", text).strip()
    mnemonic, _, operands = text.partition(" ")
    while mnemonic in ("rep", "repz", "repnz", "lock", "notrack", "bnd", "data16"):
        mnemonic, _, operands = operands.strip().partition(" ")
    target = None
    if X86_BRANCH.match(mnemonic) or ARM_BRANCH.match(mnemonic):
        match = TARGET.search(operands)
        target = int(match.group(1), 16) if match else None
    return Instruction(address, mnemonic, operands.strip(), target)


def parse(listing):
    """{function name: [Instruction, ...]} of objdump's output."""
    functions, body = {}, None
    for line in listing.replace("\t", " ").splitlines():
        if match := FUNCTION.match(line):
            body = functions.setdefault(match.group(1), [])
        elif body is not None and (match := INSTRUCTION.match(line)):
            body.append(parse_instruction(int(match.group(1), 16), match.group(2)))
    return functions


def disassemble(objdump, path):
    command = [objdump, "-d", "--no-show-raw-insn", path]
    return parse(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def split_blocks(body):
    """Basic blocks as index ranges, and the blocks each one can continue in."""
    index_of = {instruction.address: i for i, instruction in enumerate(body)}
    starts = {0}
    for i, instruction in enumerate(body):
        if instruction.target in index_of:
            starts.add(index_of[instruction.target])
        if instruction.target is not None or ENDS_FLOW.match(instruction.mnemonic):
            starts.add(i + 1)
    starts = sorted(s for s in starts if s < len(body))
    block_of = {start: b for b, start in enumerate(starts)}
    blocks = list(zip(starts, starts[1:] + [len(body)]))
    following = []
    for b, (_, end) in enumerate(blocks):
        last, next_blocks = body[end - 1], set()
        if last.target in index_of:
            next_blocks.add(block_of[index_of[last.target]])
        if not ENDS_FLOW.match(last.mnemonic) and b + 1 < len(blocks):
            next_blocks.add(b + 1)
        following.append(next_blocks)
    return blocks, following


def dominators(following):
    """For each block the set of blocks on every way to it from block 0, as bits of an integer."""
    n = len(following)
    before = [[] for _ in range(n)]
    for b, next_blocks in enumerate(following):
        for other in next_blocks:
            before[other].append(b)
    everything = (1 << n) - 1
    result = [1] + [everything] * (n - 1)
    changed = True
    while changed:
        changed = False
        for b in range(1, n):
            common = everything
            for other in before[b]:
                common &= result[other]
            common |= 1 << b
            if common != result[b]:
                result[b], changed = common, True
    return result, before


def innermost_loops(body):
    """Natural loops that hold no other loop, each as the list of its instructions."""
    if not body:
        return []
    blocks, following = split_blocks(body)
    dominated_by, before = dominators(following)
    loops = {}  # head block -> blocks of the loop
    for b, next_blocks in enumerate(following):
        for head in next_blocks:
            if not dominated_by[b] >> head & 1:
                continue
            members, todo = loops.setdefault(head, {head}), [b]
            while todo:
                block = todo.pop()
                if block not in members:
                    members.add(block)
                    todo.extend(before[block])
    inner = [m for head, m in loops.items() if not any(h in m for h in loops if h != head)]
    return [[i for b in sorted(m) for i in body[slice(*blocks[b])]] for m in inner]
