//! All instances of a kernel in the order of a schedule.

use crate::kernel::affine::AffineOverflow;
use crate::kernel::bound::BoundAffine;
use crate::kernel::graph::{DimKind, Kernel, Schedule, StmtId};
use crate::kernel::interpret::{Direction, InterpretError, InterpretOptions};
use crate::kernel::points::{Points, PointsError, points};

/// Instances in order, and the groups of those that are not ordered among each other.
#[derive(Debug)]
pub(super) struct Instances {
    domains: Vec<DomainPoints>,
    /// Statement and position in its points.
    instances: Vec<(u32, u32)>,
    /// Positions in `instances`, in execution order.
    order: Vec<u32>,
    /// Ends of the groups, as positions in `order`.
    ends: Vec<usize>,
}

/// The points of a statement's domain, addressable.
#[derive(Debug)]
struct DomainPoints {
    n_iters: usize,
    coordinates: Vec<i64>,
}

/// Sort keys: one component per time dimension, then the lane in each vector dimension.
struct Keys {
    len: usize,
    values: Vec<i64>,
}

impl Instances {
    pub(super) fn new(
        kernel: &Kernel,
        schedule: &Schedule,
        params: &[i64],
        options: &InterpretOptions,
    ) -> Result<Instances, InterpretError> {
        let n_lanes = schedule.dims.iter().filter(|d| matches!(d, DimKind::Vector(_))).count();
        let mut keys = Keys { len: schedule.dims.len() + n_lanes, values: Vec::new() };
        let mut domains = Vec::new();
        let mut instances = Vec::new();
        // Instances are numbered by 32 bits.
        let limit = options.limit.min(u32::MAX.into());
        let mut left = limit;
        for (position, stmt) in kernel.stmts().iter().enumerate() {
            let found = points(&stmt.domain, stmt.iters.len(), params, left.saturating_mul(2));
            let found = found.map_err(|source| points_error(&stmt.name, source, limit))?;
            let too_large = || points_error(&stmt.name, PointsError::TooMany { limit }, limit);
            left = left.checked_sub(found.len() as u64).ok_or_else(too_large)?;
            let overflow = |source| InterpretError::Overflow { owner: format!("statement `{}`", stmt.name), source };
            keys.extend(schedule, position, params, options, &found).map_err(overflow)?;
            instances.extend((0..found.len()).map(|i| (position as u32, i as u32)));
            domains.push(DomainPoints { n_iters: stmt.iters.len(), coordinates: found.into_coordinates() });
        }
        let order = keys.sorted(instances.len());
        let ends = keys.group_ends(&order, schedule.dims.len());
        Ok(Instances { domains, instances, order, ends })
    }

    /// The groups in execution order; members are read in order, then written in order.
    pub(super) fn groups(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.order[start..end])
    }

    /// Statement and iterators of an instance.
    pub(super) fn get(&self, instance: u32) -> (StmtId, &[i64]) {
        let (stmt, point) = self.instances[instance as usize];
        let domain = &self.domains[stmt as usize];
        (StmtId(stmt), &domain.coordinates[point as usize * domain.n_iters..][..domain.n_iters])
    }
}

impl Keys {
    /// Appends the keys of the points of one statement.
    fn extend(
        &mut self,
        schedule: &Schedule,
        stmt: usize,
        params: &[i64],
        options: &InterpretOptions,
        points: &Points,
    ) -> Result<(), AffineOverflow> {
        let times = schedule.times[stmt].iter().map(|e| BoundAffine::new(e, params)).collect::<Result<Vec<_>, _>>()?;
        let directed = |time: i64| match options.direction {
            Direction::Ascending => Ok(time),
            Direction::Descending => time.checked_neg().ok_or(AffineOverflow),
        };
        let mut lanes = Vec::new();
        for point in points.iter() {
            lanes.clear();
            for (e, kind) in times.iter().zip(&schedule.dims) {
                let time = e.eval(point)?;
                self.values.push(match kind {
                    DimKind::Sequential => time,
                    DimKind::Parallel | DimKind::Overlapped => directed(time)?,
                    DimKind::Vector(width) => {
                        lanes.push(directed(time)?);
                        let width = i64::from((*width).min(options.lanes).max(1));
                        time.checked_sub(options.anchor).ok_or(AffineOverflow)?.div_euclid(width)
                    }
                });
            }
            self.values.extend_from_slice(&lanes);
        }
        Ok(())
    }

    fn key(&self, instance: u32) -> &[i64] {
        &self.values[instance as usize * self.len..][..self.len]
    }

    fn sorted(&self, instances: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..instances as u32).collect();
        if !order.is_sorted_by(|&a, &b| self.key(a) <= self.key(b)) {
            order.sort_by(|&a, &b| self.key(a).cmp(self.key(b)));
        }
        order
    }

    /// Instances with one time (blocks instead of lanes) belong together.
    fn group_ends(&self, order: &[u32], dims: usize) -> Vec<usize> {
        let starts_group = |i: &usize| self.key(order[i - 1])[..dims] != self.key(order[*i])[..dims];
        let mut ends: Vec<usize> = (1..order.len()).filter(starts_group).collect();
        if !order.is_empty() {
            ends.push(order.len());
        }
        ends
    }
}

fn points_error(stmt: &str, source: PointsError, limit: u64) -> InterpretError {
    let owner = format!("statement `{stmt}`");
    match source {
        PointsError::TooMany { .. } => InterpretError::TooManyInstances { owner, limit },
        source => InterpretError::Points { owner, source },
    }
}
