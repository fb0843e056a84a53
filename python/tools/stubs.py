"""Writes the package's .pyi files: run by `cargo xtask stubs`.

    python python/tools/stubs.py            writes them
    python python/tools/stubs.py --check    says which are not current, and exits 1

What the op table has comes from the table. Everything else is read off the imported package:
names and defaults from the objects, types of parameters and results from `stub_types.py`.
"""

import importlib
import inspect
import keyword
import pathlib
import sys
import types

PYTHON = pathlib.Path(__file__).parent.parent
sys.path.insert(0, str(PYTHON / "tools"))
if any((PYTHON / "rushlight").glob("_C.*[od]")):
    sys.path.insert(0, str(PYTHON))

import rushlight  # noqa: E402
import stub_types  # noqa: E402
from rushlight import _C  # noqa: E402

HEAD = """\
# Written by `cargo xtask stubs` from the op table and the package. Do not edit.
# mypy: disable-error-code="overload-overlap, overload-cannot-match, misc, override"
import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, TypeVar, overload

from typing_extensions import Self

_F = TypeVar("_F", bound=Callable[..., Any])
"""
ALIASES = """
Number = builtins.int | builtins.float | builtins.complex
_dtype = dtype
_device = device
_Device = device | str | builtins.int
_Type = dtype | type[builtins.float] | type[builtins.int] | type[builtins.bool] | type[builtins.complex]
"""

TABLE = dict(_C._table())


# --- Rows of the table ----------------------------------------------------------------------------


def row_type(text):
    """A parameter type of the table, as a stub says it."""
    parts = {
        "int": "builtins.int",
        "float": "builtins.float",
        "bool": "builtins.bool",
        "str": "str",
        "None": "None",
        "Tensor": "Tensor",
        "Number": "Number",
        "dtype": "_Type",
        "device": "_Device",
        "Generator": "Generator",
        "Sequence[int]": "Sequence[builtins.int]",
        "Sequence[Tensor]": "Sequence[Tensor]",
        "Sequence[Tensor | None]": "Sequence[Tensor | None]",
    }
    if text in parts:
        return parts[text]
    return " | ".join(parts.get(part, "Any") for part in text.split(" | "))


def row_signatures(name, form, method):
    """The signatures of one row, more than one where a list may be written without brackets."""
    params = form["params"]
    taken = params[1:] if method else params
    spread = [p for p in taken if not p[3]]
    loose = len(spread) == 1 and spread[0][1] in ("Sequence[int]", "int | Sequence[int] | None")
    result = "Self" if method and form["inplace"] else form["returns"]
    if isinstance(result, list):
        # A named tuple, whose class is made when first needed.
        result = "Any" if len(result) > 8 else f"_{len(result)}Tensors"
    for stars in ([False, True] if loose else [False]):
        parts, only = ["self"] if method else [], False
        for p, kind, default, keyword_only in taken:
            if stars and p == spread[0][0]:
                parts.append(f"*{p}: builtins.int")
                only = True
                continue
            if keyword_only and not only:
                parts.append("*")
                only = True
            # A size may be one number, for all dimensions.
            kind = row_type(kind) + (" | builtins.int" if kind == "Sequence[int]" else "")
            parts.append(f"{safe(p)}: {kind}" + ("" if default is None else " = ..."))
        extra = ["out: Tensor | tuple[Tensor, ...] | None = ..."] if form["out"] and not form["inplace"] else []
        if form["factory"]:
            extra += ["requires_grad: builtins.bool = ...", "layout: Any = ...", "pin_memory: builtins.bool = ..."]
            extra += ["memory_format: Any = ..."]
        if extra and not only:
            parts.append("*")
        yield f"({', '.join(parts + extra)}) -> {result}"


def safe(name):
    """A parameter name that Python allows."""
    return name + "_" if keyword.iskeyword(name) else name


def from_table(name, method, indent=""):
    """The stub of a name of the table."""
    forms = [f for f in TABLE[name] if f["method"] or not method]
    lines = [s for f in forms for s in row_signatures(name, f, method)]
    lines = list(dict.fromkeys(lines))
    doc = doc_line(forms[0]["doc"])
    head = f"{indent}@overload\n" if len(lines) > 1 else ""
    text = [f"{head}{indent}def {name}{line}: ..." for line in lines]
    return "\n".join([f"{indent}# {doc}"] * bool(doc) + text)


def doc_line(doc):
    """The first line of a docstring."""
    lines = (doc or "").strip().splitlines()
    return lines[0].strip() if lines else ""


# --- Everything else ------------------------------------------------------------------------------


def parameters(function, method, path):
    """The parameters of a Python or Rust function, with their types."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "self, *args: Any, **kwargs: Any" if method else "*args: Any, **kwargs: Any"
    parts, only, positional = [], False, False
    for k, p in enumerate(signature.parameters.values()):
        if method and k == 0 and p.name in ("self", "cls", "slf", "input", "a", "$self"):
            parts.append("cls" if p.name == "cls" else "self")
            continue
        kind = stub_types.parameter(path, p.name)
        default = "" if p.default is p.empty else " = ..."
        if p.kind is p.POSITIONAL_ONLY:
            positional = True
        elif positional:
            parts.append("/")
            positional = False
        if p.kind is p.VAR_POSITIONAL:
            parts.append(f"*{p.name}: {kind}")
            only = True
        elif p.kind is p.VAR_KEYWORD:
            parts.append(f"**{p.name}: Any")
        else:
            if p.kind is p.KEYWORD_ONLY and not only:
                parts.append("*")
                only = True
            parts.append(f"{safe(p.name)}: {kind}{default}")
    if positional and parts != ["self"]:
        parts.append("/")
    return ", ".join(parts)


def function_stub(name, function, path, method=False, indent="", module=""):
    """The stub of a function or method."""
    known = stub_types.WHOLE.get(path)
    if known is not None:
        return "\n".join(indent + line for line in known.splitlines())
    result = stub_types.result(path, name, module)
    if method and result == "Tensor" and name.endswith("_") and not name.startswith("_"):
        result = "Self"
    return f"{indent}def {name}({parameters(function, method, path)}) -> {result}: ..."


def class_stub(name, cls):
    """The stub of a class."""
    bases = [b.__name__ for b in cls.__bases__ if b is not object and not b.__name__.startswith("_")]
    lines = [f"class {name}{'(' + ', '.join(bases) + ')' if bases else ''}:"]
    # What bases that are not shown have, is shown here.
    members = {}
    for base in reversed([b for b in cls.__mro__ if b is cls or b.__name__.startswith("_")]):
        members.update(base.__dict__)
    for member, value in sorted(members.items()):
        path = f"{name}.{member}"
        if path in stub_types.WHOLE:
            lines += ["    " + line for line in stub_types.WHOLE[path].splitlines()]
            continue
        special = member.startswith("__") and member.endswith("__")
        if (member.startswith("_") and not special) or (special and member not in stub_types.SPECIAL):
            continue
        if isinstance(value, staticmethod):
            lines.append("    @staticmethod\n" + function_stub(member, value.__func__, path, False, "    "))
        elif isinstance(value, classmethod):
            lines.append("    @classmethod\n" + function_stub(member, value.__func__, path, True, "    "))
        elif isinstance(value, property) or type(value).__name__ == "getset_descriptor":
            lines.append(f"    @property\n    def {member}(self) -> {stub_types.result(path, member)}: ...")
            if stub_types.settable(value, path):
                lines.append(f"    @{member}.setter\n    def {member}(self, value: {stub_types.result(path, member)}) -> None: ...")
        elif member in TABLE and not isinstance(value, types.FunctionType):
            lines.append(from_table(member, True, "    "))
        elif callable(value):
            lines.append(function_stub(member, value, path, True, "    "))
        elif not special:
            lines.append(f"    {member}: ClassVar[{stub_types.result(path, member)}]")
    if len(lines) == 1:
        lines.append("    ...")
    return "\n".join(lines)


def home(value):
    """The module that a class or function is shown in."""
    module = getattr(value, "__module__", None) or ""
    if isinstance(value, type) and module in ("rushlight", "rushlight._C"):
        return "rushlight._C" if getattr(_C, value.__name__, None) is value else "rushlight"
    return module


def module_stub(module):
    """The stub of a module."""
    # Submodules are named whether something has imported them yet or not.
    inside = [name.rpartition(".") for name in stub_types.MODULES]
    children = [child for parent, _, child in inside if parent == module.__name__ and not child.startswith("_")]
    # A function may have the name of the module that it is in.
    children = [c for c in children if isinstance(vars(module).get(c, module), types.ModuleType)]
    lines, imports = [], [f"from . import {child} as {child}" for child in children]
    for name, value in list(vars(module).items()):
        if name.startswith("_") and name not in stub_types.PRIVATE.get(module.__name__, ()):
            continue
        if isinstance(value, types.ModuleType):
            continue
        where = home(value)
        if isinstance(value, type):
            if where == module.__name__ or (module is rushlight and where == "rushlight"):
                lines.append(class_stub(name, value))
            elif where.startswith("rushlight"):
                imports.append(f"from {where} import {value.__name__} as {name}")
        elif name in TABLE and value is _C._functions.get(name):
            lines.append(from_table(name, False))
        elif isinstance(value, types.FunctionType | types.BuiltinFunctionType):
            mine = where in (module.__name__, "rushlight._functions", "rushlight._tensor_from", "rushlight._C", None, "_C")
            if mine or where.split(".")[-1].startswith("_"):
                lines.append(function_stub(name, value, name, module=module.__name__))
            elif where.startswith("rushlight"):
                imports.append(f"from {where} import {value.__name__} as {name}")
        elif type(value).__module__ in ("rushlight", "rushlight._C"):
            lines.append(f"{name}: {stub_types.instance(value)}")
        elif isinstance(value, int | float | str | type(None)):
            lines.append(f"{name}: {'None' if value is None else 'builtins.' + type(value).__name__}")
    return imports, lines


def text_of(module):
    """The whole text of a module's stub."""
    imports, lines = module_stub(module)
    tuples = "".join(
        f"\nclass _{n}Tensors(tuple[{', '.join(['Tensor'] * n)}]):\n    def __getattr__(self, name: str) -> Tensor: ...\n"
        for n in (2, 3)
    )
    if module is _C:
        return "\n".join([HEAD, *lines, ALIASES, tuples, stub_types.EXTRA.get("rushlight._C", "")]) + "\n"
    shared = "from rushlight._C import Number as Number, _2Tensors, _3Tensors, _Device, _Type, _device, _dtype"
    names = {line.split(" import ")[1].split(" as ")[0] for line in imports if " import " in line}
    base = [f"from rushlight._C import {n} as {n}" for n in ("Tensor", "Generator") if n not in names]
    if module is not rushlight:
        base.append("from rushlight import Size as Size")
    base = [line for line in base if line.split()[-1] not in {x.split("(")[0].split(":")[0].split()[-1] for x in lines if x.startswith("class ")}]
    extra = stub_types.EXTRA.get(module.__name__, "")
    return "\n".join([HEAD, shared, *base, *dict.fromkeys(imports), "", *lines, extra]).rstrip() + "\n"


def files():
    """Every stub: its path and text."""
    for name in stub_types.MODULES:
        module = importlib.import_module(name)
        for later in getattr(module, "_LATER", ()):  # what it makes when first asked
            getattr(module, later)
    for name in stub_types.MODULES:
        module = importlib.import_module(name)
        path = PYTHON / pathlib.Path(*name.split("."))
        yield (path / "__init__.pyi" if hasattr(module, "__path__") else path.with_suffix(".pyi")), text_of(module)


def main(arguments):
    """Writes the files, or compares them."""
    stale = []
    for path, text in files():
        if arguments == ["--check"]:
            if not path.exists() or path.read_text() != text:
                stale.append(path.relative_to(PYTHON))
        else:
            path.write_text(text)
    for path in stale:
        print(f"{path} is not current: run `cargo xtask stubs`")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
