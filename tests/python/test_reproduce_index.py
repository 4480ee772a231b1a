"""The index of the papers' figures: what was made, what wasn't, and the documents of all."""

import json
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from thermocline.errors import ThermoclineError
from thermocline.reproduce import index, papers
from thermocline.reproduce.artefacts import to_json, write
from thermocline.reproduce.item import Claim, Result, Table


def _draw(figure: Figure) -> None:
    figure.add_subplot().plot([1, 2])


RESULT = Result(
    tables=(Table("Shares | of <all>", ("program", "share"), (("hydro", "71 %"), ("a|b", "2 %"))),),
    claims=(
        Claim("IV.A", "thermos serves 80 %", "it serves 71 %", False),
        Claim("IV.B", "hotset is close", "within 1 %", True),
    ),
    notes=("one thread",),
    data={},
    draw=_draw,
)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    folder = tmp_path / "reproduce-membrain"
    folder.mkdir()
    write(folder, "fig4", RESULT)
    return tmp_path


def entry(folder: Path, paper: str, name: str) -> index.Entry:
    return next(e for e in index.entries(papers(), folder) if (e.paper, e.name) == (paper, name))


def test_every_item_and_what_was_left_out_is_there_once(tmp_path: Path) -> None:
    found = [(e.paper, e.name) for e in index.entries(papers(), tmp_path)]
    assert len(found) == len(set(found))
    for paper in papers().values():
        assert {(paper.name, item.name) for item in paper.items} <= set(found)
        assert paper.name == "optane" or paper.left_out


def test_states(made: Path) -> None:
    fig4 = entry(made, "membrain", "fig4")
    assert fig4.state == "made; agrees with 1 of 2 statements"
    assert (fig4.stated, fig4.ours) == ("thermos serves 80 %", "it serves 71 %")
    assert fig4.picture == made / "reproduce-membrain" / "fig4.png"
    assert entry(made, "membrain", "fig2").state == "not made here yet"
    assert entry(made, "membrain", "fig3").state.startswith("not made: a drawing")


def test_one_document_holds_tables_statements_and_pictures(made: Path) -> None:
    found = index.entries(papers(), made)
    text = index.markdown(papers(), found, made)
    assert "![fig4](reproduce-membrain/fig4.png)" in text
    assert "| a\\|b | 2 % |" in text
    assert "- **disagrees**: IV.A: thermos serves 80 %; here: it serves 71 %" in text
    page = index.page(papers(), found)
    assert "Shares | of &lt;all&gt;" in page
    assert 'src="data:image/png;base64,' in page
    assert page.count("<section") == 1


@pytest.mark.parametrize("text", ["", "{}", '{"format": "x"}', "[1"])
def test_a_broken_file_is_named(made: Path, text: str) -> None:
    (made / "reproduce-membrain" / "fig4.json").write_text(text)
    with pytest.raises(ThermoclineError, match=r"fig4\.json: not a reproduced item"):
        index.entries(papers(), made)


def test_what_is_written_is_read(made: Path) -> None:
    read: dict[str, Any] = json.loads((made / "reproduce-membrain" / "fig4.json").read_text())
    assert read == json.loads(json.dumps(to_json(RESULT)))
