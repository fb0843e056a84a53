"""The commands ``rushlight inspect`` and ``rushlight convert``."""

import argparse
import contextlib
import glob
import json
import os
import shutil
import sys
import threading
import time

from . import _C

INSPECT = """\
Lists the tensors of a file: names, shapes, dtypes, bytes, and which of them
share memory. Reads torch's .pt (zip and legacy), .safetensors, .npz and .npy;
the format is found by looking inside. Nothing in a file is ever run.
"""
INSPECT_EXAMPLES = """\
Examples:
  rushlight inspect model.safetensors
  rushlight inspect checkpoint.pt --match 'layer.0'
  rushlight inspect model.pt --json | jq '.tensors[].name'
"""
CONVERT = """\
Writes the tensors of a file in another format, which the ending of OUT names:
.pt .pth .bin (torch's), .safetensors, .npz or .npy (for a single tensor).
OUT is replaced at once and only when all went well. What is no tensor
(numbers, text) is left out; shared memory stays shared in torch's format.
"""
CONVERT_EXAMPLES = """\
Examples:
  rushlight convert pytorch_model.bin model.safetensors
  rushlight convert model.safetensors model.pt
"""


def inspect(arguments):
    """``rushlight inspect``."""
    parser = _parser("inspect", INSPECT, INSPECT_EXAMPLES)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--match", metavar="TEXT", help="only names that contain TEXT")
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")
    options = parser.parse_args(arguments)
    return _carefully(lambda: _inspect(options))


def convert(arguments):
    """``rushlight convert``."""
    parser = _parser("convert", CONVERT, CONVERT_EXAMPLES)
    parser.add_argument("source", metavar="IN")
    parser.add_argument("target", metavar="OUT")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    options = parser.parse_args(arguments)
    return _carefully(lambda: _convert(options))


def _parser(command, about, examples):
    return argparse.ArgumentParser(
        f"rushlight {command}", description=about, epilog=examples, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def _carefully(run):
    try:
        run()
        return 0
    except BrokenPipeError:
        # Who reads has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, RuntimeError, ValueError, TypeError) as error:
        sys.stderr.write(f"rushlight: {error}\n")
        return 1


def format_of(path):
    """``pt``, ``npz``, ``npy`` or ``safetensors``, by what is inside."""
    with open(path, "rb") as file:
        head = file.read(10)
    if head.startswith(b"PK"):
        import zipfile

        try:
            names = zipfile.ZipFile(path).namelist()
        except (zipfile.BadZipFile, NotImplementedError) as error:
            raise ValueError(f"{path}: {error}") from None
        return "npz" if names and all(name.endswith(".npy") for name in names) else "pt"
    if head.startswith(b"\x93NUMPY"):
        return "npy"
    if head.startswith(b"\x80"):
        return "pt"
    if len(head) > 8 and head[8:9] == b"{":
        return "safetensors"
    raise ValueError(f"{path}: is none of torch's files, safetensors, npz and npy")


def rows(path, kind):
    """Each tensor's name, dtype, shape, strides, offset and storage; and what was noted beside them."""
    if kind == "pt":
        return [list(row) for row in _C._pt_names(path)], {}
    if kind == "safetensors":
        header, metadata = _C._safetensors_header(path)
        return [[name, dtype, shape, None, 0, name] for name, dtype, shape in header], metadata
    loaded = _C._npz_load(path, kind == "npy")
    return [[name, t.dtype, list(t.shape), list(t.stride()), 0, name] for name, t in loaded.items()], {}


def _inspect(options):
    kind = format_of(options.file)
    found, metadata = rows(options.file, kind)
    if options.match:
        found = [row for row in found if options.match in row[0]]
    users = {}
    for row in found:
        users.setdefault(row[5], []).append(row[0])
    tensors = []
    for name, dtype, shape, stride, offset, storage in found:
        count = 1
        for n in shape:
            count *= n
        nbytes = count * dtype.itemsize if dtype else None
        shares = [other for other in users[storage] if other != name]
        tensors.append({
            "name": name, "dtype": str(dtype).removeprefix("torch.") if dtype else "unknown", "shape": shape, "elements": count,
            "bytes": nbytes, "stride": stride, "offset": offset, "shares memory with": shares,
        })
    if options.json:
        size = os.path.getsize(options.file)
        whole = {"file": options.file, "format": kind, "bytes": size, "metadata": metadata, "tensors": tensors}
        print(json.dumps(whole, indent=1))
    else:
        _table(options.file, kind, tensors, metadata)


def _table(path, kind, tensors, metadata):
    width = shutil.get_terminal_size((100, 24)).columns
    bold, dim, plain = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if sys.stdout.isatty() and "NO_COLOR" not in os.environ else ("", "", "")
    cells = [("name", "shape", "dtype", "bytes", "memory")]
    for t in tensors:
        first = t["shares memory with"]
        shape = "x".join(map(str, t["shape"])) or "()"
        size = "?" if t["bytes"] is None else human(t["bytes"])
        cells.append((t["name"], shape, t["dtype"], size, f"as {first[0]}" if first else ""))
    widths = [max(len(row[k]) for row in cells) for k in range(5)]
    room = max(12, width - sum(widths[1:4]) - 8)
    # What is left is the names'; what a tensor shares memory with comes short first.
    widths[4] = min(widths[4], max(0, room - widths[0], room // 3))
    widths[0] = min(widths[0], room - widths[4])
    for k, row in enumerate(cells):
        name, shape, dtype, size, shared = row
        line = f"{short(name, widths[0]):{widths[0]}}  {shape:>{widths[1]}}  {dtype:{widths[2]}}  {size:>{widths[3]}}"
        line += f"  {dim if k else ''}{short(shared, widths[4])}{plain if k else ''}" if widths[4] else ""
        print((bold + line + plain if k == 0 else line).rstrip())
    total = sum(t["elements"] for t in tensors)
    sharing = sum(1 for t in tensors if t["shares memory with"])
    summary = f"{len(tensors)} tensors, {total:,} elements, {human(sum(t['bytes'] or 0 for t in tensors))}"
    print(f"{bold}{summary}{plain}" + (f"; {sharing} share memory" if sharing else ""))
    print(f"{dim}{path}: {kind}, {human(os.path.getsize(path))}{plain}")
    for key, value in metadata.items():
        print(f"{dim}{key}: {short(value, max(20, width - len(key) - 2))}{plain}")


def human(n):
    """Bytes in the unit that suits them."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024:
            return f"{n} B" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1024
    return f"{n:.1f} TiB"


def short(text, width):
    """The text, without its middle if it is too long."""
    if len(text) <= width:
        return text
    half = max(1, (width - 1) // 2)
    return (text[: width - half - 1] + "…" + text[-half:])[:width]


def _convert(options):
    kind = format_of(options.source)
    ending = os.path.splitext(options.target)[1].lower()
    writers = {".pt": "pt", ".pth": "pt", ".bin": "pt", ".ckpt": "pt", ".safetensors": "safetensors", ".npz": "npz", ".npy": "npy"}
    if ending not in writers:
        raise ValueError(f"{options.target}: the ending must be one of {' '.join(writers)}")
    if kind == "pt":
        tensors = _flat(options.source)
    elif kind == "safetensors":
        tensors = _C._safetensors_load(options.source, None)
    else:
        tensors = _C._npz_load(options.source, kind == "npy")
        tensors = {name or "array": t for name, t in tensors.items()}
    if not tensors:
        raise ValueError(f"{options.source}: there is no tensor in it")
    if ending == ".npy" and len(tensors) != 1:
        raise ValueError(f"{options.target}: .npy holds one tensor, and {options.source} has {len(tensors)}")
    total = sum(t.nbytes for t in tensors.values())
    with _bar(options.target, total, options.quiet):
        if writers[ending] == "pt":
            from .serialization import save

            save(tensors, options.target)
        elif ending == ".safetensors":
            _C._safetensors_save(options.target, tensors, {"format": "pt"})
        else:
            _C._npz_save(options.target, tensors, ending == ".npy")
    if not options.quiet:
        print(f"{len(tensors)} tensors, {human(total)}: {options.target}, {human(os.path.getsize(options.target))}")


def _flat(path):
    """All tensors of a file of torch's by name: keys and positions, with dots between."""
    found = {}

    def visit(value, name, above):
        if isinstance(value, _C.Tensor):
            found[name] = value.detach()
        elif id(value) in above:
            return
        elif isinstance(value, dict):
            for key, inner in value.items():
                visit(inner, f"{name}.{key}" if name else str(key), above | {id(value)})
        elif isinstance(value, (list, tuple)):
            for key, inner in enumerate(value):
                visit(inner, f"{name}.{key}" if name else str(key), above | {id(value)})

    from .serialization import load

    visit(load(path), "", frozenset())
    return found


@contextlib.contextmanager
def _bar(target, total, quiet):
    """Shows how much of a file is written, by the size of the one that will take its name."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    folder, name = os.path.split(os.path.abspath(target))
    done = threading.Event()

    def watch():
        started = time.monotonic()
        while not done.wait(0.1):
            sizes = [os.path.getsize(p) for p in glob.glob(os.path.join(glob.escape(folder), f".{glob.escape(name)}.*.tmp")) if os.path.exists(p)]
            part = min(1.0, max(sizes, default=0) / max(total, 1))
            filled = int(30 * part)
            speed = human(part * total / max(time.monotonic() - started, 1e-3))
            sys.stderr.write(f"\r{'█' * filled}{'·' * (30 - filled)} {100 * part:3.0f}%  {speed}/s \x1b[K")
            sys.stderr.flush()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        sys.stderr.write("\r\x1b[K")
