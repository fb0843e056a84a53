"""Small programs about modules that compute something of their own; see autograd_cases.

Weights and inputs are sines of their places, so that no random numbers are needed.
"""

from case_tools import Cases, raised

CASES = Cases()
case = CASES.add


def sines(torch, *shape, at=0.0, step=0.7):
    count = 1
    for n in shape:
        count *= n
    return (torch.arange(count, dtype=torch.float64) * step + at).sin().reshape(shape)


def filled(torch, module):
    """The module in float64, with values that are sines; no dropout."""
    module = module.double()
    with torch.no_grad():
        for k, p in enumerate(module.parameters()):
            p.copy_(sines(torch, *p.shape, at=0.3 * k, step=0.9) * 0.7)
    return module


def answers(torch, module, *inputs, call=None):
    """What a module gives, and sums of gradients of inputs and of parameters that tell where they are."""
    inputs = [x.detach().requires_grad_() if x.is_floating_point() else x for x in inputs]
    out = module(*inputs) if call is None else call(module, *inputs)
    flat = []

    def collect(x):
        if isinstance(x, torch.Tensor):
            flat.append(x)
        elif isinstance(x, (tuple, list)):
            for part in x:
                collect(part)

    collect(out)
    total = sum((t * sines(torch, *t.shape, at=1.0)).sum() for t in flat if t.is_floating_point())
    total.backward()
    tell = lambda g: None if g is None else (g * sines(torch, *g.shape, at=2.0, step=0.31)).sum()  # noqa: E731
    grads = [tell(x.grad) for x in inputs] + [tell(p.grad) for p in module.parameters()]
    return [flat, grads]


def recurrent(torch, kind, *args, **kwargs):
    return filled(torch, getattr(torch.nn, kind)(*args, **kwargs))


@case
def lstm(torch):
    x = sines(torch, 4, 2, 3)
    h, c = sines(torch, 4, 2, 3, at=1.0), sines(torch, 4, 2, 3, at=2.0)
    return [
        answers(torch, recurrent(torch, "LSTM", 3, 3), x),
        answers(torch, recurrent(torch, "LSTM", 3, 3, 2, bidirectional=True), x),
        answers(torch, recurrent(torch, "LSTM", 3, 3, 2, bidirectional=True), x, h, c, call=lambda m, x, h, c: m(x, (h, c))),
        answers(torch, recurrent(torch, "LSTM", 3, 3, bias=False, batch_first=True), x),
        answers(torch, recurrent(torch, "LSTM", 3, 4, 2, proj_size=2, bidirectional=True), x),
        answers(torch, recurrent(torch, "LSTM", 3, 3), x[:, 0]),
    ]


@case
def gru(torch):
    x = sines(torch, 4, 2, 3)
    return [
        answers(torch, recurrent(torch, "GRU", 3, 3), x),
        answers(torch, recurrent(torch, "GRU", 3, 2, 2, bidirectional=True), x, sines(torch, 4, 2, 2)),
        answers(torch, recurrent(torch, "GRU", 3, 3, bias=False, batch_first=True), x),
    ]


@case
def plain(torch):
    x = sines(torch, 4, 2, 3)
    return [
        answers(torch, recurrent(torch, "RNN", 3, 3), x),
        answers(torch, recurrent(torch, "RNN", 3, 2, 2, nonlinearity="relu", bidirectional=True), x, sines(torch, 4, 2, 2)),
    ]


@case
def packed(torch):
    tools = torch.nn.utils.rnn

    def call(module, x):
        out, state = module(tools.pack_padded_sequence(x, [2, 5, 3], enforce_sorted=False))
        padded, lengths = tools.pad_packed_sequence(out, padding_value=-1.0, total_length=6)
        return [padded, lengths, state, out.data, out.batch_sizes, out.sorted_indices, out.unsorted_indices]

    x = sines(torch, 5, 3, 3)
    kinds = ("LSTM", "GRU", "RNN")
    return [answers(torch, recurrent(torch, kind, 3, 2, 2, bidirectional=True), x, call=call) for kind in kinds]


@case
def cells(torch):
    x, h = sines(torch, 2, 3), sines(torch, 2, 2, at=1.0)
    return [
        answers(torch, recurrent(torch, "LSTMCell", 3, 2), x),
        answers(torch, recurrent(torch, "LSTMCell", 3, 2), x, h, h, call=lambda m, x, h, c: m(x, (h, c))),
        answers(torch, recurrent(torch, "GRUCell", 3, 2, bias=False), x, h),
        answers(torch, recurrent(torch, "RNNCell", 3, 2, nonlinearity="relu"), x, h),
        answers(torch, recurrent(torch, "GRUCell", 3, 2), x[0], h[0]),
    ]


@case
def sequences(torch):
    tools = torch.nn.utils.rnn
    parts = [sines(torch, n, 2, at=n) for n in (2, 4, 1)]
    packed = tools.pack_sequence(parts, enforce_sorted=False)
    return [
        tools.pad_sequence(parts),
        tools.pad_sequence(parts, batch_first=True, padding_value=9.0, padding_side="left"),
        packed.data,
        packed.batch_sizes,
        packed.unsorted_indices,
        tools.unpack_sequence(packed),
        raised(lambda: tools.pack_padded_sequence(parts[0], [1, 2])),
        raised(lambda: tools.pack_padded_sequence(parts[0], [1, 0])),
        raised(lambda: tools.pad_sequence([])),
    ]


@case
def attention(torch):
    nn = torch.nn
    q, k, v = sines(torch, 3, 2, 4), sines(torch, 5, 2, 4, at=1.0), sines(torch, 5, 2, 4, at=2.0)
    apart = filled(torch, nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True, add_zero_attn=True, batch_first=True))
    hidden = torch.ones(3, 5, dtype=torch.bool).triu(2)
    padded = torch.tensor([[False] * 5, [False, False, False, True, True]])
    return [
        answers(torch, filled(torch, nn.MultiheadAttention(4, 2)), q, k, v),
        answers(torch, apart, sines(torch, 2, 3, 4), sines(torch, 2, 5, 3), sines(torch, 2, 5, 5)),
        answers(
            torch, filled(torch, nn.MultiheadAttention(4, 2, bias=False)), q, k, v,
            call=lambda m, *x: m(*x, key_padding_mask=padded, attn_mask=hidden, average_attn_weights=False),
        ),
        answers(
            torch, filled(torch, nn.MultiheadAttention(4, 2)), q, k, v,
            call=lambda m, *x: m(*x, need_weights=False, attn_mask=hidden.double() * -1e9)[0],
        ),
        answers(
            torch, filled(torch, nn.MultiheadAttention(4, 2)), q,
            call=lambda m, x: m(x, x, x, need_weights=False, is_causal=True, attn_mask=torch.ones(3, 3, dtype=torch.bool).triu(1))[0],
        ),
        answers(torch, filled(torch, nn.MultiheadAttention(4, 2)), q[:, 0], k[:, 0], v[:, 0]),
    ]  # fmt: skip


@case
def transformers(torch):
    nn = torch.nn
    options = {"dim_feedforward": 6, "dropout": 0.0, "batch_first": True}
    x, memory = sines(torch, 2, 3, 4), sines(torch, 2, 5, 4, at=1.0)
    causal = nn.Transformer.generate_square_subsequent_mask(3, dtype=torch.float64)
    padded = torch.tensor([[False] * 3, [False, True, True]])
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, norm_first=True, **options), 2, nn.LayerNorm(4))
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, activation="gelu", **options), 2)
    return [
        answers(torch, filled(torch, nn.TransformerEncoderLayer(4, 2, **options)), x),
        answers(torch, filled(torch, encoder), x, call=lambda m, x: m(x, mask=causal)),
        answers(torch, filled(torch, nn.TransformerEncoderLayer(4, 2, **options)), x, call=lambda m, x: m(x, src_key_padding_mask=padded)),
        answers(torch, filled(torch, decoder), x, memory, call=lambda m, x, y: m(x, y, tgt_mask=causal, tgt_is_causal=True)),
        answers(torch, filled(torch, nn.Transformer(4, 2, 1, 1, **options)), memory, x),
    ]


@case
def norms(torch):
    nn = torch.nn
    x = sines(torch, 3, 4, 2, 5) + 0.5

    def twice(make):
        module = filled(torch, make)
        first = answers(torch, module, x)
        module.zero_grad()
        second = answers(torch, module.eval(), x)
        return [first, second, [(name, b) for name, b in module.named_buffers()]]

    return [
        twice(nn.BatchNorm2d(4)),
        twice(nn.BatchNorm2d(4, momentum=None)),
        twice(nn.BatchNorm2d(4, affine=False, track_running_stats=False)),
        twice(nn.InstanceNorm2d(4, affine=True, track_running_stats=True)),
        twice(nn.GroupNorm(2, 4)),
        twice(nn.LayerNorm((2, 5))),
        twice(nn.RMSNorm(5)),
        twice(nn.LocalResponseNorm(3, alpha=0.5)),
    ]


@case
def norms_of_weights(torch):
    nn, utils = torch.nn, torch.nn.utils
    new = utils.parametrizations
    x = sines(torch, 2, 4)

    def spectral(module):
        # Power iteration starts at random.
        with torch.no_grad():
            for name, b in module.named_buffers():
                b.copy_(sines(torch, *b.shape, at=len(name)))
                b.div_(b.norm())
        return [answers(torch, module, x), module.weight, answers(torch, module.eval(), x), list(module.state_dict())]

    linear = lambda: nn.Linear(4, 3)  # noqa: E731
    return [
        answers(torch, filled(torch, new.weight_norm(linear())), x),
        answers(torch, filled(torch, new.weight_norm(linear(), dim=1)), x),
        answers(torch, filled(torch, utils.weight_norm(linear(), dim=None)), x),
        spectral(filled(torch, utils.spectral_norm(linear(), n_power_iterations=2))),
        spectral(filled(torch, new.spectral_norm(linear(), n_power_iterations=2))),
        list(new.weight_norm(linear()).state_dict()),
        list(utils.remove_weight_norm(utils.weight_norm(linear())).state_dict()),
    ]


@case
def orthogonal(torch):
    nn, new = torch.nn, torch.nn.utils.parametrizations
    out = []
    for kind in ("matrix_exp", "cayley", "householder"):
        for shape in ((3, 3), (4, 3), (3, 4)):
            module = filled(torch, new.orthogonal(nn.Linear(*shape).double(), orthogonal_map=kind, use_trivialization=False))
            w = module.weight
            out.append([w, (w @ w.T if shape[0] >= shape[1] else w.T @ w)])
    return out


@case
def pruned(torch):
    import importlib

    prune = importlib.import_module(torch.nn.__name__ + ".utils.prune")
    m = filled(torch, torch.nn.Linear(4, 3))
    prune.l1_unstructured(m, "weight", 4)
    first = m.weight_mask.clone()
    prune.ln_structured(m, "weight", 1, n=2, dim=1)
    names = [list(m.state_dict()), prune.is_pruned(m)]
    out = m(sines(torch, 2, 4))
    prune.remove(m, "weight")
    a, b = filled(torch, torch.nn.Linear(2, 2)), filled(torch, torch.nn.Linear(3, 2))
    prune.global_unstructured([(a, "weight"), (b, "weight")], prune.L1Unstructured, amount=0.4)
    return [first, names, out, m.weight, list(m.state_dict()), a.weight, b.weight_mask, raised(lambda: prune.remove(m, "weight"))]


@case
def clipped(torch):
    utils, out = torch.nn.utils, []
    for order in (1.0, 2.0, float("inf"), 0.5):
        ps = [torch.nn.Parameter(sines(torch, 3, at=k)) for k in range(3)]
        for p in ps[:2]:
            p.grad = p.detach() * 3
        out.append([utils.clip_grad_norm_(ps, 1.5, order), [p.grad for p in ps]])
        utils.clip_grad_value_(ps, 0.2)
        out.append([p.grad for p in ps])
    return [*out, utils.clip_grad_norm_([], 1.0), raised(lambda: utils.clip_grad_norm_(bad(torch), 1.0, error_if_nonfinite=True))]


def bad(torch):
    p = torch.nn.Parameter(torch.ones(2))
    p.grad = torch.full((2,), float("nan"))
    return [p]


@case
def fused(torch):
    nn = torch.nn
    conv, norm = filled(torch, nn.Conv2d(2, 3, 2)).eval(), filled(torch, nn.BatchNorm2d(3)).eval()
    norm.running_mean.fill_(0.3)
    norm.running_var.fill_(2.0)
    one = nn.utils.fuse_conv_bn_eval(conv, norm)
    return [one(sines(torch, 1, 2, 3, 3)), one.weight, one.bias, raised(lambda: nn.utils.fuse_conv_bn_eval(conv.train(), norm))]


@case
def adaptive(torch):
    m = filled(torch, torch.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 6], head_bias=True))
    x, y = sines(torch, 5, 8), torch.tensor([0, 4, 9, 2, 7])
    return [
        answers(torch, m, x, y, call=lambda m, x, y: list(m(x, y))),
        m.log_prob(x),
        m.predict(x),
        raised(lambda: m(x, y + 9)),
        raised(lambda: torch.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [6, 3])),
    ]


@case
def in_place_on_results(torch):
    """What a layer gives can be added to in place: its gradients stay."""
    nn, x, out = torch.nn, sines(torch, 2, 3, 4, 4), []
    for layer in (nn.Conv2d(3, 3, 3, padding=1), nn.Conv2d(3, 3, 1), nn.ConvTranspose2d(3, 3, 1), nn.BatchNorm2d(3), nn.LayerNorm(4), nn.MaxPool2d(1), nn.Linear(4, 4), nn.GELU(), nn.GroupNorm(1, 3)):
        module = filled(torch, layer)

        def call(m, x):
            y = m(x)
            y += x * 2
            return y

        out.append([answers(torch, module, x, call=call)[1], call(module, x)._base is None])
    return out


@case
def flexible_attention(torch):
    import importlib

    flex = importlib.import_module(torch.nn.__name__ + ".attention.flex_attention")
    bias = importlib.import_module(torch.nn.__name__ + ".attention.bias")
    plain = torch.nn.functional.scaled_dot_product_attention
    q, k, v = sines(torch, 2, 3, 4, 2), sines(torch, 2, 3, 6, 2, at=1.0), sines(torch, 2, 3, 6, 2, at=2.0)
    causal = lambda b, h, i, j: i >= j  # noqa: E731
    table = sines(torch, 20, at=3.0)
    last = flex.or_masks(causal, lambda b, h, i, j: j == 5)
    return [
        plain(q, k, v, attn_mask=bias.causal_lower_right(4, 6)),
        plain(q, k, v, attn_mask=bias.causal_upper_left(4, 6)),
        flex.flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s + (h + 1) * 0.5 * (i - j)),
        flex.flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s + table[i - j + 6], scale=0.3),
        flex.flex_attention(q, k, v, block_mask=flex.create_block_mask(last, None, None, 4, 6, device="cpu")),
        flex.create_mask(causal, 1, 1, 4, 6, device="cpu"),
    ]
