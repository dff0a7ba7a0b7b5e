//! Writes plans into model files. Everything else in a file stays as it is.

use crate::captures::Capture;
use crate::import::{Import, ImportError, ImportOptions, ImportProblem, Scratch};
use crate::model_file::import_bytes;
use crate::onnx::name_in_file;
use crate::tflite::{self, MicroArena, MicroOverhead, Pointers, Shares};
use plimsoll_model::graph::Graph;
use plimsoll_model::{Layout, OperatorId, RegionId};
use std::path::Path;

/// The format of a model file whose operators can be reordered, and into which a plan can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelFormat {
    /// `FlatBuffers` of `TFLite`.
    TfLite,
    /// Protocol buffers of ONNX.
    Onnx,
}

impl ModelFormat {
    /// Returns the format of a model file, as [`import_file`](crate::import_file) determines it, or `None`
    /// for any other file.
    pub fn of(path: &Path, bytes: &[u8]) -> Option<Self> {
        let extension = path.extension().map(|suffix| suffix.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("onnx") => Some(Self::Onnx),
            Some("json") => None,
            other => (other == Some("tflite") || tflite::is_tflite(bytes)).then_some(Self::TfLite),
        }
    }
}

/// The bytes of a model file, into which a plan can be written.
#[derive(Clone, Debug)]
pub struct ModelFile<'a> {
    path: &'a Path,
    format: ModelFormat,
    bytes: Vec<u8>,
    /// Scratch requests of kernels, with operator indices of this file.
    scratch: Vec<Scratch>,
}

impl<'a> ModelFile<'a> {
    /// Wraps the bytes of a file, as [`read_model`](crate::read_model) returns them with its name.
    pub fn new(path: &'a Path, format: ModelFormat, bytes: Vec<u8>) -> Self {
        Self { path, format, bytes, scratch: Vec::new() }
    }

    /// Adds the scratch memory that kernels of a `TFLite` file request.
    #[must_use]
    pub fn with_scratch(self, scratch: Vec<Scratch>) -> Self {
        Self { scratch, ..self }
    }

    /// Returns the bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reads the file with its importer.
    ///
    /// # Errors
    /// See [`ImportError`].
    pub fn import(&self, options: &ImportOptions) -> Result<Import, ImportError> {
        import_bytes(self.path, self.path, self.bytes.clone(), options)
    }

    fn changed(&self, bytes: Result<Vec<u8>, ImportProblem>) -> Result<Self, ImportError> {
        let bytes = bytes.map_err(|problem| problem.of(self.path))?;
        Ok(Self { bytes, scratch: self.scratch.clone(), ..*self })
    }

    /// Reorders the operators. `import` is the graph of this file, and `orders` contains the operators of
    /// each of its regions in their new order. If a subgraph of `TFLite` became several regions, the first
    /// region determines the order of the subgraph. The time is linear in the size of the file.
    ///
    /// # Errors
    /// If the file does not allow another order; see [`ImportProblem`].
    pub fn reordered(&self, import: &Import, orders: &[Vec<OperatorId>]) -> Result<Self, ImportError> {
        match self.format {
            ModelFormat::Onnx => self.changed(crate::onnx::reordered(&self.bytes, &import.graph, orders)),
            ModelFormat::TfLite => {
                let mut indices: Vec<Vec<usize>> = Vec::new();
                for order in orders {
                    let places = order.iter().map(|id| &import.places[id.index()]);
                    let subgraph = places.clone().next().map_or(0, |place| place.subgraph);
                    indices.resize(indices.len().max(subgraph + 1), Vec::new());
                    if indices[subgraph].is_empty() {
                        indices[subgraph] = places.map(|place| place.index).collect();
                    }
                }
                let mut file = self.changed(tflite::reordered(&self.bytes, &indices))?;
                for one in &mut file.scratch {
                    let order = indices.get(one.subgraph).into_iter().flatten();
                    one.operator = order.clone().position(|&old| old == one.operator).unwrap_or(one.operator);
                }
                Ok(file)
            }
        }
    }

    /// Compares the order of the operators in this file with `orders`, which were passed to
    /// [`ModelFile::reordered`]. Returns the first region whose order differs, which the file cannot
    /// express. Returns `None` if the orders of all regions match.
    ///
    /// # Errors
    /// See [`ImportError`].
    pub fn first_misordered(
        &self,
        import: &Import,
        orders: &[Vec<OperatorId>],
        options: &ImportOptions,
    ) -> Result<Option<RegionId>, ImportError> {
        let written = self.import(options)?;
        // The numbers of regions depend on the order of the operators that own them.
        let mut todo = vec![(Graph::BODY, Graph::BODY)];
        while let Some((region, other)) = todo.pop() {
            let (order, found) = (&orders[region.index()], &written.graph.region(other).operators);
            let results = |import, list: &[OperatorId]| -> Vec<Results<'_>> {
                list.iter().map(|&id| Results::of(import, id)).collect()
            };
            if results(import, order) != results(&written, found) {
                return Ok(Some(region));
            }
            for (&id, &other) in order.iter().zip(found) {
                let owned = written.graph.operator(other).regions.iter().copied();
                todo.extend(import.graph.operator(id).regions.iter().copied().zip(owned));
            }
        }
        Ok(None)
    }

    /// Returns the offset problem that `tflite-micro` solves for a `TFLite` file, with the operators in file
    /// order. `shares` decides which outputs share the memory of an input, among those for which the kernel
    /// allows it.
    ///
    /// # Errors
    /// If the runtime cannot place a tensor of the file; see [`ImportProblem`].
    pub fn micro_arena(&self, shares: &Shares<'_>) -> Result<MicroArena, ImportError> {
        MicroArena::of(&self.bytes, &self.scratch, shares).map_err(|problem| problem.of(self.path))
    }

    /// Returns the file with the scratch memory that the reference kernels of `tflite-micro` request, unless
    /// requests were added before.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn with_reference_scratch(&self, pointers: Pointers) -> Result<Self, ImportError> {
        if !self.scratch.is_empty() {
            return Ok(self.clone());
        }
        let scratch = tflite::reference_scratch(&self.bytes, pointers);
        Ok(Self { scratch: scratch.map_err(|problem| problem.of(self.path))?, ..self.clone() })
    }

    /// Returns the memory that the arena of `tflite-micro` contains in addition to tensors and scratch
    /// buffers.
    ///
    /// # Errors
    /// If the file is damaged, or if it contains a tensor of unknown size; see [`ImportProblem`].
    pub fn micro_overhead(&self, pointers: Pointers) -> Result<MicroOverhead, ImportError> {
        MicroOverhead::of(&self.bytes, &self.scratch, pointers).map_err(|problem| problem.of(self.path))
    }

    /// Returns the offsets of the offline plan in a `TFLite` file; `None` if the file has no such plan.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn offsets(&self) -> Result<Option<Vec<i32>>, ImportError> {
        tflite::offsets(&self.bytes).map_err(|problem| problem.of(self.path))
    }

    /// Returns the offset problem of `tflite-micro` for a `TFLite` file, and the layout that the offline plan
    /// in the file describes; `None` if the file has no such plan. Tensors share memory if a kernel allows it
    /// and the plan gives them the same offset.
    ///
    /// # Errors
    /// If the runtime cannot place a tensor of the file; see [`ImportProblem`].
    pub fn planned(&self) -> Result<Option<(MicroArena, Layout)>, ImportError> {
        let Some(offsets) = self.offsets()? else { return Ok(None) };
        let at = |number: usize| offsets.get(number).copied().filter(|&offset| offset >= 0);
        let micro = self.micro_arena(&|_, from, to| at(from).is_some() && at(from) == at(to))?;
        Ok(micro.in_file().map(|layout| (micro, layout)))
    }

    /// Returns the offline plan for `tflite-micro` in a `TFLite` file, with the lifespans of the runtime, under the
    /// name of the file; `None` if the file has no such plan.
    ///
    /// # Errors
    /// See [`planned`](Self::planned).
    pub fn capture(&self) -> Result<Option<Capture>, ImportError> {
        let Some((micro, layout)) = self.planned()? else { return Ok(None) };
        let name = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let peak = Some(micro.arena(&layout));
        let instance = micro.instance.with_name(name);
        let planner = "OfflineMemoryAllocation in the file".to_owned();
        Ok(Some(Capture { planner, instance, layout: Some(layout), peak }))
    }

    /// Writes the offsets of [`MicroArena::offsets`] into a `TFLite` file, as an offline plan for
    /// `tflite-micro`.
    ///
    /// # Errors
    /// If the file is damaged, or its schema is newer than this importer; see [`ImportProblem`].
    pub fn with_offsets(&self, offsets: &[i32]) -> Result<Self, ImportError> {
        self.changed(tflite::with_offsets(&self.bytes, offsets))
    }

    /// Writes metadata properties into an ONNX file. They replace properties with the same keys.
    ///
    /// # Errors
    /// If the file is damaged; see [`ImportProblem`].
    pub fn with_properties(&self, properties: &[(&str, String)]) -> Result<Self, ImportError> {
        self.changed(crate::onnx::with_properties(&self.bytes, properties))
    }
}

/// The outputs of an operator, as the file identifies them.
#[derive(PartialEq, Eq)]
enum Results<'a> {
    Indices(&'a [i32]),
    Names(Vec<&'a str>),
}

impl<'a> Results<'a> {
    fn of(import: &'a Import, id: OperatorId) -> Self {
        match import.places.get(id.index()) {
            Some(place) if !place.outputs.is_empty() => Self::Indices(&place.outputs),
            _ => {
                let outputs = import.graph.operator(id).outputs.iter();
                Self::Names(outputs.map(|&tensor| name_in_file(&import.graph, tensor)).collect())
            }
        }
    }
}
