"""Figures and tables of the papers, made again with our own workloads (docs/reproduce.md).

A paper is a package that lists its items; an item is one file and one line in it.
"""

from thermocline.reproduce.item import Paper


def papers() -> dict[str, Paper]:
    """All that can be reproduced, by name."""
    from thermocline.reproduce import membrain, optane, ryoo

    return {paper.name: paper for paper in (membrain.PAPER, optane.PAPER, ryoo.PAPER)}
