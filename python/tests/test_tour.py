"""The pages of docs/ and the READMEs: their programs run and print what the pages say."""

import contextlib
import io
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def programs(page):
    """Each program of a page and the output that stands right below it, or None."""
    blocks = [(m.group(1), m.group(2), m.start(), m.end()) for m in BLOCK.finditer(page)]
    for k, (language, text, _, end) in enumerate(blocks):
        if language == "python":
            following = blocks[k + 1] if k + 1 < len(blocks) else None
            adjacent = following and following[0] == "text" and page[end : following[2]].strip() == ""
            yield text, following[1] if adjacent else None


@pytest.mark.parametrize("name", ["docs/tour.md", "docs/tour.zh-CN.md", "docs/autograd.md", "docs/array_api.md", "README.md", "README.zh-CN.md"])
def test_page_prints_what_it_says(name):
    pytest.importorskip("numpy")
    names = {}
    page = (ROOT / name).read_text(encoding="utf-8")
    ran = 0
    for text, expected in programs(page):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(text, name, "exec"), names)
        ran += 1
        if expected is not None:
            assert said.getvalue() == expected, f"{name}: this program prints something else:\n{text}"
    assert ran, f"{name} has no program"


def test_both_tours_have_the_same_programs():
    english, chinese = ((ROOT / f"docs/tour{x}.md").read_text(encoding="utf-8") for x in ("", ".zh-CN"))
    assert list(programs(english)) == list(programs(chinese))
