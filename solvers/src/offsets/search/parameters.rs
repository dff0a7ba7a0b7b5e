//! The parameters of `search`.

use super::arrangements::ArrangementRules;
use super::learn::LearnRules;
use super::tree::Rules;
use super::windows::WindowRules;
use plimsoll_model::Change;

/// How `search` decides whether a layout within a capacity exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branching {
    /// Valley branching if it applies, otherwise branching over cliques alternating with canonical branching.
    Suitable,
    /// Branching over cliques, even if valley branching applies.
    Cliques,
    /// Canonical branching, even if valley branching applies.
    Canonical,
}

/// Parameters of `search`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchParams {
    /// The branching method.
    pub branching: Branching,
    /// Switches for valley branching.
    pub rules: Rules,
    /// Switches for windows and sweeps; `None` disables both.
    pub windows: Option<WindowRules>,
    /// Switches for clause learning; `None` disables it.
    pub learn: Option<LearnRules>,
    /// Switches for sweeps over arrangements; `None` disables them.
    pub arrangements: Option<ArrangementRules>,
    /// Whether to raise the bounds of tight instances by searches on cores.
    pub cores: bool,
    /// Whether to improve layouts of tight instances by ejection search over orders.
    pub reorder: bool,
}

impl Default for SearchParams {
    fn default() -> Self {
        Self {
            branching: Branching::Suitable,
            rules: Rules::default(),
            windows: Some(WindowRules::default()),
            learn: Some(LearnRules::default()),
            arrangements: Some(ArrangementRules::default()),
            cores: true,
            reorder: true,
        }
    }
}

/// The parameters in the name of `search`, for ablation studies.
pub(super) const PARAMETERS: &[Change<SearchParams>] = &[
    ("-restarts", "a single run without restarts", |p| p.rules.restarts = false),
    ("-lookahead", "orders options by shape alone", |p| p.rules.lookahead = false),
    ("-levels", "starts every run from the root", |p| p.rules.levels = 0),
    ("-plain-runs", "uses lookahead and levels from the first run", |p| p.rules.plain_runs = 0),
    ("-memo", "no memo of failed states", |p| p.rules.memo = false),
    ("-wall-waste", "no bound on the space wasted next to walls", |p| p.rules.wall_waste = false),
    ("-twins", "tries interchangeable buffers separately", |p| p.rules.twins = false),
    ("-failure-weights", "does not weight sections by failures", |p| p.rules.failure_weights = false),
    ("branching=canonical", "canonical branching on intervals too", |p| p.branching = Branching::Canonical),
    ("branching=cliques", "branching over cliques on intervals too", |p| p.branching = Branching::Cliques),
    ("-windows", "only valley branching: no sweeps, no windows", |p| p.windows = None),
    ("-whole-sweep", "no sweep over all sections", |p| {
        p.windows.iter_mut().for_each(|rules| rules.whole = false);
    }),
    ("-beam", "no beam sweep to find layouts", |p| p.windows.iter_mut().for_each(|rules| rules.beam = false)),
    ("-inner-sweeps", "no sweeps from sections in the middle", |p| {
        p.windows.iter_mut().for_each(|rules| rules.sweeps = false);
    }),
    ("-sweep-ahead", "sweeps without lookahead", |p| p.windows.iter_mut().for_each(|rules| rules.ahead = 0)),
    ("-arrangements", "no sweeps over sets of arrangements", |p| p.arrangements = None),
    ("-arrangement-beam", "no beam sweeps over sets of arrangements to find layouts", |p| {
        p.arrangements.iter_mut().for_each(|rules| rules.beam = false);
    }),
    ("-meeting", "does not compare sweeps in opposite directions", |p| {
        p.arrangements.iter_mut().for_each(|rules| rules.meet = false);
    }),
    ("-bonds", "sweeps over sets of arrangements ignore later exchanges", |p| {
        p.arrangements.iter_mut().for_each(|rules| rules.bonds = false);
    }),
    ("-cores", "no searches on cores of windows", |p| p.cores = false),
    ("-reorder", "no ejection search over orders on tight instances", |p| p.reorder = false),
    ("-learning", "no clause learning", |p| p.learn = None),
    ("-stacks", "learning bounds a buffer by one buffer below it instead of the whole stack", |p| {
        p.learn.iter_mut().for_each(|rules| rules.stacks = false);
    }),
    ("-shortening", "does not shorten learnt clauses", |p| {
        p.learn.iter_mut().for_each(|rules| rules.shorten = false);
    }),
    ("-learnt-symmetry", "learning ignores twins and mirror images", |p| {
        p.learn.iter_mut().for_each(|rules| rules.symmetry = false);
    }),
];
