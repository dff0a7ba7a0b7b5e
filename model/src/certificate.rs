//! A proof on record: what is claimed of an instance, and the witness.

use crate::bound::{BoundError, LowerBound, Witness, verify_bound};
use crate::claim::Claim;
use crate::csv::content_hash;
use crate::instance::Instance;
use crate::outcome::Outcome;
use crate::problem::InstanceProblem;
use crate::units::{BufferId, Bytes};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Version of the format written here.
pub const CERTIFICATE_VERSION: u32 = 2;

/// What was claimed of an instance, with the witness of its bound. Stored as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Format version, [`CERTIFICATE_VERSION`].
    pub version: u32,
    /// Name of the instance; it may be renamed.
    pub instance: String,
    /// Its [`content_hash`]: a certificate holds for no other instance.
    pub sha256: String,
    /// Number of its buffers.
    pub buffers: usize,
    /// Its capacity, bytes.
    pub capacity: Option<Bytes>,
    /// What the run claimed about the instance.
    pub claim: Claim,
    /// The peak of the layout, bytes.
    pub peak: Option<Bytes>,
    /// The bound and why it holds.
    pub lower_bound: CertifiedBound,
}

/// A [`LowerBound`] whose witness names buffers as the instance does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertifiedBound {
    /// The bound, bytes.
    pub value: Bytes,
    /// Why it holds; buffers by name.
    pub witness: Witness<String, String>,
}

/// Why a certificate does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum CertificateError {
    #[error("not a certificate: {0}")]
    Malformed(String),
    /// A format this version does not read.
    #[error(
        "certificate version {0} is not {CERTIFICATE_VERSION}; solve the instance again with --certificate"
    )]
    Version(u64),
    #[error(
        "the certificate is of another instance: {what} {certified} is certified, the instance has {actual}"
    )]
    OtherInstance { what: &'static str, certified: String, actual: String },
    #[error("the certificate speaks of {}, the layout has peak {actual}", peak_text(*.certified))]
    OtherPeak { certified: Option<Bytes>, actual: Bytes },
    /// A claim that peak and bound do not support.
    #[error("claim '{claim}' does not follow from {} and bound {bound}", peak_text(*.peak))]
    Claim { claim: Claim, peak: Option<Bytes>, bound: Bytes },
    /// A valid layout below a bound, or within a capacity that was called infeasible.
    #[error("a layout of peak {peak} refutes the claim '{claim}' with bound {bound}")]
    Refuted { claim: Claim, peak: Bytes, bound: Bytes },
    /// A witness that names what the instance does not have.
    #[error("the witness names '{0}', which the instance does not have")]
    UnknownName(String),
    /// A bound its witness does not show.
    #[error(transparent)]
    Bound(#[from] BoundError),
}

fn peak_text(peak: Option<Bytes>) -> String {
    peak.map_or_else(|| "no layout".to_owned(), |peak| format!("peak {peak}"))
}

impl CertifiedBound {
    /// The bound with the names of the instance.
    fn of(instance: &Instance, bound: &LowerBound) -> Self {
        let name = |id: BufferId| instance.buffer(id).name().to_owned();
        // No bound of an instance speaks of operators.
        let witness = bound.witness.clone().map(name, |operator| operator.to_string());
        Self { value: bound.value, witness }
    }

    /// The bound with the ids of the instance. O(n) for n buffers.
    ///
    /// # Errors
    /// [`CertificateError::UnknownName`].
    pub fn resolved(&self, instance: &Instance) -> Result<LowerBound, CertificateError> {
        let ids: HashMap<&str, BufferId> =
            instance.ids().map(|id| (instance.buffer(id).name(), id)).collect();
        let unknown = |name: String| CertificateError::UnknownName(name);
        let id = |name: String| ids.get(name.as_str()).copied().ok_or_else(|| unknown(name));
        let witness = self.witness.clone().try_map(id, |operator| Err(unknown(operator)))?;
        Ok(LowerBound::new(self.value, witness))
    }
}

impl Certificate {
    /// Puts an outcome on record.
    ///
    /// # Panics
    /// If the witness names a buffer that the instance does not have; the audit of a run says so first.
    pub fn of<P: InstanceProblem>(instance: &Instance, outcome: &Outcome<P>) -> Self {
        Self {
            version: CERTIFICATE_VERSION,
            instance: instance.name().to_owned(),
            sha256: content_hash(instance),
            buffers: instance.len(),
            capacity: instance.capacity(),
            claim: outcome.claim,
            peak: outcome.value,
            lower_bound: CertifiedBound::of(instance, &outcome.lower_bound),
        }
    }

    /// Reads a certificate.
    ///
    /// # Errors
    /// [`CertificateError::Version`] for one of another version, [`CertificateError::Malformed`] for what is none.
    pub fn from_json(text: &str) -> Result<Self, CertificateError> {
        let malformed = |error: serde_json::Error| CertificateError::Malformed(error.to_string());
        let value: serde_json::Value = serde_json::from_str(text).map_err(malformed)?;
        match value.get("version").and_then(serde_json::Value::as_u64) {
            Some(version) if version != u64::from(CERTIFICATE_VERSION) => {
                Err(CertificateError::Version(version))
            }
            // From the text again: errors then have a place.
            _ => serde_json::from_str(text).map_err(malformed),
        }
    }

    /// Confirms the certificate against the instance and the peak of a layout that the checker found valid, if there is
    /// one. Without a layout, what the certificate says of its peak is not confirmed.
    ///
    /// # Errors
    /// The first reason why it does not hold; [`BoundError::NotCheckable`] where only a search stands behind it, and
    /// nothing speaks against it.
    pub fn verify(
        &self,
        instance: &Instance,
        peak: impl Into<Option<Bytes>>,
    ) -> Result<(), CertificateError> {
        self.identify(instance)?;
        if let Some(peak) = peak.into() {
            if self.peak.is_some_and(|certified| certified != peak) {
                return Err(CertificateError::OtherPeak { certified: self.peak, actual: peak });
            }
            self.refute(instance, peak)?;
        }
        let (bound, claim, peak) = (self.lower_bound.value, self.claim, self.peak);
        // The claim is the one that the numbers give, no stronger and no weaker.
        let fits = peak.is_some_and(|peak| instance.capacity().is_none_or(|capacity| peak <= capacity));
        let drawn = match peak {
            Some(peak) if fits && peak == bound => Claim::Optimal,
            Some(_) if fits => Claim::Feasible,
            _ if bound > instance.limit() => Claim::Infeasible,
            _ => Claim::Unknown,
        };
        if drawn != claim || peak.is_some_and(|peak| bound > peak) {
            return Err(CertificateError::Claim { claim, peak, bound });
        }
        Ok(verify_bound(instance, &self.lower_bound.resolved(instance)?)?)
    }

    /// Refuses another version or another instance than the one certified.
    fn identify(&self, instance: &Instance) -> Result<(), CertificateError> {
        if self.version != CERTIFICATE_VERSION {
            return Err(CertificateError::Version(self.version.into()));
        }
        let capacity = |bytes: Option<Bytes>| bytes.map_or_else(|| "none".to_owned(), |b| b.to_string());
        let pairs = [
            ("number of buffers", self.buffers.to_string(), instance.len().to_string()),
            ("capacity", capacity(self.capacity), capacity(instance.capacity())),
            ("SHA-256", self.sha256.clone(), content_hash(instance)),
        ];
        match pairs.into_iter().find(|(_, certified, actual)| certified != actual) {
            Some((what, certified, actual)) => {
                Err(CertificateError::OtherInstance { what, certified, actual })
            }
            None => Ok(()),
        }
    }

    /// Holds the certificate against the peak of any valid layout.
    ///
    /// # Errors
    /// [`CertificateError::Refuted`] where a layout of that peak cannot exist if the certificate holds.
    pub fn refute(&self, instance: &Instance, peak: Bytes) -> Result<(), CertificateError> {
        let (bound, claim) = (self.lower_bound.value, self.claim);
        let fits = instance.capacity().is_none_or(|capacity| peak <= capacity);
        if bound > peak || claim == Claim::Infeasible && fits {
            return Err(CertificateError::Refuted { claim, peak, bound });
        }
        Ok(())
    }
}
