"""An instance in a CSV file, such as MiniMalloc's: `-d "CSV[path=A.1048576.csv]"`. Its capacity is ignored."""

import plimsoll
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "CSV"
    parameters = {"path": [None]}

    def skip(self):
        return self.path is None, "needs a path: -d 'CSV[path=FILE]'"

    def get_data(self):
        return {"instance": plimsoll.read_csv(self.path).with_capacity(None)}
