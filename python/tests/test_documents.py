"""Listings of documents run; codes that the package raises are in the table."""

import doctest
import re
from pathlib import Path

import pytest

import crease

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("document", ["docs/PYTHON.md", "python/README.md"])
def test_listings_run(document, capsys):
    text = (ROOT / document).read_text(encoding="utf-8")
    listings = re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    names = {"__name__": "__listing__"}
    found = 0
    for listing in listings:
        line = text[: listing.start()].count("\n") + 1
        exec(compile("\n" * line + listing[1], str(ROOT / document), "exec"), names)
        found += 1
    assert found > 0
    capsys.readouterr()


def test_the_package_says_what_is_so():
    assert doctest.testmod(crease, raise_on_error=True).attempted == 4


def test_codes_are_listed():
    sources = [*(ROOT / "python/src").glob("*.rs"), *(ROOT / "python/crease").glob("*.py")]
    raised = {code for path in sources for code in re.findall(r'"(py/[a-z-]+)"', path.read_text(encoding="utf-8"))}
    table = (ROOT / "docs/PYTHON.md").read_text(encoding="utf-8").split("## Errors")[1]
    assert raised == set(re.findall(r"`(py/[a-z-]+)`", table))


def test_names_that_are_exported_have_docstrings():
    for name in crease.__all__:
        assert name.startswith("__") or callable(getattr(crease, name)) or name == "catalogue"
        if isinstance(getattr(crease, name), type):
            assert getattr(crease, name).__doc__, name
