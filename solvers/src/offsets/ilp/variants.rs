//! Ablation variants of `ilp`, each with one or several components switched off.

use super::{Formulation, Ilp};
use plimsoll_model::{Build, Entry, Kind, Offsets, Setup, guarded};

pub(crate) const VARIANTS: &[Entry<Offsets>] = &[
    program("ilp:no-bridges", "no bridges between cliques", &|s| guarded(ilp(s, |f| f.bridges = 0))),
    program("ilp:no-stacking", "no stacking cuts", &|s| guarded(ilp(s, |f| f.stacking = false))),
    program("ilp:no-positions", "does not propagate offset ranges", &|s| {
        guarded(ilp(s, |f| f.positions = false))
    }),
    program("ilp:no-absorb", "keeps dominated buffers", &|s| guarded(ilp(s, |f| f.absorb = false))),
    program("ilp:no-symmetry", "keeps twins and mirror images", &|s| guarded(ilp(s, |f| f.symmetry = false))),
    program("ilp:no-decide", "minimises without first solving at the bound", &|s| {
        guarded(ilp(s, |f| f.decide = false))
    }),
    program("ilp:plain", "only big-M constraints", &|s| {
        guarded(ilp(s, |f| {
            *f = Formulation {
                absorb: false,
                positions: false,
                stacking: false,
                bridges: 0,
                symmetry: false,
                decide: false,
                ..*f
            };
        }))
    }),
];

const fn program(name: &'static str, about: &'static str, build: Build<Offsets>) -> Entry<Offsets> {
    Entry {
        name,
        kind: Kind::Exact,
        about,
        source: "ablation of ilp",
        time: "exponential at worst, like ilp",
        build,
    }
}

fn ilp(setup: Setup, change: fn(&mut Formulation)) -> Ilp {
    let mut formulation = Formulation::default();
    change(&mut formulation);
    Ilp::new(setup).with_formulation(formulation)
}
