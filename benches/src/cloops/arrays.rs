//! Names and shapes of the arrays that C loops read and write.

/// Arrays of one shape.
#[derive(Clone, Copy, Debug)]
pub struct Arrays {
    /// Their names in the kernel.
    pub names: &'static [&'static str],
    /// The first extents, which no size decides.
    pub leading: &'static [usize],
    /// Which size each other extent is counted from, and by how much it is larger.
    pub axes: &'static [(usize, isize)],
}

impl Arrays {
    /// Extents at these sizes; none if one is negative, leaves the number range or has no size.
    pub fn shape(&self, sizes: &[usize]) -> Option<Vec<usize>> {
        let counted = self.axes.iter().map(|&(size, margin)| sizes.get(size)?.checked_add_signed(margin));
        self.leading.iter().copied().map(Some).chain(counted).collect()
    }

    /// Number of doubles of logical data at these sizes, if that is a number.
    pub fn cells(&self, sizes: &[usize]) -> Option<usize> {
        self.shape(sizes)?.into_iter().try_fold(self.names.len(), usize::checked_mul)
    }
}
