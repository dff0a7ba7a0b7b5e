//! `plimsoll view`: writes a page that shows a layout or a plan, and works without a server.

use super::{plan, solve};
use crate::args::bytes;
use crate::command::{Command, Main, Task};
use crate::failure::{ANSWERED, Failure};
use crate::format;
use crate::input::{folder_of, input_file};
use crate::output;
use crate::signals::First;
use base64::prelude::{BASE64_STANDARD, Engine};
use clap::{Args, Parser};
use plimsoll::datasets::{is_model, read_model};
use plimsoll::model::csv::{Pins, ReadOptions, read_instance_file_noted};
use plimsoll::model::{Offsets, Problem as _};
use plimsoll_support::contents::{Contents, FILE_LIMIT, name_of};
use plimsoll_support::files::is_stream;
use serde_json::{Map, Value, json};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// The page of `web/` without its engine, so it shows answers but computes none. `make web` writes this file.
const PAGE: &str = include_str!("view.html");

/// The element of the page that contains the data.
const DATA: &str = "id=\"data\">";

/// The name of the layout file, which the page reads.
const LAYOUT: &str = "layout.csv";

/// Options of `solve` that cannot be used, because the page needs a particular answer.
const NOT_OF_SOLVE: [&str; 6] = ["-o", "--output", "--certificate", "--json", "--problem", "--decide"];

/// Options of `plan` that cannot be used.
const NOT_OF_PLAN: [&str; 8] =
    ["-o", "--output", "--tensors", "--format", "--json", "--compare", "--conflicts", "--problem"];

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
    /// Open the page in the default browser
    #[arg(long)]
    open: bool,
    /// Options of `solve` for an instance, except --output, --certificate, --json, --problem and --decide; or
    /// of `plan` for a graph or model, except --output, --tensors, --format, --json, --compare, --conflicts
    /// and --problem
    #[arg(last = true, value_name = "OPTIONS")]
    options: Vec<String>,
}

impl Command for ViewArgs {
    const NAME: &str = "view";
    const ABOUT: &str = "Write an HTML page that shows a layout or a plan";
    const TASK: Task = Task::Instance;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll generate above-load --out a.csv && plimsoll view a.csv --output a.html",
            "Write a page that shows the optimal layout; --open opens it in a browser",
        ),
        (
            "plimsoll generate squeezenet --out net.json && plimsoll view net.json -- --time-limit 5",
            "Write net.html, with the best plan of a model found within 5 seconds",
        ),
    ];
    const SIGNAL: Option<First> = Some(First::KeepsAnswers);
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &ViewArgs) -> Result<u8, Failure> {
    let name = name_of(&args.file).with_extension("html");
    let own = folder_of(&args.file).join(name.file_name().unwrap_or_default());
    let target = args.output.clone().unwrap_or(own);
    let inputs: Vec<&Path> =
        [Some(args.file.as_path()), args.page.as_deref()].into_iter().flatten().collect();
    output::check_target(&target, &inputs)?;
    if args.open && (target == Path::new(output::STANDARD) || is_stream(&target)) {
        return Err(Failure::input(format!("--open requires a file, and '{}' is none", target.display())));
    }
    let page = match &args.page {
        Some(path) => fs::read_to_string(path).map_err(|error| unreadable(path, &error))?,
        None => PAGE.to_owned(),
    };
    let Some(at) = page.find(DATA).map(|at| at + DATA.len()) else {
        let path = args.page.as_deref().unwrap_or(Path::new(""));
        return Err(Failure::input(format!("{} is not a page built by `make web`", path.display())));
    };
    let is_instance = !is_model(&args.file);
    let options = Options::of(&args.options, is_instance)?;
    let contents = if is_instance {
        Contents::read(&args.file, FILE_LIMIT)
            .map_err(|error| Failure::input(format!("cannot read {}: {error}", args.file.display())))?
    } else {
        read_model(&args.file).map_err(Failure::input)?
    };
    let answer = answer(args, &options.passed, is_instance)?;
    let name = contents.name.file_name().and_then(OsStr::to_str).unwrap_or("input");
    let data = BASE64_STANDARD.encode(&contents.bytes);
    let mut given = json!({ "name": name, "data": data, "options": args.options, "answer": answer });
    if let Some(capacity) = options.capacity {
        given["capacity"] = capacity;
    }
    // A script element ends at the first `</script`.
    let given = given.to_string().replace('<', "\\u003c");
    output::write_file(&target, |file| {
        [&page[..at], &given, &page[at..]].into_iter().try_for_each(|part| file.write_all(part.as_bytes()))
    })?;
    output::print(&format!("{}: {} bytes\n", target.display(), page.len() + given.len()))?;
    if args.open {
        show(&target);
    }
    Ok(ANSWERED)
}

/// Opens a page in the default browser. A failure is only a warning, because the page has been written.
#[cfg(not(target_family = "wasm"))]
fn show(page: &Path) {
    if let Err(error) = std::path::absolute(page).and_then(open::that_detached) {
        output::complain(&format!("warning: cannot open {} in a browser: {error}", page.display()));
    }
}

/// Does nothing: `view` does not run in a browser.
#[cfg(target_family = "wasm")]
fn show(_: &Path) {}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("cannot read {}: {error}", path.display()))
}

/// The options after `--`.
struct Options {
    /// The options for `solve` or `plan`.
    passed: Vec<String>,
    /// The capacity in place of that of the file name, if an option sets it, or null if an option removes it.
    capacity: Option<Value>,
}

impl Options {
    /// Rejects options that cannot be used. The capacity of an instance is not passed on, because the page
    /// compares the layout without a capacity with it.
    fn of(given: &[String], is_instance: bool) -> Result<Self, Failure> {
        let refused: &[&str] = if is_instance { &NOT_OF_SOLVE } else { &NOT_OF_PLAN };
        let (mut passed, mut capacity) = (Vec::new(), None);
        let mut words = given.iter();
        while let Some(word) = words.next() {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word.as_str(), None),
            };
            let name = if name.starts_with("-o") { "-o" } else { name };
            if refused.contains(&name) {
                return Err(Failure::input(format!("view does not take {name}")));
            }
            if name == "--capacity" {
                let text = value.or_else(|| words.next().map(String::as_str));
                let text = text.ok_or_else(|| Failure::input("--capacity requires a value"))?;
                let wrong = |reason| Failure::input(format!("--capacity '{text}': {reason}"));
                capacity = Some(json!(bytes(text).map_err(wrong)?));
                if !is_instance {
                    passed.extend([name, text].map(str::to_owned));
                }
            } else if name == "--no-capacity" && is_instance {
                capacity = Some(Value::Null);
            } else {
                passed.push(word.clone());
            }
        }
        Ok(Self { passed, capacity })
    }
}

/// A command line without the name of its command.
#[derive(Parser)]
struct Line<A: Args> {
    #[command(flatten)]
    args: A,
}

/// Parses the words of a command line.
fn parsed<A: Args>(words: Vec<OsString>) -> Result<A, Failure> {
    let line = Line::try_parse_from([OsString::new()].into_iter().chain(words));
    line.map(|line| line.args).map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        Failure::input(first.strip_prefix("error: ").unwrap_or(first))
    })
}

/// Runs `solve` or `plan` as the page does, and returns its report and the files that it wrote.
fn answer(args: &ViewArgs, options: &[String], is_instance: bool) -> Result<Value, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::internal)?;
    let written: &[(&str, &str)] = if is_instance {
        &[("--output", LAYOUT), ("--certificate", "certificate.json")]
    } else {
        &[("--output", LAYOUT), ("--tensors", "tensors.json")]
    };
    let mut words: Vec<OsString> = vec![args.file.clone().into(), "--json".into()];
    if is_instance {
        // Without the capacity, there is a layout to show unless fixed offsets contradict each other.
        words.extend(["--no-capacity", "--problem", Offsets::NAME].map(Into::into));
    }
    // The page compares a plan in the file with the optimum. `solve` reports a file that cannot be read.
    let reading = ReadOptions { pins: Pins::Free, ..ReadOptions::default() };
    let has_offsets = options.iter().any(|word| word.split('=').next() == Some("--offsets"));
    if is_instance
        && !has_offsets
        && read_instance_file_noted(&args.file, reading).is_ok_and(|read| read.plan.is_some())
    {
        words.extend(["--offsets", "free"].map(Into::into));
    }
    for (option, name) in written {
        words.extend([option.into(), folder.path().join(name).into()]);
    }
    words.extend(options.iter().map(Into::into));
    let (code, out) = if is_instance {
        let args = parsed(words)?;
        output::kept(|| solve::main(&args))
    } else {
        let args = parsed(words)?;
        output::kept(|| plan::main(&args))
    };
    let mut files = Map::new();
    for (_, name) in written {
        if let Ok(data) = fs::read(folder.path().join(name)) {
            files.insert((*name).to_owned(), Value::from(BASE64_STANDARD.encode(&data)));
        }
    }
    Ok(json!({ "code": code?, "out": out, "err": "", "files": files }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_a_place_for_data() {
        assert_eq!(PAGE.matches(DATA).count(), 1);
    }
}
