//! Derivations by name: rules that turn any instance into another one, with named parameters and a seed.

use crate::derive::{reversed, thinned};
use crate::error::GenerateError;
use crate::family::{Generator, family, param};
use crate::refill::{refilled, welded};
use plimsoll_model::Instance;
use std::collections::BTreeMap;

/// A function that derives an instance from another.
pub type Derive = Box<dyn Fn(&Instance) -> Result<Instance, GenerateError>>;

/// A derivation of instances.
pub type Derivation = Generator<Derive>;

impl Derivation {
    /// Derives an instance. Its name consists of the name of the original instance, the derivation, the given
    /// parameters and the seed.
    ///
    /// # Errors
    /// [`GenerateError`] if a parameter is unknown or out of range, or if the sizes exceed the address space.
    pub fn derive(
        &self,
        origin: &Instance,
        seed: u64,
        params: &BTreeMap<String, u64>,
    ) -> Result<Instance, GenerateError> {
        let (make, name) = self.make_named(seed, params)?;
        Ok(make(origin)?.with_name(format!("{}-{name}", origin.name())))
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
            Ok(Box::new(move |origin| refilled(origin, unit, seed)))
        },
    ),
    family(
        "welded",
        "derived from --of FILE: buffers of equal size are joined where one ends as another begins",
        &[],
        |_, seed| Ok(Box::new(move |origin| Ok(welded(origin, seed)))),
    ),
    family(
        "thinned",
        "derived from --of FILE: a random part of the buffers",
        &[param("keep", 95, "percentage of the buffers that are kept").up_to(100)],
        |params, seed| {
            let keep = params.percent("keep")? as f64 / 100.0;
            Ok(Box::new(move |origin| thinned(origin, keep, seed)))
        },
    ),
    family("reversed", "derived from --of FILE: time runs backwards", &[], |_, _| {
        Ok(Box::new(|origin| Ok(reversed(origin))))
    }),
];

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
            Derivation::named(name).unwrap().derive(&origin, 7, params).unwrap()
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
        let odd = Derivation::named("welded").unwrap().derive(&origin, 7, &keep);
        assert!(odd.unwrap_err().to_string().contains("keep"));
    }
}
