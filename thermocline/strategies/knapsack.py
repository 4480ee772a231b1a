"""knapsack (Olson et al. 2018, section III.A): the most traffic that fits; never passes capacity.

Exact 0/1 knapsack by dynamic programming over an expanding core (after Pisinger, "A minimal
algorithm for the 0-1 knapsack problem", Operations Research 45, 1997): start from the greedy
solution up to the first site that does not fit, then take sites on both sides of that break into
the core in turn, keeping undominated (weight, value) states that can still beat the best known.
Profiles need a few dozen steps.  Where the states would be too many, it stops and states the gap
that the remaining bounds prove.  All state arithmetic is in 64-bit integers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thermocline.profiles.merge import Candidate
from thermocline.strategies import Choice, by_density

Ints = npt.NDArray[np.int64]

# How many states may be looked at in all: about half a second on a slow core.
WORK = 4_000_000


@dataclass
class _States:
    weight: Ints
    value: Ints
    parent: Ints  # index into the step before
    flipped: npt.NDArray[np.bool_]  # the step's site changed sides


def choose(candidates: Sequence[Candidate], capacity: int) -> Choice:
    """The best set, or the best found and its proven gap."""
    free = [s for s in candidates if s.bytes == 0 and s.traffic > 0]
    useful = [s for s in candidates if 0 < s.bytes <= capacity and s.traffic > 0]
    items = by_density(useful)
    taken, bound = _solve(
        [site.bytes for site in items], [site.traffic for site in items], capacity
    )
    base = sum(site.traffic for site in free)
    value = base + sum(site.traffic for site, take in zip(items, taken, strict=True) if take)
    fast = {site.key: "needs no room" for site in free}
    for site, take in zip(items, taken, strict=True):
        if take:
            fast[site.key] = "in the best set that fits"
    return Choice(
        fast, gap=max(0, base + bound - value) / max(1, value), left_out="not in the best set"
    )


def _solve(weights: list[int], values: list[int], capacity: int) -> tuple[list[bool], int]:
    """Which items (sorted by falling density) to take, and an upper bound on any set's value."""
    count = len(weights)
    taken = [False] * count
    room = capacity
    brk = count
    for index, weight in enumerate(weights):
        if weight > room:
            brk = index
            break
        taken[index] = True
        room -= weight
    start_value = sum(values[:brk])
    if brk == count:
        return taken, start_value
    greedy = _filled(taken, weights, room)
    known = sum(value for value, take in zip(values, greedy, strict=True) if take)
    search = _Search(weights, values, capacity, brk, (capacity - room, start_value), known)
    bound = search.run()
    if not search.improved:
        return greedy, bound
    for index in search.best_flips():
        taken[index] = not taken[index]
    left = capacity - sum(w for w, take in zip(weights, taken, strict=True) if take)
    return _filled(taken, weights, left), bound


def _filled(taken: list[bool], weights: list[int], room: int) -> list[bool]:
    """With whatever still fits added, densest first."""
    result = taken.copy()
    for index, weight in enumerate(weights):
        if not result[index] and weight <= room:
            result[index] = True
            room -= weight
    return result


class _Search:
    """The expanding core."""

    def __init__(
        self,
        weights: list[int],
        values: list[int],
        capacity: int,
        brk: int,
        start: tuple[int, int],
        known: int,
    ) -> None:
        self.weights, self.values, self.capacity = weights, values, capacity
        self.left, self.right = brk - 1, brk  # next to remove, next to add
        self.best = known
        self.improved = False
        self.best_at = (0, 0)  # step, state
        self.steps: list[_States] = []
        self.items: list[int] = []
        self.states = _States(
            np.array([start[0]], np.int64),
            np.array([start[1]], np.int64),
            np.zeros(1, np.int64),
            np.zeros(1, np.bool_),
        )

    def run(self) -> int:
        """Expands until nothing can beat the best, or the work is used up; returns the bound."""
        work = 0
        turn_right = True
        self.steps.append(self.states)
        self._prune()
        while len(self.states.weight):
            if work > WORK:
                return max(self.best, int(self._bounds().max()))
            has_left, has_right = self.left >= 0, self.right < len(self.weights)
            if not has_left and not has_right:
                break
            if has_right and (turn_right or not has_left):
                self._step(self.right, +1)
                self.right += 1
            else:
                self._step(self.left, -1)
                self.left -= 1
            turn_right = not turn_right
            work += len(self.states.weight) + 50
            self._prune()
        return self.best

    def _step(self, item: int, sign: int) -> None:
        """Every state with and without the change, in order of weight, dominated ones dropped."""
        old = self.states
        size = len(old.weight)
        index = np.arange(size, dtype=np.int64)
        weight = np.concatenate([old.weight, old.weight + sign * self.weights[item]])
        value = np.concatenate([old.value, old.value + sign * self.values[item]])
        parent = np.concatenate([index, index])
        flipped = np.repeat(np.array([False, True]), size)
        # A stable sort merges the two sorted runs in linear time.  Of equal weights the less
        # valuable may stay: it does no harm.
        order = np.argsort(weight, kind="stable")
        weight, value = weight[order], value[order]
        best_before = np.maximum.accumulate(np.concatenate([[np.int64(-1)], value[:-1]]))
        keep = value > best_before
        self.states = _States(weight[keep], value[keep], parent[order][keep], flipped[order][keep])
        self.items.append(item)
        self.steps.append(self.states)
        fits = int(np.searchsorted(self.states.weight, self.capacity, side="right"))
        # Undominated states rise in value with weight: the best that fits is the last.
        if fits and int(self.states.value[fits - 1]) > self.best:
            self.best = int(self.states.value[fits - 1])
            self.improved = True
            self.best_at = (len(self.steps) - 1, fits - 1)

    def _bounds(self) -> npt.NDArray[np.float64]:
        """What each state can become: fill at the next density, or shed at the cheapest."""
        weight, value = self.states.weight, self.states.value
        room = (self.capacity - weight).astype(np.float64)
        fill = (
            self.values[self.right] / self.weights[self.right]
            if self.right < len(self.weights)
            else 0.0
        )
        shed = self.values[self.left] / self.weights[self.left] if self.left >= 0 else np.inf
        with np.errstate(invalid="ignore"):
            change = np.where(room >= 0, room * fill, room * shed)
        # Rounded up a little, so that no state is lost to floating point.
        bound = (value + change) * (1 + 1e-12)
        return np.asarray(bound, np.float64)

    def _prune(self) -> None:
        """Drops states that can't beat the best by one whole unit."""
        keep = self._bounds() >= self.best + 1
        states = self.states
        self.states = _States(
            states.weight[keep], states.value[keep], states.parent[keep], states.flipped[keep]
        )
        # The step is stored as pruned, so that parents stay indices into it.
        step = len(self.steps) - 1
        if self.improved and self.best_at[0] == step:
            position = int(self.best_at[1])
            self._pin = (states.parent[position], states.flipped[position])
        self.steps[step] = self.states

    def best_flips(self) -> list[int]:
        """The items that the best state has on the other side than the greedy start."""
        step, _ = self.best_at
        flips: list[int] = []
        parent, flipped = self._pin
        while True:
            if flipped:
                flips.append(self.items[step - 1])
            step -= 1
            if step == 0:
                return flips
            states = self.steps[step]
            flipped, parent = states.flipped[parent], states.parent[parent]
