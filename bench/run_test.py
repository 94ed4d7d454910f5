#!/usr/bin/env python3
"""run_test.py: what bench/run.py makes of rounds, and the format of its file."""
import json
import os
import pathlib
import sys
import tempfile
import time
import types
import unittest

import run
import wrk

QUIET = 1.0


class KeepQuiet(unittest.TestCase):
    def test_quiet_rounds_are_all_kept(self):
        rounds = [(QUIET, value) for value in (10, 11, 10, 12, 11, 10)]
        self.assertEqual(run.keep_quiet(rounds, "ns/op", QUIET), [10, 11, 10, 12, 11, 10])

    def test_a_round_after_a_slow_spin_is_dropped(self):
        rounds = [(QUIET, 10), (QUIET * 1.2, 11), (QUIET * 1.05, 12)]
        self.assertEqual(run.keep_quiet(rounds, "ns/op", QUIET), [10, 12])

    def test_the_slowest_spins_go_first_and_at_most_a_third_of_the_rounds(self):
        rounds = [(QUIET * (2 + number), number) for number in range(6)]
        self.assertEqual(run.keep_quiet(rounds, "ns/op", QUIET), [0, 1, 2, 3])

    def test_a_value_far_above_the_median_is_dropped(self):
        rounds = [(QUIET, value) for value in (10, 11, 12, 50, 11, 10)]
        self.assertEqual(run.keep_quiet(rounds, "ns/op", QUIET), [10, 11, 12, 11, 10])

    def test_a_value_far_below_the_median_is_kept_unless_more_is_better(self):
        rounds = [(QUIET, value) for value in (100, 101, 102, 5, 101, 100)]
        self.assertIn(5, run.keep_quiet(rounds, "ns/op", QUIET))
        self.assertNotIn(5, run.keep_quiet(rounds, "1/s", QUIET))

    def test_a_count_that_differs_once_is_kept(self):
        rounds = [(QUIET, value) for value in (0, 0, 0, 1, 0, 0)]
        self.assertIn(1, run.keep_quiet(rounds, "count/op", QUIET))

    def test_two_rounds_are_never_dropped(self):
        self.assertEqual(run.keep_quiet([(9, 1), (1, 100)], "ns/op", 1), [1, 100])


class Summaries(unittest.TestCase):
    MEASURED = {
        ("pitsaw", "yield", "time", "ns/op"): [(QUIET, 4.0), (QUIET, 6.0), (QUIET, 5.0)],
        ("peer", "yield", "time", "ns/op"): [(QUIET, 10.0), (QUIET, 10.0), (QUIET, 10.0)],
        ("peer", "nested", "time", "ns/op"): [(QUIET, 7.0)],
    }
    RESULTS = run.summarise(MEASURED)

    def test_each_figure_has_the_agreed_keys(self):
        self.assertEqual(self.RESULTS[0], {"subject": "pitsaw", "case": "yield", "metric": "time", "unit": "ns/op",
                                           "median": 5.0, "min": 4.0, "max": 6.0, "rounds": 3})

    def test_the_table_has_the_ratio_to_ours_and_a_dash_without_ours(self):
        lines = list(run.table(self.RESULTS))
        self.assertEqual(len(lines), 4)
        self.assertRegex(lines[2], r"yield +time +peer .* 2\.00$")
        self.assertRegex(lines[3], r"nested +time +peer .* -$")

    def test_any_subject_of_ours_is_the_reference(self):
        ours = {**self.RESULTS[0], "subject": "pitsaw-epoll"}
        self.assertEqual(run.reference_of([self.RESULTS[1], ours], self.RESULTS[1]), 5.0)

    def test_what_was_not_measured_has_no_median(self):
        median = run.medians(self.RESULTS)
        self.assertEqual(median("pitsaw", "yield", "time"), 5.0)
        self.assertIsNone(median("pitsaw", "nested", "time"))


class Figures(unittest.TestCase):
    def test_lines_of_a_program_become_figures(self):
        self.assertEqual(run.parse_figures("time ns/op 3.5\nframes count/op 1\n"),
                         [("time", "ns/op", 3.5), ("frames", "count/op", 1.0)])

    def test_anything_else_a_program_prints_is_an_error(self):
        with self.assertRaises(ValueError):
            run.parse_figures("warming up\n")


class Wrk(unittest.TestCase):
    def test_its_percentiles_are_those_of_the_latency(self):
        text = ("  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"
                "    Latency    31.58ms    9.20ms  85.60ms   71.99%\n"
                "    Req/Sec     3.09k   292.76     3.68k    70.50%\n  Latency Distribution\n     50%   31.40ms\n"
                "     99%   59.77ms\n  6233 requests in 2.04s, 9.09MB read\nRequests/sec:   3055.19\n")
        figures, requests = wrk.figures_of(text)
        self.assertEqual(requests, 6233)
        self.assertEqual({metric: round(value, 2) for metric, _, value in figures},
                         {"requests_per_s": 3055.19, "p50_us": 31400, "p99_us": 59770})


class Servers(unittest.TestCase):
    def test_the_processor_time_of_a_server_is_that_of_its_process(self):
        server = run.Server(types.SimpleNamespace(pid=os.getpid()))
        before = time.process_time()
        taken = server.cpu_seconds()
        self.assertLessEqual(before, taken)
        self.assertLessEqual(taken, time.process_time())


class Turns(unittest.TestCase):
    def setUp(self):
        self.tools = run.Tools(run.BENCH / "micro")

    def test_programs_that_run_by_turns_give_their_figures_in_order(self):
        program = "for i in 1 2 3; do sleep 0.01; done; echo time s $0"
        figures = self.tools.figures_by_turns(0.002, ["sh", "-c", program, 1], ["sh", "-c", program, 2])
        self.assertEqual(figures, [[("time", "s", 1.0)], [("time", "s", 2.0)]])

    def test_only_one_goes_on_at_a_time(self):
        sees = "import time; at = [time.monotonic()]\nwhile at[-1] < at[0] + 0.5: at.append(time.monotonic())\n" \
               "print('pause', 's', max(later - before for before, later in zip(at, at[1:])))"
        figures = self.tools.figures_by_turns(0.1, [sys.executable, "-c", sees], [sys.executable, "-c", sees])
        for (_, _, pause), in figures:
            self.assertGreaterEqual(pause, 0.09)

    def test_one_that_fails_fails_the_round(self):
        with self.assertRaises(run.Failed):
            self.tools.figures_by_turns(0.01, ["true"], ["false"])


MANIFEST = '''
QUESTION = "Which is first?"
ROUNDS = 2
order = []
def subject(name):
    def build(tools):
        if name == "missing":
            tools.lacking["frames"] = "only root may count them"
            raise tools.Absent("not on this machine")
        return lambda case: order.append((name, case)) or [("time", "ns/op", 1.0 if name == "pitsaw" else 2.0)]
    return (name, ["one", "two"], build)
SUBJECTS = [subject("pitsaw"), subject("peer"), subject("missing")]
def broken_demands(median):
    if median("pitsaw", "one", "time") < median("peer", "one", "time"):
        yield "ours is too fast"
'''


class Folder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        bench, run.BENCH = run.BENCH, pathlib.Path(self.temporary.name)
        self.addCleanup(setattr, run, "BENCH", bench)
        self.folder = run.BENCH / "small"
        self.folder.mkdir()
        (self.folder / "bench.py").write_text(MANIFEST)

    def test_the_file_begins_with_the_machine_and_names_who_is_absent(self):
        good = run.run_folder(self.folder, None, "")
        first, *figures = json.loads((run.BENCH / "out/small.json").read_text())
        self.assertFalse(good)
        self.assertEqual(first["question"], "Which is first?")
        self.assertEqual(first["absent"], {"missing": "not on this machine", "frames": "only root may count them"})
        self.assertEqual(first["broken_demands"], ["ours is too fast"])
        self.assertLessEqual({"machine", "kernel", "versions", "rule"}, set(first))
        self.assertEqual([(f["subject"], f["case"]) for f in figures],
                         [("pitsaw", "one"), ("peer", "one"), ("pitsaw", "two"), ("peer", "two")])

    def test_rounds_are_interleaved(self):
        manifest = run.load(self.folder)
        ready, _ = run.prepare(manifest, types.SimpleNamespace(Absent=run.Absent, lacking={}))
        run.measure(ready, 2, lambda line: None)
        self.assertEqual(manifest.order, [("pitsaw", "one"), ("peer", "one"), ("pitsaw", "two"), ("peer", "two")] * 2)


if __name__ == "__main__":
    unittest.main()
