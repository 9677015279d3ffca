# SPDX-License-Identifier: Apache-2.0
"""attn train: reports, files, interruption, and what is refused. Training runs here
are short; that the tasks are learned to their goals is tests/lab/test_trainer.c and docs/training.md."""
import json
import math
import os
import pty
import signal
import struct
import subprocess
import time

from support import ATTN, CliTest, main


def read_safetensors(path):
    """(metadata, {name: (dtype, shape, list of numbers)}) in plain Python, by the format's definition."""
    with open(path, "rb") as f:
        data = f.read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    body = data[8 + length:]
    metadata, tensors, ends = header.pop("__metadata__"), {}, [0]
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        count = math.prod(entry["shape"])
        assert entry["dtype"] == "F32" and end - begin == 4 * count, name
        tensors[name] = (entry["shape"], struct.unpack("<%df" % count, body[begin:end]))
        ends.append(end)
    assert max(ends) == len(body)
    return metadata, tensors


class Train(CliTest):
    def test_sense_is_learned_and_reported(self):
        out, err = self.run_attn("train", "sense")
        self.assertEqual(err, "")
        self.assertRegex(out, r"held-out accuracy +(9[89]\.\d|100\.0) %")
        self.assertRegex(out, r"selectivity, layer 1 .* head 2 .* of the averaged weights [\d.]+ %")
        self.assertRegex(out, r"accuracy, deciding tokens hidden")
        self.assertRegex(out, r"(?m)^> (bank|apple|mouse|plant) ")
        for line in out.splitlines():
            self.assertEqual(line, line.rstrip())

    def test_json_holds_the_run(self):
        run = self.run_json("train", "whois", "--steps", "200", "--seed", "3", "--threads", "1")
        self.assertEqual((run["task"], run["seed"], run["steps"]), ("whois", 3, 200))
        self.assertEqual([line["step"] for line in run["history"]], [100, 200])
        self.assertEqual(run["held_out"]["examples"], 2048)
        self.assertEqual(len(run["held_out"]["selectivity"]), 2)
        self.assertEqual(len(run["held_out"]["selectivity_of_averaged_weights"]), 2)
        self.assertFalse(run["interrupted"])
        self.assertEqual(run["solved_at"], -1)
        weights = run["example"]["weights"]
        self.assertEqual((len(weights), len(weights[0]), len(weights[0][0])), (2, 2, len(run["example"]["tokens"])))
        for layer in weights:
            for head in layer:
                for row in head:
                    self.assertAlmostEqual(sum(row), 1, places=5)

    def test_options_reach_the_model(self):
        run = self.run_json("train", "copy", "--steps", "1", "--layers", "1", "--heads", "3", "--d", "12",
                            "--dk", "5", "--batch", "9", "--scale", "dk", "--temperature", "2", "--lr", "0.01")
        model = run["model"]
        self.assertEqual((model["layers"], model["heads"], model["d"], model["d_k"]), (1, 3, 12, 5))
        self.assertEqual((model["scale"], model["temperature"], model["causal"]), (0.2, 2, True))
        self.assertEqual((run["batch"], run["learning_rate"]), (9, 0.01))
        self.assertEqual(self.run_json("train", "whois", "--steps", "1", "--no-scale")["model"]["scale"], 1)
        self.assertEqual(self.run_json("train", "whois", "--steps", "1", "--scale", "sqrt")["model"]["scale"], "1/sqrt(d_k)")
        self.assertFalse(self.run_json("train", "whois", "--steps", "1")["model"]["causal"])
        self.assertTrue(self.run_json("train", "whois", "--steps", "1", "--causal")["model"]["causal"])

    def test_the_same_seed_gives_the_same_file_for_any_number_of_threads(self):
        for threads in "1", "2":
            self.run_attn("train", "add", "--steps", "20", "--threads", threads, "--save", threads)
        with open(self.path("1"), "rb") as one, open(self.path("2"), "rb") as two:
            self.assertEqual(one.read(), two.read())
        self.assertEqual(self.files(), ["1", "2"])

    def test_stop_at_ends_early(self):
        run = self.run_json("train", "sense", "--stop-at", "50")
        self.assertLess(run["steps"], 1000)
        self.assertEqual(run["solved_at"], run["steps"] - 100)
        self.assertEqual(self.run_json("train", "sense", "--stop-at", "0", "--steps", "300")["steps"], 300)

    def test_log_has_a_line_for_each_step(self):
        self.run_attn("train", "sort", "--steps", "103", "--log", "log.jsonl")
        with open(self.path("log.jsonl")) as f:
            lines = [json.loads(line) for line in f]
        self.assertEqual([line["step"] for line in lines], list(range(1, 104)))
        self.assertEqual([line["step"] for line in lines if "accuracy" in line], [100])
        self.assertLess(lines[-1]["loss"], lines[0]["loss"])

    def test_progress_lines_name_loss_accuracy_selectivity_rate_and_time_left(self):
        err = self.run_attn("train", "copy", "--steps", "200", "--progress", "always")[1]
        self.assertRegex(err, r"(?m)^copy  step 100/200  0:\d\d left  loss [\d.]+  held-out [\d.]+ %  "
                              r"selectivity [\d.]+ %  \d+ steps/s$")

    def test_a_study_prints_a_table_with_spreads(self):
        out = self.run_attn("train", "--study", "temperature", "--seeds", "2", "--steps", "60")[0]
        self.assertIn("| d_k 16, none | 0 of 2 | never |", out)
        self.assertIn("identical to the bit: 2 of 2 seeds", out)
        study = self.run_json("train", "--study", "causal", "--seeds", "1", "--steps", "10")
        self.assertEqual([kind["kind"] for kind in study["kinds"]], ["every token sees all", "causal"])
        self.assertEqual(study["kinds"][0]["runs"][0]["seed"], 1)
        unscaled = self.run_json("train", "--study", "causal", "--seeds", "1", "--steps", "10", "--scale", "none")
        self.assertNotEqual(*(s["kinds"][0]["runs"][0]["fingerprint"] for s in (study, unscaled)))


class Files(CliTest):
    def test_the_file_is_safetensors_with_configuration_and_words(self):
        self.run_attn("train", "whois", "--steps", "5", "--save", "m.safetensors", "--seed", "9")
        metadata, tensors = read_safetensors(self.path("m.safetensors"))
        self.assertEqual(metadata["format"], "attn transformer 1")
        self.assertEqual((metadata["task"], metadata["seed"], metadata["steps"]), ("whois", "9", "5"))
        self.assertEqual(len(metadata["words"].split()), 74)
        self.assertEqual(tensors["embedding.words"][0], [74, 32])
        self.assertEqual(tensors["layers.1.attention.w_q"][0], [32, 32])
        self.assertEqual(tensors["output.w"][0], [32, 148])
        self.assertEqual(len(tensors), 6 + 2 * 16)

    def test_the_safetensors_package_opens_it(self):
        try:
            from safetensors.numpy import load_file
        except ImportError:
            self.skipTest("no safetensors package")
        self.run_attn("train", "whois", "--steps", "5", "--save", "m.safetensors")
        mine, theirs = read_safetensors(self.path("m.safetensors"))[1], load_file(self.path("m.safetensors"))
        self.assertEqual(sorted(mine), sorted(theirs))
        for name, (shape, values) in mine.items():
            self.assertEqual(list(theirs[name].shape), shape)
            self.assertEqual(list(theirs[name].ravel()), list(values))

    def test_a_place_that_cannot_be_written_is_found_before_the_work(self):
        begin = time.monotonic()
        err = self.run_attn("train", "whois", "--steps", "100000", "--save", "no/where", expect=3)[1]
        self.assertIn("no/where: cannot be written", err)
        self.assertLess(time.monotonic() - begin, 10)

    def test_interrupted_training_saves_what_there_is(self):
        steps = ["--steps", "10000000", "--stop-at", "0", "--batch", "8"]
        child = subprocess.Popen([ATTN, "train", "copy", *steps, "--save", "m", "--log", "l", "--json"],
                                 cwd=self.folder.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while len(self.files()) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1)
        child.send_signal(signal.SIGINT)
        out = child.communicate(timeout=60)[0]
        self.assertEqual(child.returncode, 130)
        run = json.loads(out)
        self.assertTrue(run["interrupted"])
        self.assertGreater(run["steps"], 0)
        self.assertEqual(self.files(), ["l", "m"])
        self.assertEqual(read_safetensors(self.path("m"))[0]["steps"], str(run["steps"]))


class Usage(CliTest):
    def refused(self, *args, says):
        out, err = self.run_attn("train", *args, expect=2)
        self.assertEqual(out, "")
        self.assertIn(says, err)

    def test_what_is_wrong_is_said(self):
        self.refused(says="which task?")
        self.refused("whios", says="Did you mean whois?")
        self.refused("whois", "--no-scale", "--scale", "dk", says="choose one")
        self.refused("whois", "--heads", "3", says="do not divide")
        self.refused("whois", "--stop-at", "101", says="0 to 100")
        self.refused("whois", "--temperature", "0", says="temperature")
        self.refused("whois", "--lr", "-1", says="--lr")
        self.refused("--study", "layer", says="Did you mean layers?")
        self.refused("--study", "layers", "--save", "x", says="neither")

    def test_help_fits_in_80_columns_and_names_every_task(self):
        out = self.run_attn("help", "train")[0]
        for line in out.splitlines():
            self.assertLessEqual(len(line), 80, line)
        for task in "whois sense induction copy sort add".split():
            self.assertRegex(out, r"(?m)^  %s " % task)

    def test_progress_is_drawn_on_a_terminal_and_removed(self):
        master, slave = pty.openpty()
        child = subprocess.Popen([ATTN, "train", "copy", "--steps", "150"], cwd=self.folder.name, stderr=slave,
                                 stdout=subprocess.DEVNULL, env=dict(os.environ, NO_COLOR="1"))
        os.close(slave)
        shown = b""
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        os.close(master)
        self.assertEqual(child.wait(60), 0)
        self.assertIn(b"left  loss", shown)
        self.assertTrue(shown.endswith(b"\r\033[K"))


if __name__ == "__main__":
    main()
