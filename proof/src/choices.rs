//! A limit on the number of choices that the checker tries.

use crate::error::Reason;

/// Maximum number of choices that are tried for the successors of one tree.
const MOST_CHOICES: u32 = 1 << 20;

/// Counts choices.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Choices(u32);

impl Choices {
    /// Counts a choice. Fails if there are too many.
    pub fn next(&mut self) -> Result<(), Reason> {
        self.0 += 1;
        if self.0 > MOST_CHOICES { Err(Reason::TooManyChoices) } else { Ok(()) }
    }
}
