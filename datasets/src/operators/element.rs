//! Element types of tensors.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// The number of the type in ONNX.
    pub code: i32,
    /// The name in graphs and options.
    pub name: &'static str,
    /// Bits per element; `None` if elements have no fixed size. Elements smaller than eight bits are packed
    /// into bytes.
    pub bits: Option<u64>,
    pub float: bool,
}

/// Bytes of an element of type string: the size of the `std::string` that ONNX Runtime stores on 64-bit
/// platforms (libstdc++). Strings of up to 15 bytes are stored inline; longer ones are stored elsewhere.
pub const STRING_BYTES: u64 = 32;

const fn element(code: i32, name: &'static str, bits: u64, float: bool) -> Element {
    Element { code, name, bits: Some(bits), float }
}

const ELEMENTS: &[Element] = &[
    element(1, "float32", 32, true),
    element(2, "uint8", 8, false),
    element(3, "int8", 8, false),
    element(4, "uint16", 16, false),
    element(5, "int16", 16, false),
    element(6, "int32", 32, false),
    element(7, "int64", 64, false),
    element(8, "string", 8 * STRING_BYTES, false),
    element(9, "bool", 8, false),
    element(10, "float16", 16, true),
    element(11, "float64", 64, true),
    element(12, "uint32", 32, false),
    element(13, "uint64", 64, false),
    element(14, "complex64", 64, false),
    element(15, "complex128", 128, false),
    element(16, "bfloat16", 16, true),
    element(17, "float8e4m3fn", 8, true),
    element(18, "float8e4m3fnuz", 8, true),
    element(19, "float8e5m2", 8, true),
    element(20, "float8e5m2fnuz", 8, true),
    element(21, "uint4", 4, false),
    element(22, "int4", 4, false),
    element(23, "float4e2m1", 4, true),
    element(24, "float8e8m0", 8, true),
    element(25, "uint2", 2, false),
    element(26, "int2", 2, false),
];

impl Element {
    pub const FLOAT32: Self = ELEMENTS[0];
    pub const UINT8: Self = ELEMENTS[1];
    pub const INT8: Self = ELEMENTS[2];
    pub const INT32: Self = ELEMENTS[5];
    pub const INT64: Self = ELEMENTS[6];
    pub const STRING: Self = ELEMENTS[7];
    pub const BOOL: Self = ELEMENTS[8];
    pub const UINT32: Self = ELEMENTS[11];

    /// Returns the type with this ONNX number.
    pub fn of(code: i32) -> Option<Self> {
        ELEMENTS.iter().copied().find(|element| element.code == code)
    }

    /// Returns the type with this name, unless it is the string type.
    pub fn named(name: &str) -> Option<Self> {
        ELEMENTS.iter().copied().find(|element| element.name == name && *element != Self::STRING)
    }

    /// Returns the type with this name in ONNX, as in `FLOAT` or `INT64`.
    pub fn in_capitals(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let ours = match lower.as_str() {
            "float" => "float32",
            "double" => "float64",
            other => other,
        };
        ELEMENTS.iter().copied().find(|element| element.name == ours)
    }

    /// Returns the names of all types except the string type, for error messages.
    pub fn names() -> String {
        let names: Vec<&str> = ELEMENTS.iter().filter(|&e| *e != Self::STRING).map(|e| e.name).collect();
        names.join(", ")
    }

    /// Returns the range of values of an integer type; `None` for other types.
    pub fn range(self) -> Option<std::ops::RangeInclusive<i128>> {
        let values = 1i128 << self.bits.filter(|&bits| self.is_integer() && bits <= 64)?;
        Some(if self.name.starts_with('u') || self == Self::BOOL {
            0..=values - 1
        } else {
            -(values / 2)..=values / 2 - 1
        })
    }

    pub fn is_integer(self) -> bool {
        !self.float && !matches!(self.code, 8 | 14 | 15)
    }
}
