//! Switches and settings of valley branching.

/// Switches of the search, for ablation; all on by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Start over after a Luby-long run of nodes, with other noise in the order of branches.
    ///
    /// Sound: a restart only forgets where the search was; what the memo knows stays true.
    pub restarts: bool,
    /// Nodes of the shortest run.
    pub restart_base: u64,
    /// A run that is over is not always started over from the ground: its path is cut back to where another of so many
    /// equal shares of the area was placed, and the rest is tried again from there; 0 for always from the ground.
    ///
    /// Sound: the part that is kept is a sequence of decisions whose other branches are still to be tried, and the
    /// path is given up as a whole in the end.
    pub levels: u32,
    /// Runs from each such place.
    pub tries: u32,
    /// Look one step ahead before branching: what an option forces decides about its place in the order, and those that
    /// fail at once are dropped.
    ///
    /// Sound: the order is free, and a failed look is a failed node.
    pub lookahead: bool,
    /// Options looked at in a node, the most attractive ones and laying nothing; the others come after them as they are.
    pub looks: usize,
    /// So many runs at first, all from the ground and without lookahead: easy instances need no more.
    pub plain_runs: u64,
    /// Remember components without a layout.
    ///
    /// Sound: whether a component can be completed depends on its floors, on which of them are real, and on who is
    /// unplaced in it, and keys are compared in full.
    pub memo: bool,
    /// Bytes the memo may take.
    pub memo_bytes: usize,
    /// Only components whose search took at least so many nodes are remembered: the others are searched again as fast
    /// as they are looked up.
    pub memo_least: u64,
    /// Fail where what fits into a valley cannot fill a section up to the lower wall and slack does not pay for the
    /// rest.
    ///
    /// Sound: what covers the section and does not fit into the valley covers a wall, so lies at or above it; at
    /// least `depth - fitting` units of the section below the wall stay empty.
    pub wall_waste: bool,
    /// Try only the first of several unplaced buffers with the same sections and size.
    ///
    /// Sound: exchanging twins changes no floor.
    pub twins: bool,
    /// Prefer sections that failed often (a failure counts a little more than the one before).
    pub failure_weights: bool,
    /// Relative noise in the order of branches.
    pub noise: f64,
    /// How much a buffer gains, as a share of its attraction, for each wall it touches.
    pub touch: f64,
    /// By how much a buffer's attraction is multiplied where its top is level with the lower wall.
    pub flush: f64,
    /// How much burnt slack counts in the order of options: an option that leaves a section `1 / e` of its slack loses
    /// as much as one whose attraction is smaller by the factor `e` to the power of this.
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
