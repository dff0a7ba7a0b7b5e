//! Bandwidth and address-width requirements of a machine with memory tiers (cross-unit fusion, section 3).

use super::machine::{TierKind, TierMachine};
use crate::units::Bytes;
use serde::Serialize;

/// Returns the required bandwidth of a switch in bytes per second: the sum of the bandwidths of its units
/// (cross-unit fusion, eq. 10).
pub fn switch_bandwidth(units: impl IntoIterator<Item = u64>) -> u128 {
    units.into_iter().map(u128::from).sum()
}

/// Returns the required bandwidth of the bus inside a unit in bytes per second: the number of elements times
/// the local bandwidth of each (cross-unit fusion, eq. 11).
pub fn bus_bandwidth(elements: u64, local: u64) -> u128 {
    u128::from(elements) * u128::from(local)
}

/// Returns the number of high address bits for shared memories of the given capacities. This number is the
/// sum of the base-2 logarithms of the capacities, each rounded up (cross-unit fusion, section 3.2). A
/// memory of at most one byte needs no bits.
pub fn address_width(capacities: impl IntoIterator<Item = Bytes>) -> u32 {
    let bits = |capacity: Bytes| match capacity.get() {
        0 | 1 => 0,
        capacity => 64 - (capacity - 1).leading_zeros(),
    };
    capacities.into_iter().map(bits).sum()
}

/// A bandwidth requirement of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BandwidthCheck {
    /// The component: `switch`, or the bus of a unit.
    pub what: String,
    /// The required bytes per second; `None` if the description does not imply them.
    pub needed: Option<u128>,
    /// The available bytes per second; `None` if the description does not state them.
    pub given: Option<u64>,
}

impl BandwidthCheck {
    /// Returns true if the requirement is met; `None` if a number is missing.
    pub fn holds(&self) -> Option<bool> {
        Some(u128::from(self.given?) >= self.needed?)
    }
}

impl TierMachine {
    /// Returns the requirement for the switch (eq. 10), followed by the requirement for the bus of every unit
    /// (eq. 11).
    pub fn bandwidths(&self) -> Vec<BandwidthCheck> {
        let own: Option<Vec<u64>> = self.rates.iter().map(|unit| unit.bandwidth).collect();
        let switch = BandwidthCheck {
            what: "switch".to_owned(),
            needed: own.map(switch_bandwidth),
            given: self.switch,
        };
        let bus = |(unit, rates): (&crate::fusion::Unit, &super::machine::UnitRates)| BandwidthCheck {
            what: format!("bus of {}", unit.name),
            needed: rates.elements.zip(rates.local_bandwidth).map(|(count, each)| bus_bandwidth(count, each)),
            given: rates.bus_bandwidth,
        };
        [switch].into_iter().chain(self.units.list().iter().zip(&self.rates).map(bus)).collect()
    }

    /// Returns the number of high address bits for the on-chip memories between units.
    pub fn address_width(&self) -> u32 {
        address_width(self.tiers.iter().filter(|tier| tier.kind == TierKind::Ram).map(|tier| tier.capacity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_match_the_paper() {
        assert_eq!(switch_bandwidth([3, 4, 5]), 12);
        assert_eq!(switch_bandwidth([u64::MAX, u64::MAX]), 2 * u128::from(u64::MAX));
        assert_eq!(bus_bandwidth(256, 200_000_000), 51_200_000_000);
        // 19 + 19 + 18 bits. For a power of two, the logarithm is exact.
        let width = |capacities: [u64; 3]| address_width(capacities.map(Bytes::new));
        assert_eq!(width([393_216, 393_217, 262_144]), 56);
        assert_eq!(width([1024, 1025, 1]), 21);
        assert_eq!(width([0, 2, 3]), 3);
    }

    #[test]
    fn the_platform_of_the_paper_meets_its_own_requirements() {
        for (name, _) in super::super::TIER_PRESETS {
            let machine = TierMachine::find(name).unwrap();
            assert!(machine.bandwidths().iter().all(|one| one.holds() != Some(false)), "{name}");
        }
        let machine = TierMachine::find("s3-platform").unwrap();
        assert!(machine.bandwidths().iter().all(|one| one.holds() == Some(true)));
        assert_eq!(machine.address_width(), 18 + 19 + 18);
    }
}
