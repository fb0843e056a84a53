"""How ``LinearCrossEntropyLoss`` may cut its work."""

from dataclasses import dataclass

__all__ = ["LinearCrossEntropyOptions"]


@dataclass
class LinearCrossEntropyOptions:
    """Pieces of the batch, and what they are summed in. They are kept and checked; here one way serves all."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: object = None

    def __post_init__(self):
        if self.acc_policy not in ("accurate", "compact", "auto"):
            raise ValueError(f"LinearCrossEntropyOptions: acc_policy must be 'accurate', 'compact' or 'auto', not {self.acc_policy!r}")
        if self.batch_chunk_size is not None and self.batch_chunk_size <= 0:
            raise ValueError(f"LinearCrossEntropyOptions: batch_chunk_size must be positive, got {self.batch_chunk_size}")
