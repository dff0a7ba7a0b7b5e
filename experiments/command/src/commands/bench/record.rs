use plimsoll_lab::report::rows::Row;
use plimsoll_lab::report::trace::TraceRow;

/// What was found out: one row per run, and what happened during the runs.
#[derive(Default)]
pub struct Record {
    pub rows: Vec<Row>,
    pub trace: Vec<TraceRow>,
}

impl Record {
    pub fn extend(&mut self, more: Self) {
        self.rows.extend(more.rows);
        self.trace.extend(more.trace);
    }
}
