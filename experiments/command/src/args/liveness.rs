use super::FOR_MODELS;
use super::values::bytes_within;
use clap::{Args, ValueEnum};
use plimsoll::datasets::{Import, MICRO_ALIGNMENT};
use plimsoll::model::Bytes;
use plimsoll::model::graph::{Boundary, Graph, LivenessOptions, Role, Tensor};

/// Assumptions about liveness.
#[derive(Args, Clone, Copy, Debug)]
pub struct LivenessArgs {
    #[command(flatten)]
    pub activations: ActivationLivenessArgs,
    /// Keep weights in the arena for the whole run
    #[arg(long, help_heading = FOR_MODELS)]
    pub weights: bool,
}

impl LivenessArgs {
    /// Converts the arguments to the options of the library.
    pub fn options(self) -> LivenessOptions {
        LivenessOptions { weights: self.weights, ..self.activations.options() }
    }

    /// Converts the arguments to the options for a model. If `--align` is not given, code that uses the
    /// offsets (`is_for_code`) or that is part of the model determines the alignment. Variables of compiled
    /// models stay outside the arena, as in the runtime, unless the code contains their addresses.
    pub fn options_of(self, import: &Import, is_for_code: bool) -> LivenessOptions {
        let is_compiled = !import.graph.segments().is_empty();
        let options = self.options();
        let options = LivenessOptions { states: options.states && !is_compiled, ..options };
        if self.activations.align.is_some() || !(is_for_code || is_compiled) {
            return options;
        }
        // Only TFLite files number their tensors.
        let runtime = if import.tensors.is_empty() { Bytes::new(1) } else { MICRO_ALIGNMENT };
        LivenessOptions { align: element_alignment(&import.graph, options).max(runtime), ..options }
    }
}

/// Returns the alignment that suits the elements of all tensors in the arena.
pub fn element_alignment(graph: &Graph, options: LivenessOptions) -> Bytes {
    let inside = graph.tensors().iter().filter(|tensor| match tensor.role {
        Role::Weight => options.weights,
        Role::State => options.states,
        _ => true,
    });
    Bytes::new(inside.map(element_bytes).max().unwrap_or(1))
}

/// Returns the alignment of an element in bytes: the number of bits in the name of its type, or else the
/// bytes per element of the tensor. Types smaller than a byte and unknown types have the alignment 1.
fn element_bytes(tensor: &Tensor) -> u64 {
    let Some(name) = tensor.element.as_deref().filter(|_| tensor.bytes > Bytes::ZERO) else { return 1 };
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let bits = digits.split(|c: char| !c.is_ascii_digit()).next().and_then(|bits| bits.parse::<u64>().ok());
    let elements = || tensor.shape.as_ref()?.iter().try_fold(1u64, |all, &extent| all.checked_mul(extent));
    let bytes = match bits {
        // The two parts of a complex number are elements.
        Some(bits) if name.contains("complex") => bits / 16,
        Some(bits) => bits / 8,
        None => elements().and_then(|elements| tensor.bytes.get().checked_div(elements)).unwrap_or(1),
    };
    if bytes.is_power_of_two() && bytes <= 16 { bytes } else { 1 }
}

/// Assumptions about the liveness of all tensors except weights.
#[derive(Args, Clone, Copy, Debug)]
pub struct ActivationLivenessArgs {
    /// Where graph inputs and outputs are stored, and for how long
    #[arg(long, value_name = "STORAGE", default_value = "arena", help_heading = FOR_MODELS)]
    pub boundary: BoundaryArg,
    /// Keep variable tensors, which persist between runs, outside the arena
    #[arg(long, help_heading = FOR_MODELS)]
    pub no_states: bool,
    /// Let reshape and similar operators copy instead of sharing the memory of their input
    #[arg(long, help_heading = FOR_MODELS)]
    pub no_views: bool,
    /// Let operators overwrite an input, wholly (elementwise operators) or partly (--overlap, graph files),
    /// if they are its last reader in every order; with `--order as-in-file`, if they are its last reader in
    /// the file
    #[arg(long, help_heading = FOR_MODELS)]
    pub in_place: bool,
    /// Round sizes and offsets up to multiples of this many bytes [default: 1; for C headers, the largest
    /// element size; for .tflite models in C headers and with `plan --write`, at least 16]
    #[arg(long, value_name = "BYTES", value_parser = bytes_within(1..=u64::MAX), help_heading = FOR_MODELS)]
    pub align: Option<u64>,
}

impl ActivationLivenessArgs {
    /// Converts the arguments to the options of the library, with weights outside the arena.
    pub fn options(self) -> LivenessOptions {
        LivenessOptions {
            boundary: match self.boundary {
                BoundaryArg::Arena => Boundary::Arena,
                BoundaryArg::Held => Boundary::Held,
                BoundaryArg::Persistent => Boundary::Persistent,
                BoundaryArg::Outside => Boundary::Outside,
            },
            weights: false,
            states: !self.no_states,
            views: !self.no_views,
            in_place: self.in_place,
            align: Bytes::new(self.align.unwrap_or(1)),
            ..LivenessOptions::default()
        }
    }
}

/// Storage of graph inputs and outputs.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum BoundaryArg {
    /// In the arena while needed; an unread input is live only at the start
    Arena,
    /// In the arena: inputs for the whole run, outputs from their producer to the end
    Held,
    /// In the arena for the whole run, never reused
    Persistent,
    /// Outside the arena
    Outside,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sizes_of_elements_determine_the_alignment() {
        let of = |name: &str, bytes: u64, shape: &[u64]| {
            element_bytes(&Tensor::new("t", bytes, Role::Activation).typed(name, shape))
        };
        let named = [
            ("float32", 4),
            ("torch.int64", 8),
            ("bfloat16", 2),
            ("float8_e4m3fn", 1),
            ("uint4", 1),
            ("complex64", 4),
            ("complex128", 8),
            ("si16", 2),
        ];
        for (name, bytes) in named {
            assert_eq!(of(name, 24, &[3]), bytes, "{name}");
        }
        assert_eq!([of("double", 24, &[3]), of("bool", 3, &[3]), of("odd", 9, &[3])], [8, 1, 1]);
        assert_eq!(of("float32", 0, &[0]), 1);
        assert_eq!(element_bytes(&Tensor::new("t", 8, Role::Input)), 1);
    }
}
