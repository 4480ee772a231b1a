"""HiGHS (in SciPy), quiet, with limits that are the same on every host."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

NODES = 20_000  # of the search tree; a limit on time would make answers differ


def minimise(
    objective: Floats,
    rows: Sequence[tuple[Any, Any]],
    bounds: tuple[Floats, Floats],
    integral: npt.NDArray[np.int64],
) -> Any:
    """SciPy's answer to: least objective, each matrix times x at most its limits."""
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    with _silenced():
        return milp(
            objective,
            integrality=integral,
            bounds=Bounds(*bounds),
            constraints=[
                LinearConstraint(sparse.csr_array(matrix), -np.inf, high) for matrix, high in rows
            ],
            # HiGHS's presolve (SciPy 1.17.1) takes 23.0 for the optimum of a problem of six sites
            # on three tiers where it is 22.17 (test_fastest.py), and calls it proven.
            options={"node_limit": NODES, "mip_rel_gap": 1e-9, "presolve": False},
        )


@contextmanager
def _silenced() -> Iterator[None]:
    """HiGHS writes a line of its own to standard output now and then, whatever it is told."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # it is closed
        yield
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
