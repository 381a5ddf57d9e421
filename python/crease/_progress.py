"""How far a time loop has come."""

from __future__ import annotations

from typing import NamedTuple, Optional


class Progress(NamedTuple):
    """How far a call of :meth:`Run.advance` has come."""

    #: The step at which it began.
    first: int
    #: The step at which the run stands.
    step: int
    #: The step at which the call ends, unless it is told to stop.
    end: int
    #: Seconds since the call began, with those that callbacks took.
    elapsed: float

    @property
    def steps_done(self) -> int:
        """Steps done of this call."""
        return self.step - self.first

    @property
    def steps_left(self) -> int:
        """Steps that this call has still to do."""
        return self.end - self.step

    @property
    def fraction(self) -> float:
        """The part of its steps that this call has done, from 0 to 1."""
        return self.steps_done / (self.end - self.first) if self.end > self.first else 1.0

    @property
    def steps_per_second(self) -> float:
        """Steps in a second, on average over this call."""
        return self.steps_done / self.elapsed if self.elapsed > 0 else float("inf")

    @property
    def time_left(self) -> Optional[float]:
        """Seconds that the rest will take at this rate; none before the first step."""
        return self.steps_left / self.steps_per_second if self.steps_done else None
