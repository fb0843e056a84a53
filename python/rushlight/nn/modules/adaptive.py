"""A softmax over very many classes."""

from collections import namedtuple

from ... import _C
from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """A softmax whose rare classes share small projections (Grave et al. 2017).

    Classes are numbered by falling frequency; ``cutoffs`` are the first classes of the clusters after the first, and
    the ``k``-th cluster's projection has ``in_features / div_value ** k`` features. input [N, in], target [N].
    Gives the log-probability of each target, [N], and the mean loss.
    """

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("AdaptiveLogSoftmaxWithLoss: cutoffs must not be empty")
        rising = all(a < b for a, b in zip(cutoffs, cutoffs[1:]))
        if not rising or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1 or any(int(c) != c for c in cutoffs):
            raise ValueError(
                f"AdaptiveLogSoftmaxWithLoss: cutoffs must be rising whole numbers between 1 and {n_classes - 1}, got {cutoffs}"
            )
        like = {"device": device, "dtype": dtype}
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **like)
        self.tail = ModuleList()
        for k in range(self.n_clusters):
            hidden = int(in_features // div_value ** (k + 1))
            size = self.cutoffs[k + 1] - self.cutoffs[k]
            self.tail.append(Sequential(Linear(in_features, hidden, bias=False, **like), Linear(hidden, size, bias=False, **like)))

    def reset_parameters(self):
        """Random values again."""
        self.head.reset_parameters()
        for into, out in self.tail:
            into.reset_parameters()
            out.reset_parameters()

    def forward(self, input_, target_):
        name = "AdaptiveLogSoftmaxWithLoss"
        if (input_.ndim, target_.ndim) not in ((1, 0), (2, 1)):
            raise RuntimeError(f"{name}: an input of {input_.ndim} and a target of {target_.ndim} dimensions do not go together")
        if input_.ndim == 2 and input_.shape[0] != target_.shape[0]:
            raise RuntimeError(f"{name}: {input_.shape[0]} inputs, but {target_.shape[0]} targets")
        alone = target_.ndim == 0
        input, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if alone else (input_, target_)
        if target.numel() and not (0 <= target.min().item() and target.max().item() < self.n_classes):
            raise RuntimeError(f"{name}: targets must lie between 0 and {self.n_classes - 1}")
        rows = _C._functions
        output = input.new_zeros(target.shape[0])
        gathered = target.new_empty(target.shape[0])
        for k, (low, high) in enumerate(zip([0, *self.cutoffs], self.cutoffs)):
            here = (target >= low) & (target < high)
            places = here.nonzero().squeeze(1)
            if places.numel() == 0:
                continue
            if k == 0:
                gathered = gathered.index_copy(0, places, target[here])
                continue
            within = target[here] - low
            scores = self.tail[k - 1](input.index_select(0, places))
            chosen = F.log_softmax(scores, dim=1).gather(1, within.unsqueeze(1)).squeeze(1)
            output = rows["index_copy"](output, 0, places, chosen)
            gathered = gathered.index_fill(0, places, self.shortlist_size + k - 1)
        head = F.log_softmax(self.head(input), dim=1)
        output = output + head.gather(1, gathered.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if alone else output, loss)

    def _get_full_log_prob(self, input, head_output):
        """Every class's log-probability, from the head's scores."""
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for k, tail in enumerate(self.tail):
            cluster = head[:, self.shortlist_size + k].unsqueeze(1)
            parts.append(F.log_softmax(tail(input), dim=1) + cluster)
        return _C._functions["cat"](parts, 1)

    def log_prob(self, input):
        """The log-probabilities of all classes: [N, in] to [N, classes]."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input):
        """The likeliest class of each input, as ``log_prob(input).argmax(1)``, but quicker."""
        head = self.head(input)
        output = head.argmax(1)
        rare = output >= self.shortlist_size
        if not rare.any():
            return output
        if rare.all():
            return self._get_full_log_prob(input, head).argmax(1)
        best = self._get_full_log_prob(input[rare], head[rare]).argmax(1)
        return output.masked_scatter(rare, best)
