"""Sequences of several lengths in one tensor: padded to the longest, or packed without gaps."""

from collections import namedtuple

from ... import _C
from ..._C import Tensor

__all__ = """PackedSequence invert_permutation pack_padded_sequence pad_packed_sequence pad_sequence unpad_sequence
    pack_sequence unpack_sequence""".split()

_rows = _C._functions

PackedSequence_ = namedtuple("PackedSequence_", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])


class PackedSequence(PackedSequence_):
    """Sequences step by step: first every one's first element, then the second ones, the longest in front.

    ``data`` [total, *]; ``batch_sizes``: how many of its rows each step has, int64 on the CPU; ``sorted_indices``
    and ``unsorted_indices``: the order of the sequences, None if they were sorted already.
    """

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        return super().__new__(cls, *_packed_sequence_init_args(data, batch_sizes, sorted_indices, unsorted_indices))

    def pin_memory(self):
        """Fails: there is no device that pinned memory would be for."""
        return self._each(lambda t: t.pin_memory(), True)

    def to(self, *args, **kwargs):
        """The data converted or moved, as ``Tensor.to``; itself if nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        options = {k: v for k, v in kwargs.items() if k not in ("device", "dtype")}
        move = lambda t: None if t is None else t.to(data.device, **options)  # noqa: E731
        return type(self)(data, self.batch_sizes, move(self.sorted_indices), move(self.unsorted_indices))

    def _each(self, change, sizes=False):
        rest = (change(self.batch_sizes) if sizes else self.batch_sizes), *(None if t is None else change(t) for t in self[2:])
        return type(self)(change(self.data), *rest)

    def cuda(self, *args, **kwargs):
        """Fails: there is no CUDA here."""
        return self.to(_C.device("cuda"), *args, **kwargs)

    def cpu(self, *args, **kwargs):
        """On the CPU."""
        return self.to(_C.device("cpu"), *args, **kwargs)

    def double(self):
        """As float64."""
        return self.to(dtype=_C.float64)

    def float(self):
        """As float32."""
        return self.to(dtype=_C.float32)

    def half(self):
        """As float16."""
        return self.to(dtype=_C.float16)

    def long(self):
        """As int64."""
        return self.to(dtype=_C.int64)

    def int(self):
        """As int32."""
        return self.to(dtype=_C.int32)

    def short(self):
        """As int16."""
        return self.to(dtype=_C.int16)

    def char(self):
        """As int8."""
        return self.to(dtype=_C.int8)

    def byte(self):
        """As uint8."""
        return self.to(dtype=_C.uint8)

    @property
    def is_cuda(self):
        """Whether the data are on a CUDA device."""
        return self.data.is_cuda

    def is_pinned(self):
        """False."""
        return self.data.is_pinned()


def _packed_sequence_init_args(data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
    """The parts of a packed sequence; the order back is found from the order."""
    if unsorted_indices is None:
        unsorted_indices = invert_permutation(sorted_indices)
    if batch_sizes is None:
        if not (isinstance(data, (list, tuple)) and len(data) == 2):
            raise AssertionError("PackedSequence: takes data and batch_sizes, or a pair of both")
        data, batch_sizes = data
    elif batch_sizes.device.type != "cpu":
        raise ValueError(f"PackedSequence: batch_sizes must be on the CPU, not on {batch_sizes.device}")
    return data, batch_sizes, sorted_indices, unsorted_indices


def _packed_sequence_init(data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
    return PackedSequence(data, batch_sizes, sorted_indices, unsorted_indices)


def bind(optional, fn):
    """``fn(optional)``, or None for None."""
    return None if optional is None else fn(optional)


def invert_permutation(permutation):
    """The permutation that undoes this one; None for None."""
    if permutation is None:
        return None
    places = _rows["arange"](0, permutation.numel(), device=permutation.device)
    return _rows["scatter"](permutation.new_empty(permutation.shape), 0, permutation, places)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Packs [T, N, *] (or [N, T, *]), of which sequence ``k`` has ``lengths[k]`` steps.

    ``enforce_sorted``: lengths must fall; otherwise sequences are sorted, and ``pad_packed_sequence`` undoes that.
    """
    lengths = _C.as_tensor(lengths, dtype=_C.int64, device="cpu")
    order = None
    if not enforce_sorted:
        lengths, order = _rows["sort"](lengths, descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    steps = input.transpose(0, 1) if batch_first else input
    counts = lengths.tolist()
    if len(counts) != steps.shape[1]:
        raise RuntimeError(f"pack_padded_sequence: {len(counts)} lengths for {steps.shape[1]} sequences")
    if not counts or min(counts) <= 0:
        raise RuntimeError(f"pack_padded_sequence: every length must be positive, got {counts}")
    if any(a < b for a, b in zip(counts, counts[1:])):
        raise RuntimeError(f"pack_padded_sequence: lengths must fall where enforce_sorted, got {counts}; pass enforce_sorted=False")
    if counts[0] > steps.shape[0]:
        raise RuntimeError(f"pack_padded_sequence: a length of {counts[0]} is more than the {steps.shape[0]} steps there are")
    sizes, place = [], len(counts)
    for t in range(counts[0]):
        while counts[place - 1] <= t:
            place -= 1
        sizes.append(place)
    batch = steps.shape[1]
    if all(n == batch for n in sizes):
        data = steps[: len(sizes)].reshape(len(sizes) * batch, *steps.shape[2:])
    else:
        rows = steps.reshape(steps.shape[0] * batch, *steps.shape[2:])
        at = [t * batch + k for t, n in enumerate(sizes) for k in range(n)]
        data = rows.index_select(0, _C.tensor(at, dtype=_C.int64, device=input.device))
    return PackedSequence(data, _C.tensor(sizes, dtype=_C.int64), order, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The padded tensor [T, N, *] (or [N, T, *]) of a packed sequence, and the lengths, both in the order from before."""
    sizes = sequence.batch_sizes.tolist()
    longest = len(sizes)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(f"pad_packed_sequence: total_length {total_length} is less than the longest sequence, {longest}")
        longest = total_length
    data, batch = sequence.data, sizes[0]
    made = data.new_full((longest * batch, *data.shape[1:]), padding_value)
    at = [t * batch + k for t, n in enumerate(sizes) for k in range(n)]
    made = _rows["index_copy"](made, 0, _C.tensor(at, dtype=_C.int64, device=data.device), data)
    made = made.reshape(longest, batch, *data.shape[1:])
    lengths = _C.tensor(_lengths(sizes), dtype=_C.int64)
    made = made.transpose(0, 1) if batch_first else made
    back = sequence.unsorted_indices
    if back is not None:
        return made.index_select(0 if batch_first else 1, back), lengths[back.cpu()]
    return made, lengths


def _lengths(sizes):
    """How many steps each sequence has, in one walk from the last step."""
    lengths, done = [0] * sizes[0], 0
    for t in range(len(sizes) - 1, -1, -1):
        for k in range(done, sizes[t]):
            lengths[k] = t + 1
        done = max(done, sizes[t])
    return lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Tensors [L_k, *] as one [T, N, *] (or [N, T, *]), filled up to the longest."""
    if padding_side not in ("left", "right"):
        raise ValueError(f"pad_sequence: padding_side must be 'left' or 'right', not {padding_side!r}")
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not hasattr(sequences, "__iter__"):
        raise RuntimeError(f"pad_sequence: takes several tensors, not {type(sequences).__name__}")
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("pad_sequence: there are no sequences")
    longest = max(s.shape[0] for s in sequences)
    padded = []
    for s in sequences:
        short = longest - s.shape[0]
        if short:
            edge = s.new_full((short, *s.shape[1:]), padding_value)
            s = _rows["cat"]([s, edge] if padding_side == "right" else [edge, s], 0)
        padded.append(s)
    return _rows["stack"](padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The list of tensors [lengths[k], *] that ``pad_sequence`` made one of."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [s[: int(n)] for s, n in zip(padded_sequences.unbind(0), lengths)]


def pack_sequence(sequences, enforce_sorted=True):
    """Packs a list of tensors [L_k, *]."""
    lengths = [s.shape[0] for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The list of tensors that ``pack_sequence`` packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
