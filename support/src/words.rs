//! Enumerations whose values are words.

/// Defines public enumerations with their words, which are the same in files, in JSON and on the screen. The
/// calling crate needs the crate serde.
#[macro_export]
macro_rules! words {
    ($(
        $(#[$about:meta])*
        $name:ident { $($(#[$what:meta])* $variant:ident => $text:literal),* $(,)? }
    )*) => {$(
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        pub enum $name { $($(#[$what])* #[serde(rename = $text)] $variant),* }

        impl $name {
            /// All values, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the word used in files and tables.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let own = Self::ALL.iter().copied().find(|own| own.as_str() == text);
                own.ok_or_else(|| format!("expected {}", [$($text),*].join(", ")))
            }
        }
    )*};
}
