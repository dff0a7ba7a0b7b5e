//! Describes the build and the machine of a measurement, and measures the memory of processes.

use plimsoll_solvers::LIBRARIES;
use serde::{Deserialize, Serialize};
use std::fs;
use std::time::SystemTime;

/// The version and the commit of this build.
pub const VERSION: &str = env!("PLIMSOLL_VERSION");

/// The build and the machine, as stored with every row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The commit from which the binary was built, or `unknown`.
    pub commit: String,
    /// Whether tracked sources differed from `commit`, or `None` if that is unknown.
    pub dirty: Option<bool>,
    /// The version of plimsoll.
    pub version: String,
    /// The compiler, as `rustc --version` prints it.
    pub rustc: String,
    /// The Cargo profile of the build. It is `debug` for development builds.
    pub profile: String,
    /// The model name of the processor, or its architecture if the name is unknown.
    pub cpu: String,
    /// The number of hardware threads.
    pub cores: usize,
}

impl Machine {
    /// Returns this build and this machine.
    pub fn here() -> Self {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cpu = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        Self {
            commit: env!("PLIMSOLL_COMMIT").to_owned(),
            dirty: env!("PLIMSOLL_DIRTY").parse().ok(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rustc: env!("PLIMSOLL_RUSTC").to_owned(),
            profile: env!("PLIMSOLL_PROFILE").to_owned(),
            cpu: cpu.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Returns the size in bytes of the largest cache of the first processor, if the system reports it.
pub fn largest_cache() -> Option<u64> {
    let folders = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    let sizes = folders.filter_map(|folder| {
        let text = fs::read_to_string(folder.ok()?.path().join("size")).ok()?;
        let text = text.trim();
        let units = [("K", 10), ("M", 20), ("G", 30)];
        let (number, shift) = units
            .iter()
            .find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)))
            .unwrap_or((text, 0));
        number.parse::<u64>().ok()?.checked_mul(1 << shift)
    });
    sizes.max()
}

impl Machine {
    /// Returns the build (version, commit, profile, optional libraries and compiler) and the processor as a
    /// Markdown list.
    pub fn facts(&self) -> String {
        let dirty = match self.dirty {
            Some(true) => ", with local changes",
            None => ", local changes unknown",
            Some(false) => "",
        };
        format!(
            "- plimsoll {}, commit {}{dirty}, {} build {}\n- {}\n- {}, {} threads\n",
            self.version,
            self.commit,
            self.profile,
            features(),
            self.rustc,
            self.cpu,
            self.cores
        )
    }
}

/// Lists the optional libraries that this build includes, and those that it lacks.
fn features() -> String {
    let named = |is_present: bool| -> Vec<&str> {
        let its = LIBRARIES.iter().filter(|library| library.is_present == is_present);
        its.map(|library| library.feature).collect()
    };
    match (named(true).join(" and "), named(false).join(" and ")) {
        (there, none) if none.is_empty() => format!("with {there}"),
        (none, missing) if none.is_empty() => format!("without {missing}"),
        (there, missing) => format!("with {there}, without {missing}"),
    }
}

/// Returns the current time in UTC, formatted as `2026-01-31T23:59:59Z`.
pub fn timestamp() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// Measures the peak resident memory of this process since the start of the measurement.
///
/// Linux keeps one high-water mark per process (`VmHWM`) and lets a process reset its own mark. The mark
/// includes memory that was resident before the run, so it is an upper bound on the memory of the run. On
/// other systems, nothing is measured.
#[derive(Debug)]
pub struct MemoryMeter {
    reset: bool,
}

impl MemoryMeter {
    /// Resets the mark and starts the measurement.
    pub fn start() -> Self {
        Self { reset: fs::write("/proc/self/clear_refs", "5").is_ok() }
    }

    /// Returns the current mark in bytes, or `None` if it could not be reset or read.
    pub fn peak(&self) -> Option<u64> {
        if self.reset { high_water_mark("self") } else { None }
    }
}

/// Returns the peak resident memory (`VmHWM`) of a process, in bytes.
pub(crate) fn high_water_mark(process: &str) -> Option<u64> {
    memory(process, "VmHWM:")
}

/// Returns the resident memory of a process, in bytes.
pub(crate) fn resident(process: &str) -> Option<u64> {
    memory(process, "VmRSS:")
}

fn memory(process: &str, what: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(what))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_described() {
        let machine = Machine::here();
        assert!(machine.cores >= 1 && !machine.cpu.is_empty());
        assert!(machine.rustc.starts_with("rustc ") || machine.rustc == "unknown");
    }
}
