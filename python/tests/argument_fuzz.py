"""Calls every public function with random arguments; run by `test_argument_fuzz.py`, or alone:

    python argument_fuzz.py CALLS SEED

Prints the last call it is about to make to stderr's file before each call, so that a crash names it.
Any outcome is right but these: the process dies, a panic reaches Python, or a call takes over a minute.
"""

import inspect
import itertools
import os
import random
import resource
import signal
import sys
import warnings

import rushlight

MODULES = ("", "nn.functional", "linalg", "fft", "special", "autograd", "autograd.functional", "random",
           "utils.dlpack", "utils.checkpoint", "trace", "masked", "signal.windows", "nn.init", "array_api",
           "array_api.linalg", "array_api.fft")
# They end the process or wait for somebody by design.
LEFT_OUT = {"breakpoint", "exit", "seed", "initial_seed"}
# They change what later calls do.
RESET = {"set_default_dtype", "set_default_device", "set_num_threads", "set_printoptions", "set_grad_enabled",
         "set_default_tensor_type", "as_torch", "use_deterministic_algorithms", "set_flush_denormal"}


def module(name):
    """The submodule of that name, if this build has it."""
    at = rushlight
    for part in filter(None, name.split(".")):
        try:
            __import__(f"{at.__name__}.{part}")
        except ImportError:
            pass
        at = getattr(at, part, None)
        if at is None:
            return None
    return at


def public():
    """(name, function, whether it is a method of Tensor) of all there is to call."""
    found = []
    for name in MODULES:
        home = module(name)
        for key in sorted(vars(home)) if home is not None else ():
            f = getattr(home, key, None)
            own = getattr(f, "__module__", None) or "rushlight"
            if key.startswith("_") or key in LEFT_OUT or not callable(f) or not str(own).startswith("rushlight"):
                continue
            if inspect.isclass(f) and issubclass(f, BaseException):
                continue
            found.append((f"{name}.{key}".lstrip("."), f, False))
    for key in sorted(dir(rushlight.Tensor)):
        f = getattr(rushlight.Tensor, key, None)
        if callable(f) and key not in ("__class__", "__init_subclass__", "__subclasshook__", "__new__", "__getattribute__"):
            found.append((f"Tensor.{key}", f, True))
    return found


class Arguments:
    """Random arguments: mostly such as may work, some that cannot."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.kept = []

    def shape(self):
        r = self.rng
        return tuple(r.choice((0, 1, 1, 2, 2, 3, 4, 5)) for _ in range(r.choice((0, 1, 1, 2, 2, 2, 3, 4))))

    def dtype(self):
        return self.rng.choice([rushlight.float32, rushlight.float64, rushlight.int64, rushlight.int32, rushlight.uint8,
                                rushlight.bool, rushlight.float16, rushlight.bfloat16, rushlight.int8,
                                rushlight.complex64, rushlight.complex128, rushlight.uint16, rushlight.uint64])

    def tensor(self):
        r = self.rng
        if self.kept and r.random() < 0.3:
            return r.choice(self.kept)
        dtype = r.choice((rushlight.float32, rushlight.float64, rushlight.int64)) if r.random() < 0.6 else self.dtype()
        t = rushlight.randint(-3, 4, self.shape()).to(dtype)
        if dtype.is_floating_point and r.random() < 0.2:
            t = t / 0
        try:
            kind = r.randrange(8)
            if kind == 0:
                t = t.transpose(0, -1)
            elif kind == 1 and t.dim():
                t = t[..., ::2]
            elif kind == 2:
                t = t.expand((2, *t.shape))
            elif kind == 3:
                t = t.requires_grad_()
            elif kind == 4:
                t = t.requires_grad_() * 1
            elif kind == 5 and t.dim():
                t = t[1:]
            elif kind == 6 and r.random() < 0.2:
                t = t.to("meta")
        except (IndexError, RuntimeError):
            pass
        if t.numel() < 5000:
            self.kept = [*self.kept[-12:], t]
        return t

    def number(self):
        return self.rng.choice((0, 1, 2, 3, -1, -2, 5, 0.5, -1.5, 1e30, float("nan"), float("inf"), True, False, 2**31, 2**62,
                                -(2**63), 2**64, 10**30, 1j, 1e-9))

    def one(self, depth=0):
        r = self.rng.random()
        if r < 0.42:
            return self.tensor()
        if r < 0.62:
            return self.rng.choice((0, 1, -1, 2, 3)) if self.rng.random() < 0.7 else self.number()
        if r < 0.70 and depth < 2:
            return [self.one(depth + 1) for _ in range(self.rng.randrange(4))]
        if r < 0.76:
            return self.shape()
        if r < 0.82:
            return self.dtype()
        if r < 0.86:
            return None
        return self.rng.choice((
            "sum", "mean", "none", "reflect", "ij,jk->ik", "", "\ud800x", "cpu", "meta", "cuda:0", "float32", "fro", b"bytes",
            slice(None, None, 2), slice(1, 0), Ellipsis, object(), {}, {"a": 1}, set(), rushlight.device("cpu"),
            rushlight.Generator(), lambda *a: a[0] if a else None, rushlight.channels_last, rushlight.Size((2, 3)),
            [[1, 2], [3]], [float("nan")], range(3), [2**70], int, rushlight.Tensor, complex("nan"), "a" * 300, (None,),
            rushlight.strided, [True, None], ((1, 2), (0, 1)), iter(()), memoryview(b"1234"), 1 << 200,
        ))

    def call(self, names):
        r = self.rng
        args = [self.one() for _ in range(r.choice((0, 1, 1, 2, 2, 2, 3, 3, 4, 5)))]
        keys = {}
        while names and r.random() < 0.25:
            keys[r.choice(names)] = self.one()
        return args, keys


def names_of(f):
    """Names that may be given by keyword."""
    try:
        return [p for p in inspect.signature(f).parameters if p.isidentifier()][1:] + ["dtype", "out", "dim"]
    except (TypeError, ValueError):
        return ["dtype", "out", "dim", "keepdim"]


def reset(threads):
    rushlight.set_default_dtype(rushlight.float32)
    rushlight.set_default_device("cpu")
    rushlight.set_num_threads(threads)
    rushlight.set_grad_enabled(True)
    rushlight.set_printoptions(profile="default")


def shown(x):
    """An argument in a few words; its own `repr` is what may be broken."""
    if isinstance(x, rushlight.Tensor):
        return f"tensor{tuple(x.shape)}:{x.stride()}:{x.dtype}{':grad' if x.requires_grad else ''}"
    if isinstance(x, list):
        return "[" + ", ".join(map(shown, x)) + "]"
    return ascii(x)[:60]


def main(calls, seed, trail):
    """Makes so many calls; `trail` is a file that always holds the one that runs."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    sys.stdout = open(os.devnull, "w")
    functions = [(name, f, method, names_of(f)) for name, f, method in public()]
    make, threads = Arguments(seed), rushlight.get_num_threads()
    worked = set()
    for k in itertools.count():
        if k == calls:
            break
        name, f, method, names = make.rng.choice(functions)
        args, keys = make.call(names)
        if method and make.rng.random() < 0.97:
            args.insert(0, make.tensor())
        trail.seek(0)
        trail.truncate()
        trail.write(f"call {k}: {name}({', '.join(map(shown, args))}, {({n: shown(v) for n, v in keys.items()})})")
        trail.flush()
        signal.alarm(60)
        try:
            result = f(*args, **keys)
            worked.add(name)
            if isinstance(result, rushlight.Tensor):
                repr(result)
                if result.requires_grad and result.numel() < 1000 and make.rng.random() < 0.3:
                    result.sum().backward()
        except Exception:
            pass
        if name.rpartition(".")[2] in RESET:
            reset(threads)
    signal.alarm(0)
    return len(functions), len(worked)


if __name__ == "__main__":
    with open(sys.argv[3], "w", errors="backslashreplace") as file:
        counted = main(int(sys.argv[1]), int(sys.argv[2]), file)
    sys.stderr.write(f"{counted[0]} functions, {counted[1]} of them worked for some arguments\n")
