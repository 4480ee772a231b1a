"""Table 5.4: how often SILC-FM's predictor has both the memory and the way right."""

from collections.abc import Sequence

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, paper
from thermocline.reproduce.ryoo.mixes import Mix, MixRun, MixStudy
from thermocline.reproduce.study import Study

NEAR = 0.05  # accuracies this near are alike


def runs(study: Study) -> Sequence[MixRun]:
    """SILC-FM."""
    _, mixes = common.chapter5(study)
    return [each for mix in mixes for each in (common.baseline(mix), common.run(mix, common.SILC))]


def _accuracy(study: MixStudy, mix: Mix) -> float:
    counted = study.answer(common.run(mix, common.SILC))["organisation"]
    return int(counted["right_predictions"]) / max(1, int(counted["predictions"]))


def result(study: Study) -> Result:
    """By mix and by group, as the thesis' means are."""
    made, mixes = common.chapter5(study)
    found = {mix.name: _accuracy(made, mix) for mix in mixes}
    groups = {
        name: sum(found[mix.name] for mix in those) / len(those)
        for name, those in common.grouped(made, mixes).items()
    }
    table = Table(
        "Table 5.4: accuracy of the predictor",
        ("workload", "ours", "thesis"),
        (
            *((mix.label, f"{found[mix.name]:.2f}", "") for mix in mixes),
            *(
                (f"{name} MPKI: mean", f"{value:.2f}", f"{paper.ACCURACY[name]:.2f}")
                for name, value in groups.items()
            ),
        ),
    )
    claim = Claim(
        "5.2.3",
        f"{paper.ACCURACY['all']:.2f} on average",
        f"{groups['all']:.2f}",
        abs(groups["all"] - paper.ACCURACY["all"]) < NEAR,
    )
    notes = (
        "counted over requests to far addresses: a near address has one way, known without a guess",
        "the instruction is the program's static one, before the compiler's last steps",
        *common.notes(made, mixes),
    )
    return Result((table,), (claim,), notes, {"accuracy": found, "groups": groups})


ITEM = Item("table5.4", "accuracy of SILC-FM's predictor", runs, result, None, 5)
