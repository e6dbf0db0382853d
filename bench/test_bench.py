"""Tests of the harness itself, on programs made here. None looks at a time."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

import agree
import cases
import chart
import first_step
import harness
import measure
import report

LAP = r"^epoch \d+/\d+ "


def lap(at, **figures):
    return measure.Lap(at, figures)


def case(tolerance, expect=()):
    return cases.Case("toy", "a toy", "toy.tl", LAP, tolerance, dict(expect), [])


def run_of(*laps):
    return measure.Run(1.0, 0.5, 0.25, 2**20, list(laps))


class Measure(unittest.TestCase):
    def run_python(self, source):
        return measure.run([sys.executable, "-c", source], tempfile.gettempdir(), LAP)

    def test_counts_laps_in_order_and_reads_their_figures(self):
        run = self.run_python("print('hello loss=1'); print('epoch 1/2  loss=0.5  acc=1e-3'); print('epoch 2/2  loss=-.25 acc=-inf')")
        self.assertEqual([one.figures for one in run.laps], [{"loss": 0.5, "acc": 0.001}, {"loss": -0.25, "acc": float("-inf")}])
        self.assertLessEqual(run.laps[0].at, run.laps[1].at)
        self.assertLessEqual(run.laps[1].at, run.wall)

    def test_sees_the_memory_of_the_child(self):
        lean, fat = self.run_python("pass"), self.run_python("x = bytearray(200 << 20)")
        self.assertGreater(fat.peak - lean.peak, 150 << 20)

    def test_gives_each_run_an_empty_cache_folder(self):
        source = "import os; p = os.environ['XDG_CACHE_HOME']; print('epoch 1/1 n=%d' % len(os.listdir(p))); open(p + '/x', 'w')"
        for _ in range(2):
            self.assertEqual(self.run_python(source).laps[0].figures, {"n": 0})

    def test_keeps_a_cache_folder_that_is_named(self):
        source = "import os; p = os.environ['XDG_CACHE_HOME']; print('epoch 1/1 n=%d' % len(os.listdir(p))); open(p + '/x', 'w')"
        with tempfile.TemporaryDirectory() as cache:
            runs = [measure.run([sys.executable, "-c", source], cache, LAP, cache) for _ in range(2)]
        self.assertEqual([run.laps[0].figures["n"] for run in runs], [0, 1])

    def test_a_program_that_fails_is_an_error_with_its_words(self):
        with self.assertRaisesRegex(measure.Failed, "status 3:\nno such thing"):
            self.run_python("import sys; print('no such thing', file=sys.stderr); sys.exit(3)")


class Agree(unittest.TestCase):
    def test_passes_what_lies_within_the_tolerance(self):
        runs = {"a": run_of(lap(1, loss=0.5)), "b": run_of(lap(2, loss=0.509))}
        agree.check(case({"loss": 0.01}), runs)

    def assert_differs(self, text, *arguments, **runs):
        with self.assertRaisesRegex(measure.Failed, text):
            agree.check(case(*arguments), runs)

    def test_reports_figures_that_differ_between_programs(self):
        self.assert_differs("b, lap 1: loss is 0.52, not 0.5", {"loss": 0.01}, a=run_of(lap(1, loss=0.5)), b=run_of(lap(1, loss=0.52)))

    def test_reports_figures_that_differ_from_those_expected(self):
        self.assert_differs("a, lap 1: loss is 0.5, not 0.4", {"loss": 0.01}, {"loss": [0.4]}, a=run_of(lap(1, loss=0.5)))

    def test_reports_nan_missing_figures_and_missing_laps(self):
        fine = run_of(lap(1, loss=0.5))
        self.assert_differs("loss is nan", {"loss": 0.01}, a=fine, b=run_of(lap(1, loss=float("nan"))))
        self.assert_differs("no loss", {"loss": 0.01}, a=fine, b=run_of(lap(1)))
        self.assert_differs("b printed 0 laps", {"loss": 0.01}, a=fine, b=run_of())
        self.assert_differs("a printed 0 laps", {"loss": 0.01}, a=run_of())


class Report(unittest.TestCase):
    def result(self):
        def program(name, scale):
            run = {"wall": 4.0 * scale, "user": 1.0, "system": 0.5, "peak": scale * 2**28,
                   "laps": [{"at": 1.0 * scale, "figures": {"loss": 0.5}}, {"at": 2.0 * scale, "figures": {"loss": 0.25}}]}
            return {"name": name, "what": "a program", "runs": [run, run]}

        times = {"wall": 0.25, "user": 0.125, "cpu": 0.2}
        return {"case": "toy", "title": "A toy", "source": "toy.tl", "date": "2026-01-01", "rounds": 2,
                "machine": {"processor": "one", "system": "Linux", "versions": ["tpuc 1"]},
                "programs": [program("tpuc", 1), program("peer", 4)],
                "floor": {"flops": 2e9, "bytes": 3e9, "rates": {"flops": 8e9, "bytes": 6e9}},
                "binary": 3 << 20, "compiler": {"version": {kind: 0.1 for kind in times}, "check": times, "stablehlo": times}}

    def test_a_ratio_is_taken_within_each_round(self):
        self.assertEqual(report.ratio([2, 30, 4], [4, 60, 1], float), 0.5)

    def test_a_program_that_is_slow_is_compared_in_the_rounds_it_took_part_in(self):
        slow, quick = measure.Run(harness.SLOW + 1, 0, 0, 0), measure.Run(harness.SLOW, 0, 0, 0)
        self.assertEqual([harness.takes_part(slow, k) for k in range(3)], [True, False, False])
        self.assertTrue(all(harness.takes_part(quick, k) for k in range(3)))
        self.assertEqual(report.ratio([2, 30, 4], [8], float), 0.25)

    def test_the_table_shows_medians_ratios_and_the_compiler(self):
        text = report.table(self.result())
        self.assertRegex(text, r"\| tpuc +\| 1.00 s \(1.00 to 1.00\) \| 1.00 s .*\| 4.00 s .*\| 256 MiB .*\| loss 0.25")
        self.assertRegex(text, r"\| peer +\| 0.25 +\| 0.25 +\| 0.25 +\| 0.25 +\|")
        self.assertIn("a file of 3.0 MiB", text)
        self.assertRegex(text, r"loading taken off +\| 150 ms \| 25 ms +\| 100 ms")

    def test_the_floor_is_the_longer_of_arithmetic_and_traffic(self):
        self.assertEqual(report.floor(self.result()), 0.5)
        self.assertIn("tpuc takes 2.00 × of it", report.table(self.result()))

    def test_the_chart_has_a_bar_for_each_peer(self):
        svg = chart.svg([self.result()])
        self.assertIn("toy / peer", svg)
        self.assertIn(">0.25</text>", svg)

    def test_programs_of_a_single_lap_have_no_steady_one(self):
        result = self.result()
        for program in result["programs"]:
            for run in program["runs"]:
                del run["laps"][1:]
        text = report.table(result)
        self.assertRegex(text, r"\| tpuc +\| - +\|")
        self.assertNotIn("| tpuc over | epoch", text)

    def test_results_of_other_cases_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = cases.BENCH, report.RESULTS
            cases.BENCH, report.RESULTS = pathlib.Path(folder), pathlib.Path(folder, "results")
            try:
                report.keep(self.result())
                report.keep(self.result() | {"case": "other", "title": "Another"})
                text = pathlib.Path(folder, "RESULTS.md").read_text()
            finally:
                cases.BENCH, report.RESULTS = kept
        self.assertRegex(text, r"(?s)## Another\n.*## A toy\n")


class Cases(unittest.TestCase):
    def test_each_case_names_a_program_and_peers_that_exist(self):
        self.assertIn("mnist", cases.names())
        for name in cases.names():
            loaded = cases.load(name)
            for peer in loaded.programs[1:]:
                if peer.extra != "candle":
                    self.assertTrue(pathlib.Path(peer.command[1]).is_file(), peer.command[1])
            self.assertTrue(pathlib.Path(loaded.start).is_file(), loaded.start)
            self.assertEqual(len({program.name for program in loaded.programs}), len(loaded.programs))

    def test_peers_that_are_not_installed_are_left_out_and_said(self):
        loaded = case({}, {})
        loaded.programs = [cases.Program("here", "", []), cases.Program("there", "", [], "no_such_package")]
        with contextlib.redirect_stderr(io.StringIO()) as said:
            harness.leave_out(loaded)
        self.assertEqual([program.name for program in loaded.programs], ["here"])
        self.assertIn("`bench/run.sh --with no_such_package`", said.getvalue())


class FirstStep(unittest.TestCase):
    def test_is_where_the_longest_program_starts(self):
        def event(cat, ts, dur):
            return {"ph": "X", "cat": cat, "ts": ts, "dur": dur}

        events = [{"ph": "M"}, event("compile", 0, 400_000), event("execute", 410_000, 1_000), event("execute", 500_000, 900_000), event("fetch", 1_400_000, 100_000)]
        self.assertAlmostEqual(first_step.of_trace({"traceEvents": events}, 1.75), 0.75)


if __name__ == "__main__":
    unittest.main()
