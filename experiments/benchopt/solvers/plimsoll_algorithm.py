"""Any algorithm of Plimsoll for offsets; `plimsoll.algorithms()` lists them."""

import plimsoll
from benchopt import BaseSolver


class Solver(BaseSolver):
    name = "plimsoll"
    parameters = {"algorithm": ["exact", "greedy-by-size"], "time_limit": [10.0], "threads": [1]}
    sampling_strategy = "run_once"

    def set_objective(self, instance):
        self.instance = instance

    def run(self, _):
        self.solution = plimsoll.solve(
            self.instance, algorithm=self.algorithm, time_limit=self.time_limit, threads=self.threads
        )

    def get_result(self):
        return {"offsets": self.solution.offsets}
