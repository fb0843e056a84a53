"""A program as its users write them, which `mypy --strict` accepts and which runs."""

from collections.abc import Iterator

import rushlight as torch
import rushlight.nn.functional as F
from rushlight import Tensor, nn


class Line:
    """A linear map that learns."""

    def __init__(self, inputs: int, outputs: int, dtype: torch.dtype = torch.float32) -> None:
        self.weight = nn.Parameter(torch.zeros(outputs, inputs, dtype=dtype))
        self.bias = nn.Parameter(torch.zeros(outputs, dtype=dtype))

    def __call__(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)

    def parameters(self) -> Iterator[nn.Parameter]:
        yield self.weight
        yield self.bias


@torch.no_grad()
def step(line: Line, rate: float) -> None:
    for p in line.parameters():
        if p.grad is not None:
            p -= rate * p.grad
            p.grad = None


def fit(line: Line, x: Tensor, y: Tensor, steps: int = 300, rate: float = 0.1) -> float:
    loss = torch.tensor(0.0)
    for _ in range(steps):
        loss = F.mse_loss(line(x), y)
        loss.backward()
        step(line, rate)
    return float(loss)


def views(x: Tensor) -> tuple[int, torch.Size, bool]:
    rows, columns = x.shape
    part = x[1:, ::2].t().reshape(-1).to(torch.float64)
    part[part > 1] = 0
    same = x.view(rows * columns).data_ptr() == x.data_ptr()
    return part.numel(), x.unsqueeze(0).expand(3, -1, -1).shape, same


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(64, 2)
    truth = torch.tensor([[2.0, -1.0]])
    line = Line(2, 1)
    assert fit(line, x, x @ truth.T + 0.5) < 1e-3
    values, indices = torch.sort(line.weight.flatten(), descending=True)
    best = values.max(0)
    assert abs(values[0].item() - 2.0) < 0.1 and indices.tolist() == [0, 1] and best.indices.item() == 0
    assert views(torch.ones(3, 4)) == (4, torch.Size([3, 3, 4]), True)
    with torch.no_grad():
        total = sum((p.abs().sum() for p in line.parameters()), torch.zeros(()))
    device: torch.device = total.device
    assert device.type == "cpu" and total.dim() == 0 and len(x.split(16)) == 4


if __name__ == "__main__":
    main()
