//! Switches and settings of valley branching.

/// Switches of the search, for ablation; all on by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Restart after a run of Luby length, with different noise in the order of branches.
    ///
    /// Sound: a restart only loses the position of the search; memo entries stay valid.
    pub restarts: bool,
    /// Nodes of the shortest run.
    pub restart_base: u64,
    /// A finished run does not always restart from the root. Its path is cut back to the point where another
    /// of this many equal shares of the area was placed, and the rest is retried from there; 0 disables it.
    ///
    /// Sound: the kept part is a sequence of decisions whose other branches remain to be tried, and the path
    /// is abandoned as a whole in the end.
    pub levels: u32,
    /// Runs from each such point.
    pub tries: u32,
    /// Look one step ahead before branching: the effects of an option decide its rank, and options that fail
    /// at once are dropped.
    ///
    /// Sound: the order is free, and a failed look is a failed node.
    pub lookahead: bool,
    /// Number of options looked at per node, the best-scored ones and the empty floor; the others follow
    /// unchanged.
    pub looks: usize,
    /// Number of initial runs from the root without lookahead, which settle easy instances.
    pub plain_runs: u64,
    /// Store components without a layout.
    ///
    /// Sound: whether a component can be completed depends on its floors, which of them are real, and its
    /// unplaced buffers. Keys are compared in full.
    pub memo: bool,
    /// Memory limit of the memo, bytes.
    pub memo_bytes: usize,
    /// Store only components whose search took at least this many nodes; smaller ones are searched again as
    /// fast as they are looked up.
    pub memo_least: u64,
    /// Fail if the buffers that fit into a valley cannot fill a section up to the lower wall and slack does
    /// not cover the rest.
    ///
    /// Sound: a buffer that covers the section and does not fit into the valley covers a wall, so it lies at
    /// or above the wall. At least `depth - fitting` units of the section below the wall stay empty.
    pub wall_waste: bool,
    /// Try only the first of several unplaced buffers with the same sections and size.
    ///
    /// Sound: exchanging twins changes no floor.
    pub twins: bool,
    /// Prefer sections that failed often (a failure counts a little more than the one before).
    pub failure_weights: bool,
    /// Relative noise in the order of branches.
    pub noise: f64,
    /// Relative bonus of a buffer for each wall it touches.
    pub touch: f64,
    /// Score factor of a buffer whose top is level with the lower wall.
    pub flush: f64,
    /// Weight of consumed slack in the order of options. An option that leaves a section `1 / e` of its slack
    /// loses as much as one whose score is smaller by the factor `e` to the power of this.
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
