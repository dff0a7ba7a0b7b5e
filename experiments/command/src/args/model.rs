use super::FOR_MODELS;
use super::values::{bytes, dimension, once};
use crate::failure::Failure;
use crate::input::{input_file, quoted};
use clap::Args;
use plimsoll::datasets::{Import, ImportOptions, Overlap, Scratch, import_file};
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// The graph or model, with import options.
#[derive(Args, Debug)]
pub struct ModelArgs {
    /// Graph (.json, as written by `import`) or model (.onnx, .tflite)
    #[arg(value_name = "GRAPH|MODEL", value_parser = input_file())]
    pub model: PathBuf,
    #[command(flatten)]
    pub import: OpenArgs,
}

/// Import options, such as values for dimensions that a model file does not fix.
#[derive(Args, Debug)]
pub struct OpenArgs {
    /// Bind a free dimension, by its name in the file; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = dimension, help_heading = FOR_MODELS)]
    pub dim: Vec<(String, u64)>,
    /// Bind every other free dimension to this value
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = FOR_MODELS)]
    pub dim_default: Option<u64>,
    /// Replace the shape of an input, as in `x=1x3x224x224`; may be repeated
    #[arg(long, value_name = "NAME=AxBx..", value_parser = shape, help_heading = FOR_MODELS)]
    pub input_shape: Vec<(String, Vec<u64>)>,
    /// Set the value of an input that determines shapes: integers in row-major order, as in
    /// `size=1,3,224,224`; may be repeated
    #[arg(long, value_name = "NAME=I,J,..", value_parser = value, help_heading = FOR_MODELS)]
    pub value: Vec<(String, Vec<i64>)>,
    /// Set the shape of a tensor that cannot be inferred; may be repeated
    #[arg(long, value_name = "NAME=AxBx..", value_parser = shape, help_heading = FOR_MODELS)]
    pub tensor_shape: Vec<(String, Vec<u64>)>,
    /// Replace the first dimension of every input that has no --input-shape
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = FOR_MODELS)]
    pub batch: Option<u64>,
    /// Treat every floating-point tensor as this type (float16, bfloat16, float32, ..)
    #[arg(long, value_name = "TYPE", help_heading = FOR_MODELS)]
    pub element: Option<String>,
    /// Keep operators that read only constants, instead of treating their outputs as weights (ONNX)
    #[arg(long, help_heading = FOR_MODELS)]
    pub keep_constants: bool,
    /// Assume this size for tensors of unknown shape or type, instead of failing
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = FOR_MODELS)]
    pub assume_bytes: Option<u64>,
    /// Let Slice and Split return parts of their input, and let Concat consist of its inputs, wherever the
    /// elements are consecutive. These operators then copy nothing
    #[arg(long, help_heading = FOR_MODELS)]
    pub parts: bool,
    /// Let the output of operators of this kind overlap their input, except for this many bytes of the
    /// smaller one, with --in-place. `Conv=0+3892` adds 3,892 bytes of scratch memory. May be repeated
    #[arg(long, value_name = "KIND=BYTES[+BYTES]", value_parser = overlap, help_heading = FOR_MODELS)]
    pub overlap: Vec<(String, Overlap)>,
    /// Assume at most this many iterations of every loop whose number of iterations is not known
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = FOR_MODELS)]
    pub trips: Option<u64>,
    /// Add scratch memory of kernels, from a CSV file with columns subgraph, operator and bytes (.tflite)
    #[arg(long, value_name = "FILE.csv", value_parser = input_file(), help_heading = FOR_MODELS)]
    pub scratch: Option<PathBuf>,
}

impl ModelArgs {
    /// Returns the files that the command reads. Outputs must not overwrite them.
    pub fn files(&self) -> Vec<&Path> {
        [Some(&self.model), self.import.scratch.as_ref()].into_iter().flatten().map(AsRef::as_ref).collect()
    }

    /// Reads the graph or model. The error for a folder suggests `bench`.
    pub fn read(&self) -> Result<Import, Failure> {
        if self.model.is_dir() {
            let command = format!("plimsoll bench {}", quoted(&self.model));
            let folder = self.model.display();
            let message = "it is a folder, not a graph or model";
            return Err(Failure::input(format!("{folder}: {message}; `{command}` runs on all its files")));
        }
        import_file(&self.model, &self.import.options()?).map_err(Failure::input)
    }
}

impl OpenArgs {
    /// Converts the arguments to the options of the library.
    pub fn options(&self) -> Result<ImportOptions, Failure> {
        Ok(ImportOptions {
            dims: once("--dim", &self.dim)?.into_iter().collect(),
            input_shapes: once("--input-shape", &self.input_shape)?.into_iter().collect(),
            batch: self.batch,
            element: self.element.clone(),
            keep_constants: self.keep_constants,
            assume_bytes: self.assume_bytes,
            dim_default: self.dim_default,
            values: once("--value", &self.value)?.into_iter().collect(),
            tensor_shapes: once("--tensor-shape", &self.tensor_shape)?.into_iter().collect(),
            trips: self.trips,
            parts: self.parts,
            overlaps: once("--overlap", &self.overlap)?.into_iter().collect(),
            scratch: self.scratch.as_deref().map(scratch).transpose()?.unwrap_or_default(),
        })
    }

    /// Returns true if no option is given.
    pub fn is_default(&self) -> bool {
        self.options().is_ok_and(|options| options == ImportOptions::default())
    }
}

/// Parses `NAME=AxBxC` with whole numbers. An empty shape describes a scalar.
fn shape(text: &str) -> Result<(String, Vec<u64>), String> {
    let expected = || "expected NAME=AxBx.. with whole numbers, as in input=1x576".to_owned();
    let (name, extents) = text.rsplit_once('=').ok_or_else(expected)?;
    if name.is_empty() {
        return Err(expected());
    }
    let extents = extents.split('x').filter(|_| !extents.is_empty());
    let extents: Result<Vec<u64>, _> = extents.map(str::parse).collect();
    Ok((name.to_owned(), extents.map_err(|_| expected())?))
}

/// Parses `KIND=BYTES` and `KIND=BYTES+BYTES`.
fn overlap(text: &str) -> Result<(String, Overlap), String> {
    let expected = "expected KIND=BYTES, as in Conv=3892, or KIND=BYTES+BYTES";
    let (kind, sizes) = text.split_once('=').filter(|(kind, _)| !kind.is_empty()).ok_or(expected)?;
    let (apart, scratch) = sizes.split_once('+').unwrap_or((sizes, "0"));
    Ok((kind.to_owned(), Overlap { apart: bytes(apart)?, scratch: bytes(scratch)? }))
}

/// Parses `NAME=I,J,K` with integers; the list may be empty.
fn value(text: &str) -> Result<(String, Vec<i64>), String> {
    let expected = || "expected NAME=I,J,.. with integers, as in size=1,3,224,224".to_owned();
    let (name, list) = text.rsplit_once('=').ok_or_else(expected)?;
    if name.is_empty() {
        return Err(expected());
    }
    let list = list.split(',').filter(|_| !list.is_empty());
    let list: Result<Vec<i64>, _> = list.map(str::parse).collect();
    Ok((name.to_owned(), list.map_err(|_| expected())?))
}

/// Reads a file with the columns `subgraph,operator,bytes`.
fn scratch(path: &Path) -> Result<Vec<Scratch>, Failure> {
    const COLUMNS: [&str; 3] = ["subgraph", "operator", "bytes"];
    let wrong = |reason: &dyn Display| Failure::input(format!("{}: {reason}", path.display()));
    let mut reader = csv::Reader::from_path(path).map_err(|error| wrong(&error))?;
    let header = reader.headers().map_err(|error| wrong(&error))?;
    if !header.iter().eq(COLUMNS) {
        let found = header.iter().collect::<Vec<_>>().join(",");
        return Err(wrong(&format_args!("line 1: the header is '{found}'; expected {}", COLUMNS.join(","))));
    }
    let row = |record: csv::Result<csv::StringRecord>| {
        let record = record.map_err(|error| wrong(&error))?;
        let line = record.position().map_or(0, csv::Position::line);
        let number = |at: usize| {
            let text = record.get(at).unwrap_or_default();
            let reason = format!("line {line}: {} '{text}' is not a whole number", COLUMNS[at]);
            text.parse::<u64>().map_err(|_| wrong(&reason))
        };
        let (subgraph, operator) = (number(0)? as usize, number(1)? as usize);
        Ok(Scratch { subgraph, operator, bytes: number(2)? })
    };
    reader.records().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_dimensions_are_parsed() {
        assert_eq!(dimension("a=b=3"), Ok(("a=b".to_owned(), 3)));
        assert_eq!(shape("x=1x576"), Ok(("x".to_owned(), vec![1, 576])));
        assert_eq!(shape("x="), Ok(("x".to_owned(), vec![])));
        assert_eq!(value("x=1,-3"), Ok(("x".to_owned(), vec![1, -3])));
        assert_eq!(value("x="), Ok(("x".to_owned(), vec![])));
        for bad in ["x", "=3", "x=1,", "x=1.5", "x=axb"] {
            assert!(value(bad).is_err(), "{bad}");
        }
        for bad in ["x", "=3", "x=1x", "x=-1", "x=axb"] {
            assert!(shape(bad).is_err(), "{bad}");
            assert!(dimension(bad).is_err(), "{bad}");
        }
    }
}
