//! Descriptions that are built in, by name.

/// Machines of `overlap` and `measure`.
pub const PRESETS: [(&str, &str); 3] = [
    ("luna", include_str!("timelines/presets/luna.toml")),
    ("ethos-u", include_str!("timelines/presets/ethos-u.toml")),
    ("generic", include_str!("timelines/presets/generic.toml")),
];

/// Machines with several memories, of `tiers`.
pub const TIER_PRESETS: [(&str, &str); 3] = [
    ("s3-platform", include_str!("tiers/presets/s3-platform.toml")),
    ("two-tier", include_str!("tiers/presets/two-tier.toml")),
    ("generic", include_str!("tiers/presets/generic.toml")),
];
