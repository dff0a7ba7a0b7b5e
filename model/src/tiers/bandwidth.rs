//! What buses and addresses of a tiered machine must be able to do (S3, section 3).

use super::machine::{TierKind, TierMachine};
use crate::units::Bytes;
use serde::Serialize;

/// What a switch must carry for units that move so many bytes per second each: their sum (S3, eq. 10).
pub fn switch_bandwidth(units: impl IntoIterator<Item = u64>) -> u128 {
    units.into_iter().map(u128::from).sum()
}

/// What the bus inside a unit must carry: its elements times what each needs (S3, eq. 11).
pub fn bus_bandwidth(elements: u64, local: u64) -> u128 {
    u128::from(elements) * u128::from(local)
}

/// Bits of the high addresses of shared memories of these capacities: the sum of the logarithms to base 2, each rounded
/// up (S3, section 3.2). A memory of one byte or none has none.
pub fn address_width(capacities: impl IntoIterator<Item = Bytes>) -> u32 {
    let bits = |capacity: Bytes| match capacity.get() {
        0 | 1 => 0,
        capacity => 64 - (capacity - 1).leading_zeros(),
    };
    capacities.into_iter().map(bits).sum()
}

/// One demand on a bandwidth. `holds` where both numbers are there and it is met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BandwidthCheck {
    /// `switch`, or the bus of a unit.
    pub what: String,
    /// Bytes per second that are needed; none where the machine does not say.
    pub needed: Option<u128>,
    /// Bytes per second that there are; none where the machine does not say.
    pub given: Option<u64>,
}

impl BandwidthCheck {
    /// Whether it is met; none where a number is missing.
    pub fn holds(&self) -> Option<bool> {
        Some(u128::from(self.given?) >= self.needed?)
    }
}

impl TierMachine {
    /// Eq. 10 for the switch, then eq. 11 for the bus of every unit.
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

    /// Bits of the high addresses of its memories between units.
    pub fn address_width(&self) -> u32 {
        address_width(self.tiers.iter().filter(|tier| tier.kind == TierKind::Ram).map(|tier| tier.capacity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demands_are_those_of_the_paper() {
        assert_eq!(switch_bandwidth([3, 4, 5]), 12);
        assert_eq!(switch_bandwidth([u64::MAX, u64::MAX]), 2 * u128::from(u64::MAX));
        assert_eq!(bus_bandwidth(256, 200_000_000), 51_200_000_000);
        // 19 + 19 + 18 bits; a power of two takes its own logarithm.
        let width = |capacities: [u64; 3]| address_width(capacities.map(Bytes::new));
        assert_eq!(width([393_216, 393_217, 262_144]), 56);
        assert_eq!(width([1024, 1025, 1]), 21);
        assert_eq!(width([0, 2, 3]), 3);
    }

    #[test]
    fn the_platform_of_the_paper_meets_its_own_demands() {
        for (name, _) in super::super::TIER_PRESETS {
            let machine = TierMachine::find(name).unwrap();
            assert!(machine.bandwidths().iter().all(|one| one.holds() != Some(false)), "{name}");
        }
        let machine = TierMachine::find("s3-platform").unwrap();
        assert!(machine.bandwidths().iter().all(|one| one.holds() == Some(true)));
        assert_eq!(machine.address_width(), 18 + 19 + 18);
    }
}
