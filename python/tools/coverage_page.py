"""Writes docs/coverage.md, which of torch's names there are and in which forms, and the READMEs' table of it.

Everything on the page is read off the imported package; run by `cargo xtask stubs`.
"""

import importlib
import json
import pathlib
import re
import sys
import types

ROOT = pathlib.Path(__file__).parents[2]
if any((ROOT / "python" / "rushlight").glob("_C.*[od]")):
    sys.path.insert(0, str(ROOT / "python"))

import rushlight  # noqa: E402
from rushlight import _C  # noqa: E402

PAGE = ROOT / "docs" / "coverage.md"
#: Where the forms of a name stand.
PLACES = {
    "torch": rushlight,
    "torch.Tensor": rushlight.Tensor,
    "torch.nn.functional": rushlight.nn.functional,
}
READMES = {
    "README.md": ("| place | names here | of torch's |", "rows of the op table"),
    "README.zh-CN.md": ("| 位置 | 已有的名字 | torch 共有 |", "算子表的行数"),
}

HEAD = """\
# What there is of torch

Written by `cargo xtask stubs` from the package; do not edit. A name that stands here behaves as
torch's does, or its documentation (`help(rushlight.NAME)`) says where not.

| place | names here | names in torch {version} |
|---|---|---|
{counts}

torch's count includes names of backends, quantised and sparse tensors and compilers, which are not
meant to come. The forms: *f* function, *m* method or attribute of a tensor, *nn* function of
`nn.functional`, *in place* the form with a trailing `_`, *out=* results written into a given tensor.

| name | forms | in place | out= | |
|---|---|---|---|---|
"""


def names(thing):
    """The public names of a place, but for modules, which come as they are imported."""
    found = {name for name in dir(thing) if not name.startswith("_")}
    return {name for name in found if not isinstance(getattr(thing, name), types.ModuleType)}


def place(path):
    """What stands here where torch has `path`; nothing if there is no such module."""
    if path in PLACES:
        return PLACES[path]
    try:
        return importlib.import_module(path.replace("torch", "rushlight", 1))
    except ModuleNotFoundError:
        return None


def counts():
    """(place, names here, names of torch's) for each place."""
    known = json.loads((ROOT / "python/tests/golden/names.json").read_text())
    for path, all_names in known["names"].items():
        theirs = set(all_names) - set(known["not counted"][path])
        # Not by `dir`: some names are loaded when they are asked for.
        thing = place(path)
        yield path, sum(hasattr(thing, name) for name in theirs) if thing else 0, len(theirs)


def readme(name):
    """A README with its table as it should be."""
    head, rows = READMES[name]
    lines = [head, "|---|---|---|", *(f"| `{path}` | {n} | {m} |" for path, n, m in counts())]
    lines.append(f"| {rows} | {len(_C._table())} | |")
    text = (ROOT / name).read_text()
    begin, end = "<!-- coverage: written by `cargo xtask stubs` -->\n", "<!-- /coverage -->"
    return re.sub(f"(?<={re.escape(begin)}).*?(?={re.escape(end)})", "\n".join(lines) + "\n", text, flags=re.S)


def first_line(thing):
    """What the documentation says first, without the signature."""
    lines = (getattr(thing, "__doc__", None) or "").strip().splitlines()
    lines = [line for line in lines if line and not line.split("(")[0].isidentifier() and line != "--"]
    return lines[0].strip().replace("|", "\\|") if lines else ""


def out_forms():
    """The names whose rows take `out=`."""
    return {name for name, forms in _C._table() if any(form.get("out", False) for form in forms)}


def page():
    """The page's text."""
    known = json.loads((ROOT / "python/tests/golden/names.json").read_text())
    here = {place: names(thing) & set(known["names"][place]) for place, thing in PLACES.items()}
    table = "\n".join(f"| `{path}` | {n} | {m} |" for path, n, m in counts())
    text = HEAD.format(version=known["torch"].split("+")[0], counts=table)
    out = out_forms()
    shown = set().union(*here.values())
    for name in sorted(shown, key=lambda n: (n.lower(), n)):
        if name.endswith("_") and name[:-1] in shown:
            continue
        forms = [short for short, place in zip(("f", "m", "nn"), PLACES) if name in here[place]]
        thing = next(getattr(PLACES[place], name) for place in PLACES if name in here[place])
        # Constants and classes have no forms of calls.
        about = first_line(thing) if callable(thing) or isinstance(thing, property) else ""
        inplace = "yes" if name + "_" in shown else ""
        text += f"| `{name}` | {' '.join(forms)} | {inplace} | {'yes' if name in out else ''} | {about} |\n"
    return text


def main(arguments):
    """Writes the page and the tables, or compares them."""
    texts = {PAGE: page()} | {ROOT / name: readme(name) for name in READMES if (ROOT / name).exists()}
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    if arguments != ["--check"]:
        for path in stale:
            path.write_text(texts[path])
        return 0
    for path in stale:
        print(f"{path.name} is not current: run `cargo xtask stubs`")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
