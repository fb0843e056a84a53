"""Writes array_api.json: the names of the array API standard and the parameters of its functions.

    make_array_api.py STUBS

STUBS is the folder ``src/array_api_stubs/_2025_12`` of data-apis/array-api. For each of its chapters the
JSON has the public names, and for functions and methods a list of [parameter, kind, default as text].
"""

import ast
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent


def parameters(function):
    """What may be passed, but for self."""
    a = function.args
    plain = [*((p, "positional") for p in a.posonlyargs), *((p, "any") for p in a.args)]
    defaults = [None] * (len(plain) - len(a.defaults)) + a.defaults
    rows = [(p, kind, default) for (p, kind), default in zip(plain, defaults)]
    rows += [(a.vararg, "many", None)] if a.vararg else []
    rows += [(p, "keyword", default) for p, default in zip(a.kwonlyargs, a.kw_defaults)]
    return [[p.arg, kind, None if d is None else ast.unparse(d)] for p, kind, d in rows if p.arg != "self"]


def chapter(path):
    """The public names of one file of stubs."""
    tree = ast.parse(path.read_text())
    listed = next(ast.literal_eval(n.value) for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "__all__")
    body = next((n.body for n in tree.body if isinstance(n, ast.ClassDef) and n.name in ("_array", "array", "Info")), tree.body)
    found = {n.name: parameters(n) for n in tree.body if isinstance(n, ast.FunctionDef) and (n.name in listed or n.name[0] != "_")}
    if body is not tree.body:
        for n in body:
            if isinstance(n, ast.FunctionDef) and n.name != "__init__":
                attribute = any(ast.unparse(d) == "property" for d in n.decorator_list)
                found[n.name] = None if attribute else parameters(n)
    for name in listed:
        if name not in found and name not in ("array", "Info"):
            found[name] = None
    return found


if __name__ == "__main__":
    files = sorted(p for p in pathlib.Path(sys.argv[1]).glob("*.py") if p.name[0] != "_" and p.name != "data_types.py")
    parts = []
    for path in files:
        lines = (f" {json.dumps(name)}: {json.dumps(taken)}" for name, taken in chapter(path).items())
        parts.append(f"{json.dumps(path.stem)}: {{\n" + ",\n".join(lines) + "\n}")
    (HERE / "array_api.json").write_text("{\n" + ",\n".join(parts) + "\n}\n")
