//! Times of observers in steps and behind them, and which of the two is faster.
//!
//! In: the last steps of calls with observers, as they end.   Out: which form the next ones take.
//!
//! What is compared is all that runs from one step to another, the same number of steps in both forms, so that nothing
//! has to be taken apart.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::run::options::ObserverForm;
use crate::run::two_ways::TwoWays;

/// What a run knows of its observers, by the names of those that are computed together.
pub(super) type Observing = BTreeMap<Vec<String>, Known>;

/// What a run knows of some observers.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Where they were computed the last time.
    pub(super) last: Option<ObserverForm>,
    /// Time of passes behind the steps, so far.
    pub(super) in_passes: Duration,
    /// Times of the last steps of calls with the observers behind them, or else among them, by how many they are.
    by_steps: BTreeMap<i64, TwoWays>,
}

impl Known {
    /// What the next ones take, so many steps, if both forms can be.
    pub(super) fn form(&self, steps: i64) -> ObserverForm {
        let is_fused = self.by_steps.get(&steps).is_none_or(TwoWays::takes_other);
        if is_fused { ObserverForm::Fused } else { ObserverForm::Pass }
    }

    /// Notes how long so many steps and the observers took, where both forms can be.
    pub(super) fn note(&mut self, form: ObserverForm, steps: i64, elapsed: Duration) {
        self.by_steps.entry(steps).or_default().note(form != ObserverForm::Pass, elapsed, steps);
    }

    /// Calls that were noted of a form.
    #[cfg(test)]
    pub(super) fn calls(&self, form: ObserverForm) -> u32 {
        let of = |(passes, fused)| if form == ObserverForm::Pass { passes } else { fused };
        self.by_steps.values().map(|ways| of(ways.calls())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_timed_in_turns_before_the_faster_one_stays() {
        let (mut known, milliseconds) = (Known::default(), Duration::from_millis);
        for _ in 0..5 {
            assert_eq!(known.form(1), ObserverForm::Fused);
            known.note(ObserverForm::Fused, 1, milliseconds(5));
            assert_eq!(known.form(1), ObserverForm::Pass);
            known.note(ObserverForm::Pass, 1, milliseconds(4));
        }
        assert_eq!((known.form(1), known.form(2)), (ObserverForm::Pass, ObserverForm::Fused));
        known.note(ObserverForm::Fused, 1, milliseconds(3));
        assert_eq!(known.form(1), ObserverForm::Fused);
        assert_eq!((known.calls(ObserverForm::Fused), known.calls(ObserverForm::Pass)), (6, 5));
    }
}
