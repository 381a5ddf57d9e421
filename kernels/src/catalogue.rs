//! The list of kernels, and what is known of each.
//!
//! A kernel that is the same whatever it is used for is a text, as publications print it. One that depends on
//! something, a lattice, a number of dimensions, an element type, the size of a tile, is made by calls of
//! [`KernelBuilder`](crease::kernel::builder::KernelBuilder).

use crease::kernel::KernelError;
use crease::kernel::graph::{Expr, ExprId, Kernel, Stmt};

use crate::fields::{Fields, KernelDataError};
use crate::{bee, image, lbm, stencil};

/// A kernel of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// How commands and tests name it, such as `heat-1d`.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Where the kernel comes from.
    pub source: &'static str,
    /// Its definition, with all its schedules: a text, or calls of the builder.
    pub definition: fn() -> Result<Kernel, KernelError>,
    /// Values of the run-time scalars, in declaration order.
    pub scalars: &'static [(&'static str, f64)],
    /// Sizes at which one run takes a moment.
    pub default: Preset,
    /// Sizes small enough for the interpreter and for brute force; regular ones and awkward ones.
    pub tests: &'static [Preset],
    /// Sizes worth measuring.
    pub benches: &'static [Preset],
    /// Number of sites that one step updates.
    pub sites: fn(&Case) -> Result<u64, KernelDataError>,
    /// What the caller provides: inputs, and state at step 0.
    pub initial: fn(&Case) -> Result<Fields, KernelDataError>,
    /// Naive loops over full arrays: from what `initial` gives, state after `steps` steps, or outputs. Floating-point
    /// operations come in the order of the kernel's expressions, so results agree bit for bit. They use `mul_add`
    /// where the kernel says `fma`, which is slow on targets without that instruction.
    pub naive: fn(&Case, &Fields) -> Result<Fields, KernelDataError>,
    /// Storage that publications propose for it, beside what strategies find.
    pub published: &'static [Published],
}

/// A published storage mapping of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// How tables call it, such as `paper`.
    pub name: &'static str,
    /// The schedule that it is made for.
    pub schedule: &'static str,
    /// Its rules, in the notation of docs/KERNEL-TEXT.md.
    pub mapping: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

/// Sizes and steps of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Values of the size parameters.
    pub sizes: &'static [(&'static str, i64)],
    /// Value of the run parameter; 0 for kernels without one.
    pub steps: i64,
}

/// A kernel's parameters and scalars, bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Values of the size parameters.
    pub sizes: Vec<(String, i64)>,
    /// Value of the run parameter; 0 for kernels without one.
    pub steps: i64,
    /// Values of the run-time scalars.
    pub scalars: Vec<(String, f64)>,
}

/// All entries, those that commands list and those that they do not.
struct Table {
    listed: &'static [Entry],
    library: &'static [Entry],
    boxes: &'static [Entry],
}

static TABLE: Table = Table {
    listed: &[
        stencil::heat_1d::ENTRY,
        stencil::heat_1d_tiles::ENTRY,
        stencil::heat_1d_tiles::SMALL,
        stencil::heat_2d::ENTRY,
        stencil::periodic::RING,
        stencil::periodic::TORUS,
        stencil::periodic::TORUS_4TH,
        stencil::periodic::REACTION,
        stencil::periodic::CUBE,
        stencil::sine_gordon::ENTRY,
        lbm::entries::D2Q5_PERIODIC,
        lbm::entries::D2Q5_CAVITY,
        lbm::entries::D2Q9_PERIODIC,
        lbm::entries::D2Q9_CAVITY,
        lbm::entries::D2Q9_PERIODIC_F32,
        lbm::entries::D2Q9_PERIODIC_F16,
        lbm::entries::D2Q9_CAVITY_F32,
        lbm::entries::D2Q9_CAVITY_F16,
        lbm::entries::D2Q9_CYLINDER,
        lbm::entries::D3Q19_PERIODIC,
        lbm::entries::D3Q19_CAVITY,
        lbm::entries::D3Q19_CAVITY_F16,
        lbm::entries::D3Q19_CYLINDER,
        lbm::entries::D3Q27_PERIODIC,
        lbm::entries::D3Q27_CAVITY,
        image::blur_interleaved::F64,
        image::blur_interleaved::F32,
        image::blur_tiled::F64,
        image::blur_tiled::F32,
        image::unsharp_mask::F64,
        image::unsharp_mask::F32,
        image::harris::F64,
        image::harris::F32,
        bee::durbin::ENTRY,
        bee::reg_detect::ENTRY,
        bee::dynprog::ENTRY,
        bee::gauss::ENTRY,
        bee::mot_detect::ENTRY,
    ],
    library: &[
        stencil::periodic::REACTION_F32,
        stencil::heat_neighbours::NINE,
        stencil::heat_neighbours::NINE_F32,
        stencil::heat_neighbours::SEVEN,
        stencil::heat_neighbours::SEVEN_F32,
        stencil::heat_neighbours::ALL,
        stencil::heat_neighbours::ALL_F32,
        stencil::fourth_order::HEAT_LINE,
        stencil::fourth_order::HEAT_LINE_F32,
        stencil::fourth_order::HEAT_BOX,
        stencil::fourth_order::HEAT_BOX_F32,
        stencil::fourth_order::WAVE_LINE,
        stencil::fourth_order::WAVE_LINE_F32,
        stencil::fourth_order::WAVE_BOX,
        stencil::fourth_order::WAVE_BOX_F32,
        stencil::wave::STRING,
        stencil::wave::STRING_F32,
        stencil::wave::MEMBRANE,
        stencil::wave::MEMBRANE_F32,
        stencil::wave::TORUS,
        stencil::wave::TORUS_F32,
        stencil::wave::BOX,
        stencil::wave::BOX_F32,
        stencil::wave::SOUND,
        stencil::wave::SOUND_F32,
        stencil::advection::UPWIND,
        stencil::advection::UPWIND_F32,
        stencil::advection::WENO5,
        stencil::advection::WENO5_F32,
        stencil::advection::RK4,
        stencil::advection::RK4_F32,
        stencil::runge_kutta::RK2,
        stencil::runge_kutta::RK2_F32,
        stencil::runge_kutta::RK3,
        stencil::runge_kutta::RK3_F32,
        stencil::runge_kutta::RK4,
        stencil::runge_kutta::RK4_F32,
        stencil::advection::BURGERS,
        stencil::advection::BURGERS_F32,
        stencil::shallow_water::PLANE,
        stencil::shallow_water::PLANE_F32,
        stencil::fdtd::PLANE,
        stencil::fdtd::PLANE_F32,
        stencil::fdtd::SPACE,
        stencil::fdtd::SPACE_F32,
        stencil::pml::PLANE,
        stencil::pml::PLANE_F32,
        stencil::pml_space::SPACE,
        stencil::pml_space::SPACE_F32,
        stencil::elastic::PLANE,
        stencil::elastic::PLANE_F32,
        stencil::elastic::SHOT,
        stencil::elastic::SHOT_F32,
        stencil::cahn_hilliard::TORUS,
        stencil::cahn_hilliard::TORUS_F32,
        stencil::poisson::JACOBI,
        stencil::poisson::JACOBI_F32,
        stencil::poisson::RESTRICTION,
        stencil::poisson::RESTRICTION_F32,
        stencil::poisson::PROLONGATION,
        stencil::poisson::PROLONGATION_F32,
        stencil::poisson::GAUSS_SEIDEL,
        stencil::poisson::GAUSS_SEIDEL_F32,
        stencil::poisson::RED_BLACK,
        stencil::poisson::RED_BLACK_F32,
        stencil::tridiagonal::COLUMNS,
        stencil::tridiagonal::COLUMNS_F32,
        stencil::tridiagonal::ROWS,
        stencil::tridiagonal::ROWS_F32,
        stencil::life::BOARD,
        image::blur_u8::BYTES,
        image::tone_curve_u8::BYTES,
        image::camera::PIPELINE,
        image::colours::BLUR,
        image::colours::BLUR_F32,
        image::colours::GRAY,
        image::colours::HALF,
        image::colours::OVER,
        image::colours::UNSHARP_F32,
        image::filters::MEDIAN,
        image::filters::MEDIAN_F32,
        image::filters::INTEGRAL,
        image::filters::INTEGRAL_F32,
        image::filters::BILATERAL,
        image::filters::BILATERAL_F32,
        image::pyramid::DOWN,
        image::pyramid::DOWN_F32,
        image::pyramid::UP,
        image::pyramid::UP_F32,
        image::local_laplacian::FILTER,
        image::local_laplacian::FILTER_F32,
        lbm::small_sets::D1Q3,
        lbm::small_sets::D1Q3_F32,
        lbm::trt::PLATES,
        lbm::trt::PLATES_F32,
        lbm::mrt::CAVITY,
        lbm::mrt::CAVITY_F32,
        lbm::raw_moments::CAVITY,
        lbm::raw_moments::CAVITY_F32,
        lbm::cumulant::PLANE,
        lbm::cumulant::PLANE_F32,
        lbm::entropic::PERIODIC,
        lbm::entropic::PERIODIC_F32,
        lbm::limiter::CAVITY,
        lbm::limiter::CAVITY_F32,
        lbm::stress::CAVITY,
        lbm::stress::CAVITY_F32,
        lbm::interpolated::WALLS,
        lbm::interpolated::WALLS_F32,
        lbm::cylinder::CYLINDER,
        lbm::cylinder::CYLINDER_F32,
        lbm::convective::CHANNEL,
        lbm::convective::CHANNEL_F32,
        lbm::zou_he::CHANNEL,
        lbm::zou_he::CHANNEL_F32,
        lbm::thermal::CONVECTION,
        lbm::thermal::CONVECTION_F32,
        lbm::shan_chen::TWO_FLUIDS,
        lbm::shan_chen::TWO_FLUIDS_F32,
        lbm::small_sets::D3Q7,
        lbm::small_sets::D3Q7_F32,
        lbm::small_sets::D3Q15,
        lbm::small_sets::D3Q15_F32,
        lbm::trt::CHANNEL,
        lbm::trt::CHANNEL_F32,
        lbm::mrt::PERIODIC,
        lbm::mrt::PERIODIC_F32,
        lbm::cumulant_planes::CAVITY,
        lbm::cumulant_planes::CAVITY_F32,
        lbm::cumulant_planes::PERIODIC,
        lbm::cumulant_planes::PERIODIC_F32,
        lbm::cumulant::CAVITY,
        lbm::cumulant::CAVITY_F32,
        lbm::cumulant::PERIODIC,
        lbm::cumulant::PERIODIC_F32,
        lbm::stress::PERIODIC,
        lbm::stress::PERIODIC_F32,
    ],
    boxes: &[stencil::heat_2d::BOX, lbm::entries::D2Q9_BOX, lbm::entries::D3Q27_BOX],
};

/// Kernels of each kind of dependence, border, lattice and element: those that tests try in every schedule, strategy
/// and kind of vectors. Commands list them first.
pub fn catalogue() -> &'static [Entry] {
    TABLE.listed
}

/// Kernels that people run, listed behind the catalogue's: each is a text of its own, and tests try it as users get it.
pub fn library() -> &'static [Entry] {
    TABLE.library
}

/// Grids and lattices of few long rows, which fit into a cache of any size. They are for measuring and no command lists
/// them: what they compute, kernels of the catalogue compute as well.
pub fn boxes() -> &'static [Entry] {
    TABLE.boxes
}

/// The kernel of that name, listed or not.
pub fn find(name: &str) -> Option<&'static Entry> {
    TABLE.entries().find(|e| e.name == name)
}

impl Table {
    fn entries(&self) -> impl Iterator<Item = &'static Entry> {
        self.listed.iter().chain(self.library).chain(self.boxes)
    }
}

impl Entry {
    /// The kernel, verified.
    ///
    /// # Errors
    /// [`KernelError`] if the definition is wrong, which a test of this crate excludes.
    pub fn kernel(&self) -> Result<Kernel, KernelError> {
        (self.definition)()
    }

    /// Binds a preset and the entry's scalars.
    pub fn case(&self, preset: &Preset) -> Case {
        let owned = |&(name, value): &(&str, f64)| (name.to_owned(), value);
        Case {
            sizes: preset.sizes.iter().map(|&(name, value)| (name.to_owned(), value)).collect(),
            steps: preset.steps,
            scalars: self.scalars.iter().map(owned).collect(),
        }
    }
}

impl Case {
    /// The value of a size parameter as an extent.
    ///
    /// # Errors
    /// [`KernelDataError::UnknownSize`] if it has no value, [`KernelDataError::BadSize`] if that is less than
    /// `at_least`.
    pub fn extent(&self, name: &str, at_least: usize) -> Result<usize, KernelDataError> {
        let found = self.sizes.iter().find(|(n, _)| n == name);
        let &(_, value) = found.ok_or_else(|| KernelDataError::UnknownSize { name: name.to_owned() })?;
        match usize::try_from(value) {
            Ok(extent) if extent >= at_least => Ok(extent),
            _ => Err(KernelDataError::BadSize { name: name.to_owned(), value, at_least }),
        }
    }

    /// The values of several size parameters, such as the extents of a box.
    ///
    /// # Errors
    /// As [`Case::extent`].
    pub fn extents(&self, names: &[&str], at_least: usize) -> Result<Vec<usize>, KernelDataError> {
        names.iter().map(|name| self.extent(name, at_least)).collect()
    }

    /// The value of a run-time scalar.
    ///
    /// # Errors
    /// [`KernelDataError::UnknownScalar`] if it has no value.
    pub fn scalar(&self, name: &str) -> Result<f64, KernelDataError> {
        let found = self.scalars.iter().find(|(n, _)| n == name);
        found.map(|&(_, value)| value).ok_or_else(|| KernelDataError::UnknownScalar { name: name.to_owned() })
    }
}

/// Arithmetic instructions of one instance of a statement: a fused one counts once, those that need nothing but scalars
/// and constants are hoisted and do not count.
pub fn site_instructions(stmt: &Stmt) -> usize {
    let mut varies = Vec::with_capacity(stmt.exprs.len());
    let mut instructions = 0;
    for expr in &stmt.exprs {
        let any = |operands: &[ExprId]| operands.iter().any(|e| varies[e.index()]);
        let (operation, depends) = match expr {
            Expr::Const(_) | Expr::Scalar(_) => (false, false),
            Expr::Index(_) | Expr::Load(..) | Expr::Lookup(_) => (false, true),
            Expr::Unary(_, a) | Expr::Shift(_, a, _) | Expr::Not(a) | Expr::Convert(_, a) | Expr::Saturate(_, a) => {
                (true, any(&[*a]))
            }
            Expr::Bits(_, a, b) => (true, any(&[*a, *b])),
            Expr::Binary(_, a, b) | Expr::Compare(_, a, b) | Expr::And(a, b) | Expr::Or(a, b) => (true, any(&[*a, *b])),
            Expr::Fma(a, b, c) | Expr::Select(a, b, c) => (true, any(&[*a, *b, *c])),
            Expr::Call(function, operands) => {
                // The last of its operations is counted below.
                instructions += if any(operands) { function.operations() - 1 } else { 0 };
                (true, any(operands))
            }
            Expr::Opaque(_, operands) => (true, any(operands)),
            other => unreachable!("no instruction is known for {other:?}"),
        };
        instructions += usize::from(operation && depends);
        varies.push(depends);
    }
    instructions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for entry in TABLE.entries() {
            assert_eq!(find(entry.name).map(|e| e.summary), Some(entry.summary));
        }
        assert!(find("no-such-kernel").is_none());
    }

    #[test]
    fn every_kernel_prints_as_a_text_that_reads_back() {
        for entry in TABLE.entries() {
            let kernel = entry.kernel().unwrap();
            assert_eq!(Kernel::parse(&kernel.to_string()), Ok(kernel), "{}", entry.name);
        }
    }

    #[test]
    fn instructions_of_the_main_statements_are_few() {
        let count = |name: &str| site_instructions(&find(name).unwrap().kernel().unwrap().stmts()[0]);
        assert_eq!(
            ["heat-1d", "heat-2d-5pt", "lbm-d2q9-cavity", "lbm-d2q9-periodic", "lbm-d2q9-cylinder"].map(count),
            [3, 5, 57, 57, 67]
        );
    }

    #[test]
    fn a_missing_or_small_size_is_an_error() {
        let entry = find("heat-1d").unwrap();
        let mut case = entry.case(&entry.default);
        case.sizes[0].1 = -3;
        assert!(matches!((entry.initial)(&case), Err(KernelDataError::BadSize { value: -3, .. })));
        case.sizes.clear();
        assert!(matches!((entry.initial)(&case), Err(KernelDataError::UnknownSize { .. })));
    }
}
