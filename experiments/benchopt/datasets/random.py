"""Random buffers: log-uniform sizes and uniform lifespans."""

import numpy as np
import plimsoll
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "random"
    parameters = {"buffers": [100, 1000], "seed": [0, 1]}
    requirements = ["numpy"]

    def get_data(self):
        source = np.random.default_rng(self.seed)
        lower = source.integers(0, 2 * self.buffers, self.buffers)
        upper = lower + source.integers(1, max(2, self.buffers // 8), self.buffers)
        size = 64 * np.exp(source.uniform(0, 10, self.buffers)).astype(np.int64) + 64
        columns = {"lower": lower, "upper": upper, "size": size}
        return {"instance": plimsoll.Instance(columns, name=f"random-{self.buffers}-{self.seed}")}
