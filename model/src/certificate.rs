//! Certificates: stored claims about an instance, each with the witness of its bound.

use crate::bound::{BoundError, LowerBound, Witness};
use crate::claim::Claim;
use crate::csv::content_hash;
use crate::instance::Instance;
use crate::instance_problem::InstanceProblem;
use crate::json::json_from_slice;
use crate::offsets::verify_bound;
use crate::outcome::Outcome;
use crate::units::{BufferId, Bytes};
use crate::words::json_error;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The version of the certificate format.
pub const CERTIFICATE_VERSION: u32 = 2;

/// A claim about an instance, with the witness of its bound. Certificates are stored as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The format version, [`CERTIFICATE_VERSION`].
    pub version: u32,
    /// The name of the instance. It is informative only: a renamed instance still matches.
    pub instance: String,
    /// The [`content_hash`] of the instance. The certificate is valid for no other instance.
    pub sha256: String,
    /// The number of buffers of the instance.
    pub buffers: usize,
    /// The capacity of the instance in bytes; `None` if unlimited.
    pub capacity: Option<Bytes>,
    /// The claim of the run.
    pub claim: Claim,
    /// The peak of the layout in bytes; `None` if the run found no layout.
    pub peak: Option<Bytes>,
    /// The lower bound with its witness.
    pub lower_bound: CertifiedBound,
}

/// A [`LowerBound`] whose witness identifies buffers by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertifiedBound {
    /// The bound in bytes.
    pub value: Bytes,
    /// The witness, which identifies buffers by name.
    pub witness: Witness<String, String>,
}

/// The reason why a certificate is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum CertificateError {
    #[error("not a certificate: {0}")]
    Malformed(String),
    /// This build does not support the version of the certificate.
    #[error(
        "certificate version {0} is not supported; expected version {CERTIFICATE_VERSION}; solve the instance again with --certificate"
    )]
    Version(u64),
    #[error(
        "the certificate belongs to another instance: it states {what} {certified}, but the instance has {actual}"
    )]
    OtherInstance { what: &'static str, certified: String, actual: String },
    #[error("the certificate states {}, but the layout has peak {actual}", peak_text(*.certified))]
    OtherPeak { certified: Option<Bytes>, actual: Bytes },
    /// The claim does not follow from the peak and the bound.
    #[error("claim '{claim}' does not follow from {} and bound {bound}", peak_text(*.peak))]
    Claim { claim: Claim, peak: Option<Bytes>, bound: Bytes },
    /// A valid layout has a peak below the bound, or fits into a capacity that the certificate claims to be
    /// infeasible.
    #[error("a layout of peak {peak} refutes the claim '{claim}' with bound {bound}")]
    Refuted { claim: Claim, peak: Bytes, bound: Bytes },
    /// The witness contains a name that does not occur in the instance.
    #[error("the witness refers to '{0}', which the instance does not have")]
    UnknownName(String),
    /// The witness does not prove the bound.
    #[error(transparent)]
    Bound(#[from] BoundError),
}

fn peak_text(peak: Option<Bytes>) -> String {
    peak.map_or_else(|| "no layout".to_owned(), |peak| format!("peak {peak}"))
}

impl CertifiedBound {
    /// Converts the buffer ids in a bound to buffer names.
    fn of(instance: &Instance, bound: &LowerBound) -> Self {
        let name = |id: BufferId| instance.buffer(id).name().to_owned();
        // Bounds of an instance never refer to operators.
        let witness = bound.witness.clone().map(name, |operator| operator.to_string());
        Self { value: bound.value, witness }
    }

    /// Converts the buffer names in the bound to buffer ids. O(n) for n buffers.
    ///
    /// # Errors
    /// [`CertificateError::UnknownName`] if a name does not occur in the instance.
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
    /// Creates the certificate of an outcome.
    ///
    /// # Panics
    /// If the witness refers to a buffer that the instance does not have. The audit of a run rejects such an
    /// outcome.
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

    /// Reads a certificate from JSON.
    ///
    /// # Errors
    /// [`CertificateError::Version`] for an unsupported version. [`CertificateError::Malformed`] for any
    /// other text that is not a certificate.
    pub fn from_json(text: &str) -> Result<Self, CertificateError> {
        let malformed = |error: serde_json::Error| CertificateError::Malformed(json_error(&error));
        let value: serde_json::Value = serde_json::from_str(text).map_err(malformed)?;
        match value.get("version").and_then(serde_json::Value::as_u64) {
            Some(version) if version != u64::from(CERTIFICATE_VERSION) => {
                Err(CertificateError::Version(version))
            }
            // Parsing the text again gives errors with line and column.
            _ => json_from_slice(text.as_bytes()).map_err(malformed),
        }
    }

    /// Verifies the certificate for `instance`. `peak` is the peak of a layout that the checker accepted, if
    /// there is one. If `peak` is `None`, the certified peak is not verified.
    ///
    /// # Errors
    /// The first reason why the certificate is not valid. [`BoundError::NotCheckable`] means that nothing
    /// contradicts the certificate, but its bound rests on a search.
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
        // The claim must be exactly the one implied by peak, bound and capacity, no stronger and no weaker.
        let drawn = Claim::drawn(peak, bound, instance.capacity(), Some(instance.limit()));
        if drawn != claim || peak.is_some_and(|peak| bound > peak) {
            return Err(CertificateError::Claim { claim, peak, bound });
        }
        Ok(verify_bound(instance, &self.lower_bound.resolved(instance)?)?)
    }

    /// Rejects a certificate of another format version or of another instance.
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

    /// Compares the certificate with `peak`, the peak of a valid layout.
    ///
    /// # Errors
    /// [`CertificateError::Refuted`] if the certificate excludes a layout with that peak.
    pub fn refute(&self, instance: &Instance, peak: Bytes) -> Result<(), CertificateError> {
        let (bound, claim) = (self.lower_bound.value, self.claim);
        let fits = instance.capacity().is_none_or(|capacity| peak <= capacity);
        if bound > peak || claim == Claim::Infeasible && fits {
            return Err(CertificateError::Refuted { claim, peak, bound });
        }
        Ok(())
    }
}
