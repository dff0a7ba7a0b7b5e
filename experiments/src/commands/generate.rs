//! `plimsoll generate`: writes an instance of a family.

use crate::cli::GenerateArgs;
use crate::failure::{ANSWERED, Failure};
use crate::output;
use plimsoll::datasets::{FAMILIES, Family};
use plimsoll::model::csv::write_instance;
use plimsoll::model::load;
use std::path::PathBuf;

/// Runs the command.
pub fn main(args: &GenerateArgs) -> Result<u8, Failure> {
    let family = Family::named(&args.family).ok_or_else(|| {
        let names: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
        Failure::input(format!("unknown family '{}'; known are {}", args.family, names.join(", ")))
    })?;
    let name = || PathBuf::from(format!("{}-{}-{}.csv", family.name, args.buffers, args.seed));
    let path = args.out.clone().unwrap_or_else(name);
    output::check_target(&path, &[])?;
    let instance = family.make(args.buffers, args.seed).map_err(Failure::input)?;
    output::write_file(&path, |file| write_instance(&instance, file))?;
    output::print(&format!(
        "{}: {} buffers, load {}, written to {}\n",
        instance.name(),
        instance.len(),
        load(&instance).0,
        path.display()
    ))?;
    Ok(ANSWERED)
}
