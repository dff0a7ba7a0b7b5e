//! The embedded data files and report templates.

macro_rules! source {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../data/", $name, ".toml")),
            include_str!(concat!("../data/", $name, ".md")),
        )
    };
}

/// The name, the data and the report template of every paper.
const SOURCES: [(&str, &str, &str); 7] = [
    source!("luna"),
    source!("mini-infer"),
    source!("patent"),
    source!("fusion"),
    source!("cann"),
    source!("pisarchyk-lee"),
    source!("minimalloc"),
];

/// Returns the data and the report template of a paper.
pub(crate) fn sources(paper: &str) -> (&'static str, &'static str) {
    let found = SOURCES.iter().find(|(name, ..)| *name == paper);
    found.map(|&(_, data, report)| (data, report)).expect("a registered paper")
}
