//! `plimsoll verify`: the checker's word on a layout, and on the proof that goes with it.

use crate::cli::VerifyArgs;
use crate::failure::{ANSWERED, Failure, REFUTED};
use crate::output;
use plimsoll::model::csv::read_layout_file;
use plimsoll::model::{BoundError, Bytes, Certificate, CertificateError, Instance, check_layout, load};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// What became of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Standing {
    /// Claim, peak and witness hold.
    Confirmed,
    /// Claim and peak hold; the bound rests on a search that only repeating it can confirm.
    RestsOnSearch,
    /// It does not hold.
    Refused,
}

#[derive(Debug, Serialize)]
struct Report {
    instance: String,
    buffers: usize,
    valid: bool,
    peak: u64,
    load: u64,
    capacity: Option<u64>,
    violations: Vec<String>,
    certificate: Option<Standing>,
    certificate_message: Option<String>,
}

/// Runs the command.
pub fn main(args: &VerifyArgs) -> Result<u8, Failure> {
    let instance = args.input.read(&args.instance)?;
    let layout = read_layout_file(&args.layout, &instance)?;
    let certificate = args.certificate.as_deref().map(read_certificate).transpose()?;
    let violations: Vec<String> = check_layout(&instance, &layout).iter().map(ToString::to_string).collect();
    let peak = layout.peak(&instance);
    let standing = certificate.map(|certificate| judge(&certificate, &instance, peak));
    let (certificate, certificate_message) = standing.unzip();
    let report = Report {
        instance: instance.name().to_owned(),
        buffers: instance.len(),
        valid: violations.is_empty(),
        peak: peak.get(),
        load: load(&instance).0.get(),
        capacity: instance.capacity().map(Bytes::get),
        violations,
        certificate,
        certificate_message,
    };
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&report.table())?;
    }
    let holds = report.valid && report.certificate != Some(Standing::Refused);
    Ok(if holds { ANSWERED } else { REFUTED })
}

fn read_certificate(path: &Path) -> Result<Certificate, Failure> {
    let fail = |why: String| Failure::input(format!("{}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| fail(format!("cannot read: {error}")))?;
    serde_json::from_str(&text).map_err(|error| fail(format!("not a certificate: {error}")))
}

fn judge(certificate: &Certificate, instance: &Instance, peak: Bytes) -> (Standing, String) {
    let bound = &certificate.lower_bound;
    let what = format!("claim '{}', lower bound {}", certificate.claim, bound.value);
    match certificate.verify(instance, peak) {
        Ok(()) => (Standing::Confirmed, format!("{what} by {}", bound.witness)),
        Err(CertificateError::Bound(BoundError::NotCheckable(solver))) => {
            let message = format!(
                "{what} rests on a completed search by {solver}; only running it again can confirm it"
            );
            (Standing::RestsOnSearch, message)
        }
        Err(error) => (Standing::Refused, error.to_string()),
    }
}

impl Report {
    fn table(&self) -> String {
        let capacity = self.capacity.map_or_else(String::new, |bytes| format!(", capacity {bytes}"));
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(text, "{name:<12} {value}");
        };
        line(
            "instance",
            &format!("{}: {} buffers, load {}{capacity}", self.instance, self.buffers, self.load),
        );
        line("peak", &format!("{} bytes", self.peak));
        let verdict = match self.violations.len() {
            0 => "valid".to_owned(),
            1 => "invalid, 1 violation".to_owned(),
            n => format!("invalid, {n} violations"),
        };
        line("layout", &verdict);
        for violation in &self.violations {
            line("violation", violation);
        }
        if let (Some(standing), Some(message)) = (self.certificate, &self.certificate_message) {
            let word = match standing {
                Standing::Confirmed => "confirmed",
                Standing::RestsOnSearch => "not checkable",
                Standing::Refused => "refused",
            };
            line("certificate", &format!("{word}: {message}"));
        }
        text
    }
}
