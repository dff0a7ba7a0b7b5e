//! `plimsoll convert`: converts between CSV and the structured schema of dsa-solver, and converts layouts to
//! allocations or C headers.

use crate::args::{EndpointsArg, InstanceArgs, OffsetsArg};
use crate::command::{Command, Main, Task};
use crate::commands::header::Header;
use crate::failure::{ANSWERED, Failure, REFUTED};
use crate::format;
use crate::input::{input_file, input_named};
use crate::output;
use crate::report::size;
use clap::Args;
use plimsoll::datasets::dsa::{Document, DsaError, Split, read_dsa_file, write_allocations, write_dsa};
use plimsoll::model::csv::{Pins, file_name, read_layout_file, write_instance};
use plimsoll::model::{Bytes, Instance, Layout, check_layout, load};
use plimsoll_lab::report::human;
use plimsoll_support::contents::{has_suffix, name_of};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub struct ConvertArgs {
    /// One JSON document, or CSV instances that become the pools of one document
    #[arg(value_name = "FILE", required = true, value_parser = input_file())]
    files: Vec<PathBuf>,
    /// Write to this file or folder. For a JSON document: a folder for one instance per pool, created if
    /// missing, or a .csv file if there is only one pool. For CSV instances, or with --layout: a .json file.
    /// For one CSV instance with its --layout: a C header, if the name ends in .h
    #[arg(long, short, value_name = "DIR|FILE")]
    output: PathBuf,
    /// Write this layout of a pool (a CSV file from `solve --output`) as allocations of the document, or as
    /// a C header; required once per pool that has buffers. POOL is a name or an id, and is optional if the
    /// buffers of the layout occur in only one pool
    #[arg(long, value_name = "[POOL=]FILE", value_parser = input_named())]
    layout: Vec<String>,
    /// Whether lifespans in the CSV files include their end [default: by column name; `upper` is half-open,
    /// and `end` is inclusive]
    #[arg(long, value_name = "CONVENTION")]
    endpoints: Option<EndpointsArg>,
    /// Whether the offsets in the CSV files fix buffers [default: fixed; a file in which every buffer has an
    /// offset is refused, unless its --layout is given]
    #[arg(long, value_name = "MEANING")]
    offsets: Option<OffsetsArg>,
}

impl Command for ConvertArgs {
    const NAME: &str = "convert";
    const ABOUT: &str =
        "Convert between CSV instances and dsa-solver's JSON format, which supports several memories";
    const TASK: Task = Task::Reference;
    const EXAMPLES: &[(&str, &str)] = &[
        (
            "plimsoll generate above-load --out a.csv && plimsoll convert a.csv --output a.json",
            "Write an instance in the format of dsa-solver",
        ),
        ("plimsoll convert a.json --output pools", "Write one instance per pool"),
    ];
    const MAIN: Main<Self> = |args, _| main(args);
}

fn main(args: &ConvertArgs) -> Result<u8, Failure> {
    let has = |path: &Path, suffix: &str| has_suffix(&name_of(path), &[suffix]);
    let odd = args.files.iter().find(|path| !has(path, "csv") && !has(path, "json"));
    if let Some(path) = odd {
        return Err(Failure::input(format!("{}: expected a .csv or .json file", path.display())));
    }
    match args.files.as_slice() {
        [document] if has(document, "json") && args.layout.is_empty() => to_csv(args, document),
        [document] if has(document, "json") => allocations(args, document),
        files => match files.iter().find(|path| has(path, "json")) {
            Some(path) => {
                Err(Failure::input(format!("{}: a JSON document must be the only input", path.display())))
            }
            None if format::is_header(&args.output) => to_header(args),
            None if !args.layout.is_empty() => Err(Failure::input(
                "--layout requires the JSON document of the pools as input, or an output ending in .h",
            )),
            None => to_json(args),
        },
    }
}

/// Reads a document and splits it into one instance per pool. Prints notes to standard error.
fn read(path: &Path) -> Result<(Document, Split), Failure> {
    let document = read_dsa_file(path)?;
    let split = document.split()?;
    for note in document.notes().iter().chain(&split.notes) {
        output::complain(&format!("note: {note}"));
    }
    Ok((document, split))
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn to_csv(args: &ConvertArgs, path: &Path) -> Result<u8, Failure> {
    if !args.output.is_dir() {
        output::check_format("--output", &args.output, format::CSV)?;
    }
    let (document, split) = read(path)?;
    let single = has_suffix(&args.output, &["csv"]);
    let files: Vec<PathBuf> = if single && !args.output.is_dir() {
        if split.pools.len() != 1 {
            let (count, output) = (split.pools.len(), args.output.display());
            let message = format!("{output}: {} has {count} pools; use a folder", path.display());
            return Err(Failure::input(message));
        }
        vec![args.output.clone()]
    } else {
        std::fs::create_dir_all(&args.output).map_err(|error| {
            Failure::input(format!("cannot create the folder {}: {error}", args.output.display()))
        })?;
        let file = |(name, pool): (String, &plimsoll::datasets::dsa::PoolInstance)| {
            args.output.join(file_name(&name, pool.instance.capacity()))
        };
        document.pool_names(&stem(path)).into_iter().zip(&split.pools).map(file).collect()
    };
    for file in &files {
        output::check_target(file, &[path])?;
    }
    let mut text = String::new();
    for (file, pool) in files.iter().zip(&split.pools) {
        let instance = &pool.instance;
        output::write_file(file, |output| write_instance(instance, output))?;
        let _ = writeln!(
            text,
            "{}: pool {} '{}', {}, load {}{}",
            file.display(),
            document.pools()[pool.pool].id,
            document.pools()[pool.pool].name,
            human::count(instance.len(), "buffer"),
            size(load(instance).0),
            instance.capacity().map_or_else(String::new, |capacity| format!(", capacity {}", size(capacity)))
        );
    }
    output::print(&text)?;
    Ok(ANSWERED)
}

/// Reads a CSV instance. `pins` is the default meaning of its offsets, as for `InstanceArgs::read`.
fn instance(args: &ConvertArgs, path: &Path, pins: Pins) -> Result<Instance, Failure> {
    let (endpoints, offsets) = (args.endpoints, args.offsets);
    let read = InstanceArgs { endpoints, offsets, ..InstanceArgs::default() }.read(path, pins)?;
    Ok(read.value)
}

/// Writes a layout of one CSV instance as a C header.
fn to_header(args: &ConvertArgs) -> Result<u8, Failure> {
    let ([file], [layout]) = (args.files.as_slice(), args.layout.as_slice()) else {
        let message = "a C header requires one CSV instance and its --layout (`solve -o FILE.h` writes both)";
        return Err(Failure::input(message));
    };
    output::check_target(&args.output, &[file, Path::new(layout)])?;
    let instance = instance(args, file, Pins::UnlessPlan)?.with_capacity(None);
    let layout = read_layout_file(Path::new(layout), &instance)?;
    let violations = check_layout(&instance, &layout);
    if !violations.is_empty() {
        let mut lines = String::new();
        for violation in &violations {
            let _ = writeln!(lines, "violation: {violation}");
        }
        output::print(&lines)?;
        let count = human::count(violations.len(), "violation");
        output::complain(&format!("{count}, so {} is not written", args.output.display()));
        return Ok(REFUTED);
    }
    let header = Header::of(&instance, &layout);
    output::write_file(&args.output, |output| header.write(output))?;
    let (buffers, arena) = (human::count(instance.len(), "buffer"), size(header.arena));
    output::print(&format!("{}: {buffers}, arena {arena}\n", args.output.display()))?;
    Ok(ANSWERED)
}

fn to_json(args: &ConvertArgs) -> Result<u8, Failure> {
    let inputs: Vec<&Path> = args.files.iter().map(AsRef::as_ref).collect();
    output::check_target(&args.output, &inputs)?;
    output::check_format("--output", &args.output, format::JSON)?;
    let read = |path: &PathBuf| instance(args, path, Pins::Fixed);
    let instances: Vec<Instance> = args.files.iter().map(read).collect::<Result<_, Failure>>()?;
    let mut wrong = None;
    let written = output::write_file(&args.output, |file| {
        write_dsa(&args.output, &stem(&args.output), &instances, file).map_err(|error| match error {
            DsaError::Io { source, .. } => source,
            error => {
                wrong = Some(error);
                std::io::ErrorKind::InvalidData.into()
            }
        })
    });
    wrong.map_or(Ok(()), Err)?;
    written?;
    let buffers: usize = instances.iter().map(Instance::len).sum();
    let pools = instances.len();
    output::print(&format!(
        "{}: {}, {}\n",
        args.output.display(),
        human::count(pools, "pool"),
        human::count(buffers, "buffer")
    ))?;
    Ok(ANSWERED)
}

fn allocations(args: &ConvertArgs, path: &Path) -> Result<u8, Failure> {
    let inputs: Vec<&Path> =
        [path].into_iter().chain(args.layout.iter().map(|given| named(given).1)).collect();
    output::check_target(&args.output, &inputs)?;
    output::check_format("--output", &args.output, format::JSON)?;
    let (document, split) = read(path)?;
    let layouts = layouts(args, path, &document, &split)?;
    let (mut text, mut broken) = (String::new(), 0_usize);
    for (pool, layout) in split.pools.iter().zip(&layouts) {
        let pool_of = &document.pools()[pool.pool];
        let capacity: Option<Bytes> = pool_of.capacity;
        let limit = capacity.map_or_else(String::new, |capacity| format!(" of {}", size(capacity)));
        let peak = size(layout.peak(&pool.instance));
        let _ = writeln!(text, "pool {} '{}': peak {peak}{limit}", pool_of.id, pool_of.name);
        for violation in check_layout(&pool.instance, layout) {
            broken += 1;
            let _ = writeln!(text, "violation: {violation}");
        }
    }
    let allocations = document.allocations(&split, &layouts);
    let wrong = document.check(&allocations);
    if broken > 0 {
        output::print(&text)?;
        output::complain(&format!(
            "{}, so {} is not written",
            human::count(broken, "violation"),
            args.output.display()
        ));
        return Ok(REFUTED);
    }
    if let Some(wrong) = wrong.first() {
        let message = format!("{}: every pool is valid, but {wrong}", path.display());
        return Err(Failure::internal(message));
    }
    output::write_file(&args.output, |file| write_allocations(&document, &allocations, file))?;
    let count = allocations.len();
    let _ = writeln!(text, "{}: {count} allocations, valid", args.output.display());
    output::print(&text)?;
    Ok(ANSWERED)
}

/// Splits a value of `--layout` into the pool, if it has one, and the file.
fn named(given: &str) -> (Option<&str>, &Path) {
    match given.split_once('=') {
        Some((pool, file)) if !Path::new(given).is_file() => (Some(pool), Path::new(file)),
        _ => (None, Path::new(given)),
    }
}

/// Returns one layout per pool; pools without buffers need no file.
fn layouts(
    args: &ConvertArgs,
    path: &Path,
    document: &Document,
    split: &Split,
) -> Result<Vec<Layout>, Failure> {
    let mut found: Vec<Option<Layout>> = vec![None; split.pools.len()];
    for given in &args.layout {
        let (at, layout) = match named(given) {
            (Some(pool), file) => {
                let is = |own: &plimsoll::datasets::dsa::Pool| own.name == pool || own.id.to_string() == pool;
                let at = document.pools().iter().position(is);
                let at = at.ok_or_else(|| {
                    let known: Vec<&str> = document.pools().iter().map(|own| own.name.as_str()).collect();
                    let (path, known) = (path.display(), known.join(", "));
                    Failure::input(format!("--layout {given}: {path} has no pool '{pool}' (known: {known})"))
                })?;
                (at, read_layout_file(file, &split.pools[at].instance)?)
            }
            (None, file) => fitting(file, path, split)?,
        };
        if found[at].replace(layout).is_some() {
            let pool = &document.pools()[at].name;
            return Err(Failure::input(format!("--layout {given}: pool '{pool}' already has a layout")));
        }
    }
    let fill = |(at, layout): (usize, Option<Layout>)| {
        let pool = &split.pools[at];
        if layout.is_none() && pool.members.iter().all(Vec::is_empty) {
            let fixed = pool.instance.buffers().iter().map(|b| b.fixed().unwrap_or_default());
            return Ok(Layout::new(fixed.collect()));
        }
        layout.ok_or_else(|| {
            let pool = &document.pools()[at].name;
            Failure::input(format!("{}: pool '{pool}' needs a --layout for its buffers", path.display()))
        })
    };
    found.into_iter().enumerate().map(fill).collect()
}

/// Returns the only pool that has the buffers of the layout in `file`, with that layout. Fails if no pool
/// or several pools have these buffers.
fn fitting(file: &Path, path: &Path, split: &Split) -> Result<(usize, Layout), Failure> {
    std::fs::metadata(file).map_err(|error| Failure::input(format!("{}: {error}", file.display())))?;
    let mut fits = Vec::new();
    let mut error = None;
    for (at, pool) in split.pools.iter().enumerate() {
        match read_layout_file(file, &pool.instance) {
            Ok(layout) => fits.push((at, layout)),
            Err(why) => error = Some(why),
        }
    }
    match (fits.len(), error) {
        (1, _) => Ok(fits.swap_remove(0)),
        (0, Some(why)) if split.pools.len() == 1 => Err(why.into()),
        (count, _) => Err(Failure::input(format!(
            "--layout {}: the layout fits {} pools of {}; name the pool as POOL=FILE",
            file.display(),
            if count == 0 { "no".to_owned() } else { count.to_string() },
            path.display()
        ))),
    }
}
