//! The built-in machines.

/// The machines for the commands `overlap` and `measure`, as pairs of name and TOML text.
pub const PRESETS: [(&str, &str); 3] = [
    ("luna", include_str!("timelines/presets/luna.toml")),
    ("ethos-u", include_str!("timelines/presets/ethos-u.toml")),
    ("generic", include_str!("timelines/presets/generic.toml")),
];

/// The machines with several memories for the command `tiers`, as pairs of name and TOML text.
pub const TIER_PRESETS: [(&str, &str); 3] = [
    ("s3-platform", include_str!("tiers/presets/s3-platform.toml")),
    ("two-tier", include_str!("tiers/presets/two-tier.toml")),
    ("generic", include_str!("tiers/presets/generic.toml")),
];
