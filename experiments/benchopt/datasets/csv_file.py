"""An instance from a CSV file: `-d "CSV[path=A.1048576.csv]"`. The capacity in the file name is ignored."""

import plimsoll
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "CSV"
    parameters = {"path": [None]}

    def skip(self):
        return self.path is None, "needs a path: -d 'CSV[path=FILE]'"

    def get_data(self):
        return {"instance": plimsoll.read_csv(self.path).with_capacity(None)}
