//! Derivations by name: rules that turn any instance into another one, with named parameters and a seed.

use crate::attributed::{AttributedParams, attributed};
use crate::derive::{reversed, thinned};
use crate::error::GenerateError;
use crate::family::{Generator, Params, family, param};
use crate::refill::{refilled, welded};
use plimsoll_model::{Instance, Layout};
use std::collections::BTreeMap;

type Derived = Result<Instance, GenerateError>;

/// A function that derives an instance from another one and a layout of it.
type FromLayout = dyn Fn(&Instance, &Layout) -> Derived;

/// A function that derives an instance from another.
#[expect(missing_debug_implementations, reason = "functions have no representation")]
pub enum Derive {
    /// Derives from an instance.
    Instance(Box<dyn Fn(&Instance) -> Derived>),
    /// Derives from an instance and a layout of it.
    Layout(Box<FromLayout>),
}

/// A derivation of instances.
pub type Derivation = Generator<Derive>;

impl Derivation {
    /// Derives an instance. Its name consists of the name of the original instance, the derivation, the given
    /// parameters and the seed. Only derivations that [need a layout](Self::needs_layout) use `layout`.
    ///
    /// # Errors
    /// [`GenerateError`] if a parameter is unknown or out of range, if a required layout is missing or not
    /// valid, or if the sizes exceed the address space.
    pub fn derive(
        &self,
        origin: &Instance,
        layout: Option<&Layout>,
        seed: u64,
        params: &BTreeMap<String, u64>,
    ) -> Result<Instance, GenerateError> {
        let (make, name) = self.make_named(seed, params)?;
        let made = match make {
            Derive::Instance(make) => make(origin)?,
            Derive::Layout(make) => {
                make(origin, layout.ok_or(GenerateError::NoLayout { derivation: self.name })?)?
            }
        };
        Ok(made.with_name(format!("{}-{name}", origin.name())))
    }

    /// Returns true if the derivation uses a layout of the original instance.
    pub fn needs_layout(&self) -> bool {
        matches!(self.make_named(0, &BTreeMap::new()), Ok((Derive::Layout(_), _)))
    }

    /// Returns the derivation with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        DERIVATIONS.iter().find(|derivation| derivation.name == name)
    }
}

/// All derivations of instances.
pub const DERIVATIONS: &[Derivation] = &[
    family(
        "refilled",
        "derived from --of FILE: the slack below the load is filled with similar buffers",
        &[param("unit", 0, "unit of the sizes of added buffers, bytes; 0: the grain of the instance")
            .up_to(1 << 60)],
        |params, seed| {
            let unit = Some(params.get("unit")).filter(|&unit| unit > 0);
            Ok(Derive::Instance(Box::new(move |origin| refilled(origin, unit, seed))))
        },
    ),
    family(
        "welded",
        "derived from --of FILE: buffers of equal size are joined where one ends as another begins",
        &[],
        |_, seed| Ok(Derive::Instance(Box::new(move |origin| Ok(welded(origin, seed))))),
    ),
    family(
        "thinned",
        "derived from --of FILE: a random part of the buffers",
        &[param("keep", 95, "percentage of the buffers that are kept").up_to(100)],
        |params, seed| {
            let keep = params.percent("keep")? as f64 / 100.0;
            Ok(Derive::Instance(Box::new(move |origin| thinned(origin, keep, seed))))
        },
    ),
    family("reversed", "derived from --of FILE: time runs backwards", &[], |_, _| {
        Ok(Derive::Instance(Box::new(|origin| Ok(reversed(origin)))))
    }),
    family(
        "attributed",
        "derived from --of FILE: attributes that a known layout satisfies, such as alignments, gaps and pins",
        &[
            param("aligned", 10, "percentage of the buffers that get an alignment").up_to(100),
            param("alignment", 4096, "largest alignment, bytes").up_to(1 << 60),
            param("ragged", 0, "percentage of the aligned buffers that shrink by less than their alignment")
                .up_to(100),
            param("groups", 1, "number of rigid groups of 2 to 4 buffers"),
            param("pins", 3, "number of buffers that are fixed at their offset"),
            param("gaps", 10, "number of gaps inside lifespans"),
            param("gap_steps", 1, "maximum length of these gaps, steps"),
            param(
                "binding_gaps",
                3,
                "number of gaps in which the layout places something else at the addresses of the buffer",
            ),
            param("separations", 3, "number of separated pairs"),
            param("exclusions", 3, "number of excluded pairs"),
            param("binding_exclusions", 0, "number of excluded pairs that share addresses in the layout"),
        ],
        |params, seed| {
            let params = attributes(params);
            Ok(Derive::Layout(Box::new(move |origin, layout| {
                Ok(attributed(origin, layout, &params, seed)?.0)
            })))
        },
    ),
];

fn attributes(params: &Params) -> AttributedParams {
    let count = |name| params.get(name) as usize;
    AttributedParams {
        aligned: params.get("aligned"),
        alignment: params.get("alignment"),
        ragged: params.get("ragged"),
        groups: count("groups"),
        pins: count("pins"),
        gaps: count("gaps"),
        gap_steps: params.get("gap_steps"),
        binding_gaps: count("binding_gaps"),
        separations: count("separations"),
        exclusions: count("exclusions"),
        binding_exclusions: count("binding_exclusions"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SmallParams, small_instance};
    use plimsoll_model::load;

    #[test]
    fn derivations_call_their_functions() {
        let origin = small_instance(SmallParams::with_features(9, 0), 4);
        let none = BTreeMap::new();
        let derived = |name, params: &BTreeMap<String, u64>| {
            Derivation::named(name).unwrap().derive(&origin, None, 7, params).unwrap()
        };
        assert_eq!(derived("refilled", &none).buffers(), refilled(&origin, None, 7).unwrap().buffers());
        let unit = BTreeMap::from([("unit".to_owned(), 3)]);
        let full = derived("refilled", &unit);
        assert_eq!(full.name(), format!("{}-refilled-unit-3-7", origin.name()));
        assert_eq!(full.buffers(), refilled(&origin, Some(3), 7).unwrap().buffers());
        assert_eq!(load(&derived("welded", &none)), load(&welded(&origin, 7)));
        let keep = BTreeMap::from([("keep".to_owned(), 50)]);
        assert_eq!(derived("thinned", &keep).buffers(), thinned(&origin, 0.5, 7).unwrap().buffers());
        assert_eq!(derived("reversed", &none).buffers(), reversed(&origin).buffers());
        let layout = Layout::from_raw((0..9).map(|at| at << 4));
        let attributed = Derivation::named("attributed").unwrap();
        let pins = BTreeMap::from([("pins".to_owned(), 9)]);
        let fixed = attributed.derive(&origin, Some(&layout), 7, &pins).unwrap();
        assert_eq!(fixed.buffers().iter().filter(|b| b.fixed().is_some()).count(), 9);
        assert!(attributed.needs_layout() && !Derivation::named("welded").unwrap().needs_layout());
        assert!(attributed.derive(&origin, None, 7, &pins).is_err());
        let odd = Derivation::named("welded").unwrap().derive(&origin, None, 7, &keep);
        assert!(odd.unwrap_err().to_string().contains("keep"));
    }
}
