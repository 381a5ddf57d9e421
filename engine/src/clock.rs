//! A clock: how long each stage of a plan took, without what it had others do.
//!
//! Some values are found when they are first asked for (events and lifetimes of an array, conflicts of a pair), as
//! many plans need few of them. They are stages of their own here: their time is theirs, and not that of the stage that
//! happened to ask first.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

/// Name and seconds of each stage, in the order in which they first came to an end. Clones are the same clock.
#[derive(Clone, Default)]
pub(crate) struct Clock(Rc<RefCell<Times>>);

#[derive(Default)]
struct Times {
    stages: Vec<(&'static str, f64)>,
    /// For each stage that is running, the outermost first, the seconds that stages inside of it took.
    inside: Vec<f64>,
}

impl Clock {
    /// Runs a stage. What it takes is added to what stages of this name took before.
    pub(crate) fn time<R>(&self, name: &'static str, stage: impl FnOnce() -> R) -> R {
        self.0.borrow_mut().inside.push(0.0);
        let start = Instant::now();
        let result = stage();
        self.0.borrow_mut().end(name, start.elapsed().as_secs_f64());
        result
    }

    /// Name and seconds of each stage.
    pub(crate) fn stages(&self) -> Vec<(&'static str, f64)> {
        self.0.borrow().stages.clone()
    }

    /// Goes back to what it has said before.
    pub(crate) fn set(&self, stages: Vec<(&'static str, f64)>) {
        self.0.borrow_mut().stages = stages;
    }
}

impl Times {
    fn end(&mut self, name: &'static str, seconds: f64) {
        let own = seconds - self.inside.pop().expect("a stage that ends has begun");
        if let Some(around) = self.inside.last_mut() {
            *around += seconds;
        }
        match self.stages.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += own,
            None => self.stages.push((name, own)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn what_a_stage_has_others_do_is_their_time() {
        let clock = Clock::default();
        let pause = || sleep(Duration::from_millis(30));
        clock.time("choice", || {
            clock.time("conflicts", || {
                clock.time("events", pause);
                pause();
            });
            clock.clone().time("events", pause);
        });
        let stages = clock.stages();
        assert_eq!(stages.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["events", "conflicts", "choice"]);
        assert!(stages[0].1 >= 0.06 && stages[1].1 >= 0.03 && stages[2].1 < 0.03, "{stages:?}");
    }
}
