"""Memory offset assignment: minimise the peak of a layout in which conflicting buffers share no bytes."""

import plimsoll
from benchopt import BaseObjective


class Objective(BaseObjective):
    name = "Peak memory"
    min_benchopt_version = "1.7"
    requirements = ["pip::plimsoll"]

    def set_data(self, instance):
        self.instance = instance

    def get_objective(self):
        return {"instance": self.instance}

    def evaluate_result(self, offsets):
        """Returns the peak (`value`) and the lower bound of the instance (`load`) in bytes, and the gap between
        them in percent of the bound. Raises an error if the independent checker rejects the layout."""
        violations = self.instance.violations(offsets)
        if violations:
            raise ValueError(f"invalid layout: {violations[0]}")
        peak, bound = self.instance.peak(offsets), self.instance.lower_bound()
        return {"value": peak, "gap_percent": 100 * (peak - bound) / bound if bound else 0.0, "load": bound}

    def get_one_result(self):
        size = self.instance.size
        return {"offsets": size.cumsum() - size}
