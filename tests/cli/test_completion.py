# SPDX-License-Identifier: Apache-2.0
"""attn completion: the scripts are tried in the shells themselves, with the Tab key where a shell has no other way."""
import os
import re
import shutil
import subprocess
import time

from support import ATTN, CliTest, main, posix_only

# What is typed before Tab, and the words that attn then gets.
TYPED = [("attn sel", "selftest"), ("attn run --caus", "run --causal"), ("attn run --layout bs", "run --layout bshd"),
         ("attn cost --dtype=f3", "cost --dtype=f32"), ("attn bench forw", "bench forward"), ("attn learn mas", "learn masks"),
         ("attn train who", "train whois"), ("attn help grad", "help gradcheck"), ("attn completion fi", "completion fish"),
         ("attn run --q quer", "run --q queries.npy"), ("attn run -o quer", "run -o queries.npy"), ("attn attend mod", "attend model.safetensors"),
         ("attn attend model.safetensors --show entr", "attend model.safetensors --show entropy"),
         ("attn run --threads quer", "run --threads quer"), ("attn run --nonsense", "run --nonsense"), ("attn verify --wro", "verify --wrong")]


@posix_only
class Completion(CliTest):
    def setUp(self):
        super().setUp()
        for name in ("queries.npy", "model.safetensors"):
            open(self.path(name), "w").close()

    def script(self, shell, name):
        if not shutil.which(shell):
            self.skipTest("no %s (tools/setup test)" % shell)
        with open(self.path(name), "w") as f:
            f.write(self.run_attn("completion", shell)[0])
        return name

    def typed(self, shell, *lines):
        """Types lines into an interactive shell on a terminal; what it shows."""
        import pty
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(self.folder.name)
            env = {"PATH": "/usr/bin:/bin", "TERM": "dumb", "HOME": self.folder.name, "INPUTRC": "/dev/null", "LC_ALL": "C.UTF-8"}
            os.execvpe(shell[0], shell, env)
        seen = b""
        for number, line in enumerate(lines):
            os.write(master, line.encode() + b"\n" + b"echo end'of'%d\n" % number)
            until = time.monotonic() + 60
            while b"endof%d" % number not in seen and time.monotonic() < until:
                seen += os.read(master, 4096)
        os.write(master, b"exit\n")
        try:
            while os.read(master, 4096):
                pass
        except OSError:  # the shell has ended
            pass
        os.close(master)
        os.waitpid(pid, 0)
        return seen.decode()

    def check(self, shown, shell):
        got = re.findall(r"<([^<>]+)>", shown)
        self.assertEqual([words.rstrip() for words in got], [words for _, words in TYPED], "%s shows: %s" % (shell, shown))

    def test_bash(self):
        script = self.script("bash", "attn.bash")
        lines = [line + "\t" for line, _ in TYPED]
        self.check(self.typed(["bash", "--norc", "--noprofile", "-i"], "source ./" + script, 'attn() { echo "["$*"]" | tr "[]" "<>"; }', *lines),
                   "bash")

    def test_zsh_from_a_folder_of_functions(self):
        os.mkdir(self.path("functions"))
        self.script("zsh", "functions/_attn")
        lines = [line + "\t" for line, _ in TYPED]
        self.check(self.typed(["zsh", "-f", "-i"], "fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u -D",
                              'attn() { print -r -- "["$*"]" | tr "[]" "<>" }', *lines), "zsh")

    def test_zsh_by_source(self):
        script = self.script("zsh", "attn.zsh")
        shown = self.typed(["zsh", "-f", "-i"], "autoload -U compinit; compinit -u -D; source ./" + script,
                           'attn() { print -r -- "["$*"]" | tr "[]" "<>" }', "attn run --caus\t")
        self.assertIn("<run --causal", shown)

    def test_fish(self):
        script = self.script("fish", "attn.fish")
        for line, expected in TYPED:
            done = subprocess.run(["fish", "--no-config", "-c", "source %s; complete -C '%s'" % (script, line)], cwd=self.folder.name,
                                  capture_output=True, text=True, timeout=60, env=dict(os.environ, HOME=self.folder.name))
            self.assertEqual(done.stderr, "")
            words = [candidate.split("\t")[0] for candidate in done.stdout.splitlines()]
            last = expected.split()[-1]
            self.assertEqual(words, [last] if last != line.split()[-1] else [], line)


class Scripts(CliTest):
    def test_every_command_and_option_is_in_every_script(self):
        scripts = {shell: self.run_attn("completion", shell)[0] for shell in ("bash", "zsh", "fish")}
        commands = [c for c in re.findall(r"(?m)^  (\w+) +\w", self.run_attn("help")[0]) if c not in ("attn", "help")]
        for command in commands:
            for option in re.findall(r"(?m)^  (?:-\w, )?--([\w-]+)", self.run_attn("help", command)[0]):
                self.assertRegex(scripts["bash"], r"(?s)\n    %s\)\n        words='[^']* --%s\b" % (command, option))
                self.assertRegex(scripts["zsh"], r"(?s)\n    %s\)\n.*?'\*?--%s\b" % (command, option))
                self.assertRegex(scripts["fish"], r"(?m)^complete .*_from %s' -l %s\b" % (command, option))

    def test_an_unknown_shell(self):
        for args in ([], ["csh"]):
            self.assertIn("bash, zsh or fish", self.run_attn("completion", *args, expect=2)[1])


if __name__ == "__main__":
    main()
