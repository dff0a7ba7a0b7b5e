//! Switches and settings of the search tree.

/// Switches and settings of the search, for ablation studies. All switches are on by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Whether to restart after runs whose lengths follow Luby's sequence. In each run, different noise
    /// affects the order of branches.
    ///
    /// This is sound because a restart loses only the position of the search. Memo entries remain valid.
    pub restarts: bool,
    /// Node limit of the shortest run.
    pub restart_base: u64,
    /// Number of equal shares into which the area of all buffers is divided. The search does not return to
    /// the root after every run. It may return to a point where the path completed a further share, and retry
    /// the rest from there. The value 0 disables this.
    ///
    /// This is sound because a retry excludes no branch. The alternatives to the kept decisions are tried
    /// later, at the latest after the search has restarted from the root.
    pub levels: u32,
    /// Number of runs from each point where the path completed a share; see `levels`.
    pub tries: u32,
    /// Whether to look one step ahead before branching. Options are ranked by their effects, and options that
    /// fail immediately are removed.
    ///
    /// This is sound because options may be tried in any order, and an option that fails in lookahead leads
    /// to no layout.
    pub lookahead: bool,
    /// Number of options that lookahead tries per node, in descending order of score. It always tries the
    /// empty floor as well. The other options follow in their original order.
    pub looks: usize,
    /// Number of initial runs from the root without lookahead and levels. They settle easy instances.
    pub plain_runs: u64,
    /// Whether to store components that cannot be completed.
    ///
    /// This is sound because keys contain everything on which completion depends: the floors, which of them
    /// are real, and the unplaced buffers. Keys are compared in full.
    pub memo: bool,
    /// Memory limit of the memo, in bytes.
    pub memo_bytes: usize,
    /// Minimum number of nodes of the search of a component that is stored. Repeating a shorter search is as
    /// fast as a lookup.
    pub memo_least: u64,
    /// Whether to prune the state if the buffers that fit into a valley cannot fill a section up to the lower
    /// wall, and the unfilled part exceeds the slack.
    ///
    /// This is sound because a buffer that covers the section and does not fit into the valley covers a wall.
    /// It therefore lies at or above the wall. At least `depth - fitting` units of the section below the wall
    /// remain empty.
    pub wall_waste: bool,
    /// Whether to try only the first of several unplaced buffers with the same sections and size.
    ///
    /// This is sound because exchanging twins changes no floor.
    pub twins: bool,
    /// Whether to prefer sections that failed often. Each failure counts slightly more than the one before.
    pub failure_weights: bool,
    /// Relative amplitude of the noise in the scores of buffers.
    pub noise: f64,
    /// Relative bonus of a buffer for each wall that it touches.
    pub touch: f64,
    /// Factor for the score of a buffer whose top is level with the lower wall.
    pub flush: f64,
    /// Weight of consumed slack in the order of options. Dividing the slack of one section by `e` counts as
    /// much as dividing the score by `e^burn`.
    pub burn: f64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            restarts: true,
            restart_base: 500,
            levels: 10,
            tries: 2,
            lookahead: true,
            plain_runs: 24,
            looks: 3,
            memo: true,
            memo_bytes: 256 << 20,
            memo_least: 4,
            wall_waste: true,
            twins: true,
            failure_weights: true,
            noise: 0.2,
            touch: 0.5,
            flush: 5.0,
            burn: 8.0,
        }
    }
}
