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
    /// How many cells of these there are for each that is counted, along each of those axes.
    pub times: usize,
    /// The last extents, which no size decides.
    pub trailing: &'static [usize],
}

impl Arrays {
    /// A number without a name, for arrays that have no more than some of all that.
    pub const NONE: Arrays = Arrays { names: &[], leading: &[], axes: &[], times: 1, trailing: &[] };

    /// Extents at these sizes; none if one is negative, leaves the number range or has no size.
    pub fn shape(&self, sizes: &[usize]) -> Option<Vec<usize>> {
        let extent = |&(size, margin): &(usize, isize)| {
            sizes.get(size)?.checked_add_signed(margin).and_then(|extent| extent.checked_mul(self.times))
        };
        let fixed = |extents: &'static [usize]| extents.iter().copied().map(Some);
        fixed(self.leading).chain(self.axes.iter().map(extent)).chain(fixed(self.trailing)).collect()
    }

    /// Number of doubles of logical data at these sizes, if that is a number.
    pub fn cells(&self, sizes: &[usize]) -> Option<usize> {
        self.shape(sizes)?.into_iter().try_fold(self.names.len(), usize::checked_mul)
    }
}
