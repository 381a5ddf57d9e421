"""What a plan says of itself: text, a dictionary, and pictures in a notebook."""

import xml.etree.ElementTree as xml

import pytest

import crease
from kernels import BLUR, HEAT


@pytest.fixture(scope="module")
def explanation():
    return crease.Kernel.parse(HEAT).plan(N=8, threads=1).explain(all_sizes=True)


def test_text_and_report(explanation):
    text = str(explanation)
    for wanted in ["heat   schedule rows   N = 8", "domains", "mappings", "buffers", "lower bound", "threads: 1"]:
        assert wanted in text
    assert "crease run" not in text
    assert repr(explanation) == text
    assert explanation.report["params"] == {"N": 8} and explanation.report["parametric"] is not None


def test_pictures_are_inline(explanation):
    pictures = explanation.pictures
    assert set(pictures) == {"storage-map", "lifetimes", "wavefronts"}
    for svg in pictures.values():
        assert xml.fromstring(svg).tag.endswith("svg")
    page = explanation._repr_html_()
    assert page.count("<svg") == 3 and "<pre>heat" in page and "u[t - 1" not in page.split("</pre>")[1][:200]
    assert "&lt;=" in page and "4 steps at N = 8" in page


def test_large_plans_are_drawn_small():
    explanation = crease.Kernel.parse(HEAT).plan(N=500, memory_cap_bytes=3_000_000).explain()
    assert 3 <= explanation.drawn_sizes["N"] < 500
    assert "N = 500" in str(explanation)


def test_what_cannot_be_drawn_is_said():
    explanation = crease.Kernel.parse(HEAT).plan(N=8).explain(steps=10**7)
    page = explanation._repr_html_()
    assert "<pre>" in page and ("No pictures: " in page or "<svg" in page)


def test_files(tmp_path, explanation):
    paths = explanation.save(tmp_path / "heat")
    assert [path.name for path in paths][0] == "explain.txt" and len(paths) == 4
    assert all(path.stat().st_size > 0 for path in paths)


def test_reports():
    plan = crease.Kernel.parse(HEAT).plan(N=20)
    assert plan.report["buffers"][0]["cells"] == 20 * 21
    assert plan.folded_bytes >= 8 * 20 * 21 and plan.total_bytes == plan.folded_bytes
    bound = plan.report_with_bounds()["buffers"][0]["lower_bound_cells"]
    assert 0 < bound <= 20 * 21
    assert "heat(N=20)" in repr(plan) and "heat(N, run T)" in repr(plan.kernel)
    assert crease.Kernel.parse(BLUR).plan(H=9, W=9).explain().pictures
