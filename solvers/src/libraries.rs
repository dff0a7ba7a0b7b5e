//! The optional libraries.

/// An optional third-party library. Without its feature, the solvers that need it are absent from the
/// registries.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// The Cargo feature that links the library.
    pub feature: &'static str,
    /// The name of the library, as its authors write it.
    pub name: &'static str,
    /// The names of all solvers, for any problem, that need the library.
    pub solvers: &'static [&'static str],
    /// Whether the library computes in floating point. If so, its proofs depend on tolerances.
    pub is_floating: bool,
    /// Whether this build links the library.
    pub is_present: bool,
}

impl Library {
    /// Returns the optional library that a solver needs, if any. The name may end with parameters.
    pub fn of(solver: &str) -> Option<&'static Self> {
        let plain = solver.split_once(':').map_or(solver, |(plain, _)| plain);
        LIBRARIES.iter().find(|library| library.solvers.contains(&plain))
    }
}

/// Every optional library, linked or not.
pub const LIBRARIES: &[Library] = &[
    Library {
        feature: "ilp",
        name: "HiGHS",
        solvers: &["ilp", "pool-ilp"],
        is_floating: true,
        is_present: cfg!(feature = "ilp"),
    },
    Library {
        feature: "smt",
        name: "z3",
        solvers: &["smt"],
        is_floating: false,
        is_present: cfg!(feature = "smt"),
    },
];
