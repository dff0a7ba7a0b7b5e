//! `plimsoll view`: writes a page that shows a layout or a plan, and works without a server.

use crate::failure::{ANSWERED, Failure};
use crate::format;
use crate::input::input_file;
use crate::output;
use base64::prelude::{BASE64_STANDARD, Engine};
use clap::Args;
use plimsoll::model::csv::{Pins, ReadOptions, read_instance_file_noted};
use serde_json::{Map, Value, json};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The page of `web/` without its engine, so it shows answers but computes none. `make web` writes this file.
const PAGE: &str = include_str!("view.html");

/// The element of the page that contains the data.
const DATA: &str = "id=\"data\">";

/// The name of the layout file, which the page reads.
const LAYOUT: &str = "layout.csv";

#[derive(Args, Debug)]
pub struct ViewArgs {
    /// Instance (.csv), graph (.json) or model (.onnx, .tflite)
    #[arg(value_name = "INSTANCE|GRAPH|MODEL", value_parser = input_file())]
    file: PathBuf,
    /// Write the page to this file [default: the name of the input, with the suffix .html]
    #[arg(long, short, value_name = "PAGE.html", value_parser = format::HTML.file())]
    output: Option<PathBuf>,
    /// Use this page instead of the built-in one. The page that `make web` builds contains the solver, so its
    /// controls work
    #[arg(long, value_name = "PAGE.html")]
    page: Option<PathBuf>,
    /// Options of `solve` for an instance, or of `plan` for a graph or model
    #[arg(last = true, value_name = "OPTIONS")]
    options: Vec<String>,
}

pub fn main(args: &ViewArgs) -> Result<u8, Failure> {
    let suffix = args.file.extension().and_then(OsStr::to_str).unwrap_or_default().to_lowercase();
    let target = args.output.clone().unwrap_or_else(|| args.file.with_extension("html"));
    output::check_target(&target, &[&args.file])?;
    let page = match &args.page {
        Some(path) => fs::read_to_string(path).map_err(|error| unreadable(path, &error))?,
        None => PAGE.to_owned(),
    };
    let Some(at) = page.find(DATA).map(|at| at + DATA.len()) else {
        let path = args.page.as_deref().unwrap_or(Path::new(""));
        return Err(Failure::input(format!("{} is not a page built by `make web`", path.display())));
    };
    let data = fs::read(&args.file).map_err(|error| unreadable(&args.file, &error))?;
    let answer = answer(args, suffix == "csv")?;
    let name = args.file.file_name().and_then(OsStr::to_str).unwrap_or("input");
    let given = json!({ "name": name, "data": BASE64_STANDARD.encode(&data), "options": args.options, "answer": answer });
    // A script element ends at the first `</script`.
    let given = given.to_string().replace('<', "\\u003c");
    output::write_file(&target, |file| {
        [&page[..at], &given, &page[at..]].into_iter().try_for_each(|part| file.write_all(part.as_bytes()))
    })?;
    output::print(&format!("{}: {} bytes\n", target.display(), page.len() + given.len()))?;
    Ok(ANSWERED)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("cannot read {}: {error}", path.display()))
}

/// Runs `solve` or `plan` as the page does, and returns its output and the files that it wrote.
fn answer(args: &ViewArgs, is_instance: bool) -> Result<Value, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::internal)?;
    let own = std::env::current_exe().map_err(Failure::internal)?;
    let (command, written): (_, &[(&str, &str)]) = if is_instance {
        ("solve", &[("--output", LAYOUT), ("--certificate", "certificate.json")])
    } else {
        ("plan", &[("--output", LAYOUT), ("--tensors", "tensors.json")])
    };
    let mut run = Command::new(own);
    run.arg(command).arg(&args.file).arg("--json");
    if is_instance {
        run.arg("--no-capacity");
    }
    // The page compares a plan in the file with the optimum. `solve` reports a file that cannot be read.
    let reading = ReadOptions { pins: Pins::Free, ..ReadOptions::default() };
    if is_instance && read_instance_file_noted(&args.file, reading).is_ok_and(|read| read.plan.is_some()) {
        run.args(["--offsets", "free"]);
    }
    for (option, name) in written {
        run.arg(option).arg(folder.path().join(name));
    }
    let done = run.args(&args.options).output().map_err(Failure::internal)?;
    let code = done.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX);
    let err = String::from_utf8_lossy(&done.stderr);
    if done.stdout.is_empty() {
        let message = err.trim().trim_start_matches("plimsoll: ").to_owned();
        return Err(Failure { code, message });
    }
    let mut files = Map::new();
    for (_, name) in written {
        if let Ok(data) = fs::read(folder.path().join(name)) {
            files.insert((*name).to_owned(), Value::from(BASE64_STANDARD.encode(&data)));
        }
    }
    Ok(json!({ "code": code, "out": String::from_utf8_lossy(&done.stdout), "err": err, "files": files }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_a_place_for_data() {
        assert_eq!(PAGE.matches(DATA).count(), 1);
    }
}
