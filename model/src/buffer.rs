//! The buffers of an instance.

use crate::lifespan::Lifespan;
use crate::units::Bytes;

/// A block of memory to be placed: a size, a lifespan, and constraints on its offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    name: Box<str>,
    size: Bytes,
    lifespan: Lifespan,
    alignment: Bytes,
    fixed: Option<Bytes>,
    hint: Option<Bytes>,
}

impl Buffer {
    /// Creates a buffer of `size` bytes that is live during `lifespan` and may be placed at any offset.
    pub fn new(name: impl Into<Box<str>>, size: impl Into<Bytes>, lifespan: Lifespan) -> Self {
        Self {
            name: name.into(),
            size: size.into(),
            lifespan,
            alignment: Bytes::new(1),
            fixed: None,
            hint: None,
        }
    }

    /// Requires the offset to be a multiple of `alignment` bytes.
    #[must_use]
    pub fn aligned(mut self, alignment: impl Into<Bytes>) -> Self {
        self.alignment = alignment.into();
        self
    }

    /// Requires the offset to be exactly `offset`.
    #[must_use]
    pub fn fixed_at(mut self, offset: impl Into<Bytes>) -> Self {
        self.fixed = Some(offset.into());
        self
    }

    /// Fixes the offset, or removes the fixed offset.
    pub(crate) fn set_fixed(&mut self, offset: Option<Bytes>) {
        self.fixed = offset;
    }

    /// Suggests an offset. A layout may ignore it.
    #[must_use]
    pub fn hinted(mut self, offset: impl Into<Bytes>) -> Self {
        self.hint = Some(offset.into());
        self
    }

    /// Returns the buffer with another lifespan.
    #[must_use]
    pub fn during(mut self, lifespan: Lifespan) -> Self {
        self.lifespan = lifespan;
        self
    }

    /// Returns the name of the buffer. The name is the id of the buffer in files and is unique within an
    /// instance.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the size in bytes. A buffer of size 0 occupies no address: it conflicts with no other buffer
    /// and adds nothing to any sum or peak.
    #[inline]
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// Returns the steps at which the buffer is live.
    #[inline]
    pub fn lifespan(&self) -> &Lifespan {
        &self.lifespan
    }

    /// Returns the alignment in bytes, which is at least 1 in any instance. The offset must be a multiple of
    /// the alignment.
    #[inline]
    pub fn alignment(&self) -> Bytes {
        self.alignment
    }

    /// Returns true if the size is 0.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.size == Bytes::ZERO
    }

    /// Returns the offset required by [`fixed_at`](Self::fixed_at), if any.
    #[inline]
    pub fn fixed(&self) -> Option<Bytes> {
        self.fixed
    }

    /// Returns the offset suggested by [`hinted`](Self::hinted), if any.
    pub fn hint(&self) -> Option<Bytes> {
        self.hint
    }

    /// Returns the size multiplied by the number of live steps, in byte-steps.
    pub fn area(&self) -> u128 {
        u128::from(self.size.get()) * u128::from(self.lifespan.duration())
    }
}
