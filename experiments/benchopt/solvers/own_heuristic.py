"""A template for your own heuristic: first fit in order of decreasing size."""

from benchopt import BaseSolver


class Solver(BaseSolver):
    name = "own-heuristic"
    sampling_strategy = "run_once"

    def set_objective(self, instance):
        self.buffers = list(zip(instance.lower.tolist(), instance.upper.tolist(), instance.size.tolist()))

    def run(self, _):
        placed = []
        self.offsets = [0] * len(self.buffers)
        for at in sorted(range(len(self.buffers)), key=lambda at: -self.buffers[at][2]):
            lower, upper, size = self.buffers[at]
            start = 0
            for other, end, first, last in placed:
                if first < upper and lower < last:
                    if other - start >= size:
                        break
                    start = max(start, end)
            self.offsets[at] = start
            placed.append((start, start + size, lower, upper))
            placed.sort()

    def get_result(self):
        return {"offsets": self.offsets}
