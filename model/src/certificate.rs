//! A proof on record: what is claimed of an instance, and the witness.

use crate::bound::{BoundError, LowerBound, verify_bound};
use crate::instance::Instance;
use crate::outcome::{Claim, Outcome};
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Version of the format written here.
pub const CERTIFICATE_VERSION: u32 = 1;

/// What was claimed of an instance, with the witness of its bound. Stored as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Format version, [`CERTIFICATE_VERSION`].
    pub version: u32,
    /// Name of the instance.
    pub instance: String,
    /// Number of its buffers, to catch a mix-up.
    pub buffers: usize,
    /// What is claimed.
    pub claim: Claim,
    /// The peak of the layout, bytes.
    pub peak: Option<Bytes>,
    /// The bound and why it holds.
    pub lower_bound: LowerBound,
}

/// Why a certificate does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// A format this version does not read.
    #[error("certificate version {0} is not {CERTIFICATE_VERSION}")]
    Version(u32),
    /// It speaks of another instance.
    #[error("the certificate speaks of {certified} buffers, the instance has {actual}")]
    OtherInstance {
        /// Buffers in the certificate.
        certified: usize,
        /// Buffers in the instance.
        actual: usize,
    },
    /// It speaks of another layout.
    #[error("the certificate speaks of {}, the layout has peak {actual}", peak_text(*.certified))]
    OtherPeak {
        /// Peak in the certificate, bytes.
        certified: Option<Bytes>,
        /// Peak of the layout, bytes.
        actual: Bytes,
    },
    /// A claim that peak and bound do not support.
    #[error("claim '{claim}' does not follow from {} and bound {bound}", peak_text(*.peak))]
    Claim {
        /// The claim.
        claim: Claim,
        /// The peak, bytes.
        peak: Option<Bytes>,
        /// The bound, bytes.
        bound: Bytes,
    },
    /// A valid layout below a bound, or within a capacity that was called infeasible.
    #[error("the layout's peak {peak} refutes the claim '{claim}' with bound {bound}")]
    Refuted {
        /// The claim.
        claim: Claim,
        /// The peak of the layout, bytes.
        peak: Bytes,
        /// The bound, bytes.
        bound: Bytes,
    },
    /// A bound its witness does not show.
    #[error(transparent)]
    Bound(#[from] BoundError),
}

fn peak_text(peak: Option<Bytes>) -> String {
    peak.map_or_else(|| "no layout".to_owned(), |peak| format!("peak {peak}"))
}

impl Certificate {
    /// Puts an outcome on record.
    pub fn of<S>(instance: &Instance, outcome: &Outcome<S>) -> Self {
        Self {
            version: CERTIFICATE_VERSION,
            instance: instance.name().to_owned(),
            buffers: instance.len(),
            claim: outcome.claim,
            peak: outcome.value,
            lower_bound: outcome.lower_bound.clone(),
        }
    }

    /// Confirms the certificate against the instance and the peak of a layout that the checker found valid.
    ///
    /// # Errors
    /// The first reason why it does not hold; [`BoundError::NotCheckable`] where only a search stands behind it.
    pub fn verify(&self, instance: &Instance, peak: Bytes) -> Result<(), CertificateError> {
        if self.version != CERTIFICATE_VERSION {
            return Err(CertificateError::Version(self.version));
        }
        let (certified, actual) = (self.buffers, instance.len());
        if certified != actual {
            return Err(CertificateError::OtherInstance { certified, actual });
        }
        if self.peak.is_some_and(|certified| certified != peak) {
            return Err(CertificateError::OtherPeak { certified: self.peak, actual: peak });
        }
        let (bound, claim) = (self.lower_bound.value, self.claim);
        let fits = instance.capacity().is_some_and(|capacity| peak <= capacity);
        if bound > peak || claim == Claim::Infeasible && fits {
            return Err(CertificateError::Refuted { claim, peak, bound });
        }
        let follows = match self.claim {
            Claim::Optimal => self.peak == Some(bound),
            Claim::Feasible => self.peak.is_some_and(|peak| peak >= bound),
            Claim::Infeasible => instance.capacity().is_some_and(|capacity| bound > capacity),
            Claim::Unknown => true,
        };
        if !follows {
            return Err(CertificateError::Claim { claim: self.claim, peak: self.peak, bound });
        }
        Ok(verify_bound(instance, &self.lower_bound)?)
    }
}
