//! The plans that `plimsoll audit` audits: those of captured plans, models, instances and folders.

use super::args::AuditArgs;
use crate::commands::in_model;
use crate::commands::layouts::read;
use crate::commands::subject::{Subject, SubjectArgs};
use crate::failure::Failure;
use crate::input::shown;
use crate::output;
use plimsoll::datasets::captures::{Capture, CaptureProblem, capture_format, read_captures};
use plimsoll::model::csv::{
    CsvErrorKind, Given, Pins, ReadOptions, file_name, instance_name, read_instance_file, write_instance,
    write_layout,
};
use plimsoll::model::{Bytes, Instance, Layout};
use plimsoll_lab::suite::{exported_of, without_exported};
use plimsoll_support::contents::has_suffix;
use plimsoll_support::printable::is_hidden;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Maximum length of the stem of an exported file, in characters.
const LONGEST: usize = 100;

/// The plan of another planner.
pub(super) struct Case {
    pub(super) subject: Subject,
    /// The planner of a captured plan. For other plans, the name of the layout file, or `--planner-peak` if
    /// only the peak is known.
    pub(super) planner: String,
    pub(super) layout: Option<Layout>,
    /// The peak that the planner reports. Without it, the peak of the layout is used.
    pub(super) peak: Option<Bytes>,
}

impl Case {
    /// Creates a case from the layout file or the reported peak (`--planner-peak`).
    fn given(args: &AuditArgs, subject: Subject) -> Result<Self, Failure> {
        let peak = args.planner_peak.map(Bytes::new);
        let (planner, layout) = match (&args.layout, peak) {
            (Some(path), _) => (shown(path), Some(offsets(path, &subject.instance)?)),
            (None, Some(_)) => ("--planner-peak".to_owned(), None),
            (None, None) => {
                let file = shown(&args.subject.instance);
                let plan = subject.plan.clone().ok_or_else(|| {
                    Failure::input(format!(
                        "{file}: there is no plan to audit; specify LAYOUT, or the peak with --planner-peak"
                    ))
                })?;
                (file, Some(plan))
            }
        };
        Ok(Self { subject, planner, layout, peak })
    }

    /// Returns the names of the files for the instance and its layout.
    fn files(&self, stem: &str) -> [String; 2] {
        [file_name(stem, self.subject.instance.capacity()), format!("{stem}.layout.csv")]
    }

    /// Writes the instance and its layout as CSV files.
    pub(super) fn export(&self, folder: &Path, stem: &str, inputs: &[&Path]) -> Result<(), Failure> {
        let fail = |error| format!("cannot create the folder {}: {error}", folder.display());
        std::fs::create_dir_all(folder).map_err(|error| Failure::input(fail(error)))?;
        let instance = &self.subject.instance;
        let [own, placed] = self.files(stem);
        let file = folder.join(own);
        output::check_target(&file, inputs)?;
        output::write_file(&file, |file| write_instance(instance, file))?;
        let Some(layout) = &self.layout else { return Ok(()) };
        let file = folder.join(placed);
        output::check_target(&file, inputs)?;
        output::write_file(&file, |file| write_layout(instance, layout, file))
    }

    fn captured(capture: Capture) -> Self {
        let Capture { planner, instance, layout, peak } = capture;
        Self { subject: Subject::of(instance), planner, layout, peak }
    }
}

/// Reads a layout with one offset per buffer.
fn offsets(path: &Path, instance: &Instance) -> Result<Layout, Failure> {
    match read(path, instance)? {
        Given::Layout(layout) => Ok(layout),
        _ => Err(Failure::input(format!(
            "{}: `audit` reads only layouts with one offset per buffer; `compare` also reads other answers",
            path.display()
        ))),
    }
}

/// Returns the plans to be audited, and the number of files in the folder that contain no plan.
pub(super) fn cases(args: &AuditArgs) -> Result<(Vec<Case>, usize), Failure> {
    let file = args.subject.instance.as_path();
    if !file.is_dir() {
        let is_capture = capture_format(file).map_err(Failure::input)?.is_some();
        if !is_capture {
            let name = shown(file);
            if let Some(stem) = name.strip_suffix("-live-range.txt") {
                let text =
                    format!("{name} contains only live ranges; audit {stem}-buffer-assignment.txt instead");
                return Err(Failure::input(text));
            }
            let is_alone = args.layout.is_none() && args.planner_peak.is_none();
            let in_file = if is_alone { in_model::plan(file)? } else { None };
            if in_file.is_some() && args.subject.has_model_options() {
                let text = "options for models do not apply to the plan in the file, which has the lifespans of tflite-micro";
                return Err(Failure::input(text).about(file));
            }
            let case = match in_file {
                Some(capture) => Case::captured(capture),
                None => Case::given(args, args.subject.read(Pins::UnlessPlan)?)?,
            };
            return Ok((vec![case], 0));
        }
        let mut captures = read_captures(file).map_err(Failure::input)?;
        if let [Capture { peak: None, .. }] = captures[..] {
            let buffers = Subject::of(captures.remove(0).instance);
            return Ok((vec![Case::given(args, buffers)?], 0));
        }
        let cases = own_plans_only(args).map(|()| captures.into_iter().map(Case::captured).collect());
        return Ok((cases?, 0));
    }
    in_folder(args, file)
}

/// Returns the plans in the files of a folder, and the number of files that contain no plan.
fn in_folder(args: &AuditArgs, folder: &Path) -> Result<(Vec<Case>, usize), Failure> {
    let (mut exported, paths) = without_exported(files(folder)?);
    if let Some(layouts) = args.layout.as_deref().filter(|path| path.is_dir()) {
        exported.extend(pairs(layouts, folder, &paths)?);
    } else if args.layout.is_some() || args.planner_peak.is_some() {
        return Err(Failure::input(format!(
            "{} is a folder; LAYOUT must then be a folder of layouts, and --planner-peak is not allowed",
            folder.display()
        )));
    }
    let (mut cases, mut skipped) = (Vec::new(), 0);
    for path in paths {
        if capture_format(&path).map_err(Failure::input)?.is_none() {
            if let Some(capture) = in_model::plan(&path)? {
                cases.push(Case::captured(capture));
                continue;
            }
            let layouts = exported.iter().filter(|(_, instance)| *instance == path);
            let own = in_csv(&args.subject, &path, layouts.map(|(layout, _)| layout))?;
            skipped += usize::from(own.is_empty());
            cases.extend(own);
            continue;
        }
        match read_captures(&path) {
            Ok(captures) if captures.iter().all(|capture| capture.peak.is_none()) => skipped += 1,
            Ok(captures) => cases.extend(captures.into_iter().map(Case::captured)),
            // Many compiled modules need no temporary memory.
            Err(error) if matches!(*error.problem, CaptureProblem::Nothing(_)) => skipped += 1,
            Err(error) => return Err(Failure::input(error)),
        }
    }
    if cases.is_empty() {
        let reason = "no file contains a plan; subfolders are not searched";
        return Err(Failure::input(format!("{}: {reason}", folder.display())));
    }
    Ok((cases, skipped))
}

/// Returns the files of a folder, sorted by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let wrong = |error: std::io::Error| Failure::input(format!("{}: cannot read: {error}", folder.display()));
    let entries =
        std::fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(wrong)?;
    let mut paths: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    Ok(paths)
}

/// Returns the layouts of a folder, each with the instance of the same name. The instances are among the files
/// of the folder `of`.
fn pairs(layouts: &Path, of: &Path, paths: &[PathBuf]) -> Result<Vec<(PathBuf, PathBuf)>, Failure> {
    let pair = |layout: PathBuf| {
        let name = exported_of(&layout).map_or_else(|| instance_name(&layout), str::to_owned);
        let own = |path: &&PathBuf| has_suffix(path, &["csv"]) && instance_name(path) == name;
        match paths.iter().find(own).cloned() {
            Some(instance) => Ok((layout, instance)),
            None => Err(Failure::input(format!(
                "{}: {} contains no instance '{name}'",
                layout.display(),
                of.display()
            ))),
        }
    };
    files(layouts)?.into_iter().filter(|path| has_suffix(path, &["csv"])).map(pair).collect()
}

/// Returns the plans for a CSV instance in a folder: the given layouts and the plan in the file itself. There
/// are none if the file is not an instance.
fn in_csv<'a>(
    args: &SubjectArgs,
    path: &Path,
    layouts: impl Iterator<Item = &'a PathBuf>,
) -> Result<Vec<Case>, Failure> {
    let is_csv = has_suffix(path, &["csv"]);
    let free = ReadOptions { pins: Pins::Free, ..ReadOptions::default() };
    let is_other = || match read_instance_file(path, free) {
        Err(error) => matches!(*error.kind, CsvErrorKind::MissingColumn { .. } | CsvErrorKind::Empty(_)),
        Ok(_) => false,
    };
    if !is_csv || is_other() {
        return Ok(Vec::new());
    }
    let subject = args.read_csv(path, Pins::UnlessPlan)?;
    let of = |planner: &Path, layout| Case {
        subject: subject.clone(),
        planner: shown(planner),
        layout: Some(layout),
        peak: None,
    };
    let given = layouts.map(|layout| Ok(of(layout, offsets(layout, &subject.instance)?)));
    let own = subject.plan.clone().map(|plan| Ok(of(path, plan)));
    given.chain(own).collect()
}

/// Returns the stems of the exported files of each case: the name of the instance, in which characters that
/// file names should not contain become hyphens. If a file of an earlier case has the same name, also if only
/// the case of letters differs, a number follows.
pub(super) fn stems(cases: &[Case]) -> Vec<String> {
    let plain = |c: char| if c.is_whitespace() || is_hidden(c) || ":/\\".contains(c) { '-' } else { c };
    let mut taken = HashSet::new();
    let mut stem = |case: &Case| {
        let name: String = case.subject.instance.name().chars().map(plain).take(LONGEST).collect();
        let mut stem = name.clone();
        for nth in 2.. {
            let files = case.files(&stem).map(|file| file.to_lowercase());
            if !files.iter().any(|file| taken.contains(file)) {
                taken.extend(files);
                break;
            }
            stem = format!("{name}-{nth}");
        }
        stem
    };
    cases.iter().map(&mut stem).collect()
}

/// Rejects a layout or a peak if the input contains captured plans.
fn own_plans_only(args: &AuditArgs) -> Result<(), Failure> {
    if args.layout.is_none() && args.planner_peak.is_none() {
        return Ok(());
    }
    let file = shown(&args.subject.instance);
    Err(Failure::input(format!(
        "{file} already contains captured plans; LAYOUT and --planner-peak are not allowed"
    )))
}
