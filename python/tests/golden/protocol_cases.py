"""Small programs about what every module can do; see autograd_cases."""

import copy
import importlib
import pickle
from collections import OrderedDict

from case_tools import Cases, plain, raised

CASES = Cases()
case = CASES.add


def net(torch):
    """A module with one of each: children, a parameter of its own, buffers that are saved and not."""
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)
            self.register_buffer("kept", torch.ones(1))
            self.register_buffer("spare", torch.ones(1), persistent=False)
            self.p = nn.Parameter(torch.ones(2))
            for parameter in self.parameters():
                parameter.data.fill_(0.5)

        def forward(self, x, k=1):
            return self.b(self.a(x).relu()) * k * self.p

    return Net()


def shown(x):
    if isinstance(x, (tuple, list)):
        return [shown(part) for part in x]
    if isinstance(x, dict):
        return {k: shown(v) for k, v in x.items()}
    return plain(x)


REPRS = """
nn.Linear(2, 3) nn.Linear(2,3,bias=False) nn.Bilinear(2,3,4) nn.Identity() nn.Conv1d(2,4,3)
nn.Conv2d(2,4,3,padding='same',dilation=2,groups=2,bias=False,padding_mode='reflect') nn.Conv3d(2,4,(1,2,3),stride=2,padding=1)
nn.ConvTranspose2d(2,4,3,padding=1,output_padding=1,stride=2) nn.MaxPool2d(3) nn.MaxPool1d(3,2,1,ceil_mode=True)
nn.MaxUnpool2d(2) nn.AvgPool1d(2) nn.AvgPool2d(2) nn.LPPool2d(2,3) nn.AdaptiveMaxPool2d((3,None)) nn.AdaptiveAvgPool1d(3)
nn.FractionalMaxPool2d(2,output_size=3) nn.BatchNorm2d(3) nn.BatchNorm1d(3,affine=False) nn.InstanceNorm2d(3)
nn.SyncBatchNorm(3) nn.LocalResponseNorm(2) nn.LayerNorm((3,4)) nn.LayerNorm(3,bias=False) nn.GroupNorm(2,4) nn.RMSNorm(3)
nn.ConstantPad1d(2,1.) nn.ReflectionPad2d((1,2,3,4)) nn.ReplicationPad1d(1) nn.ZeroPad2d(1) nn.CircularPad3d(2)
nn.Upsample(scale_factor=2) nn.Upsample(size=(3,4),mode='bilinear',align_corners=True) nn.UpsamplingNearest2d(size=3)
nn.PixelShuffle(2) nn.PixelUnshuffle(2) nn.ChannelShuffle(2) nn.Fold((4,5),2) nn.Unfold((2,2),1) nn.Flatten()
nn.Unflatten(1,(2,-1)) nn.Dropout(0.1,True) nn.Dropout2d() nn.AlphaDropout() nn.Embedding(3,4,padding_idx=-1,max_norm=1.,sparse=True)
nn.EmbeddingBag(3,4,mode='sum') nn.Threshold(1,2,True) nn.ReLU(True) nn.RReLU() nn.Hardtanh() nn.ReLU6() nn.Sigmoid()
nn.Hardsigmoid() nn.Tanh() nn.SiLU(True) nn.Mish() nn.Hardswish() nn.ELU(2.,True) nn.CELU(1) nn.SELU() nn.GLU() nn.GELU()
nn.Hardshrink() nn.LeakyReLU(0.1,True) nn.LogSigmoid() nn.Softplus() nn.Softshrink() nn.PReLU(3) nn.Softsign() nn.Softmin(1)
nn.Softmax(1) nn.LogSoftmax(1) nn.Softmax2d() nn.MultiheadAttention(4,2) nn.RNN(3,4) nn.GRU(3,4)
nn.LSTM(3,4,2,bidirectional=True,proj_size=2,batch_first=True,dropout=.1,bias=False) nn.RNNCell(3,4,nonlinearity='relu')
nn.LSTMCell(3,4,bias=False) nn.GRUCell(3,4) nn.TransformerEncoderLayer(4,2) nn.TransformerDecoder(nn.TransformerDecoderLayer(4,2,activation='gelu'),2)
nn.CrossEntropyLoss() nn.MSELoss() nn.CosineSimilarity() nn.PairwiseDistance() nn.AdaptiveLogSoftmaxWithLoss(4,10,[3,6])
nn.LinearCrossEntropyLoss(4,5) nn.LazyLinear(3) nn.LazyConv2d(4,3,padding=1) nn.LazyBatchNorm2d()
nn.ModuleList([nn.Linear(3,4),nn.Linear(3,4),nn.ReLU(),nn.Linear(2,2)]) nn.ModuleList() nn.ModuleDict({'a':nn.Linear(1,1)})
nn.Sequential(nn.Linear(1,2),nn.Sequential(nn.ReLU())) nn.ParameterList([torch.ones(2,3),3]) nn.ParameterDict({'b':torch.ones(2),'a':3})
nn.DataParallel(nn.ReLU()) nn.Module()
"""


@case
def reprs(torch):
    return {e: repr(eval(e, {"nn": torch.nn, "torch": torch})) for e in "".join(REPRS.splitlines(True)).replace(", ", ",").split()}


@case
def states(torch):
    """Names, versions and shapes that ``state_dict`` gives for each of these."""
    out = {}
    for e in REPRS.replace(", ", ",").split():
        if "Lazy" not in e:
            state = eval(e, {"nn": torch.nn, "torch": torch}).state_dict()
            versions = {k: v.get("version") for k, v in state._metadata.items()}
            out[e] = [[k, list(v.shape)] for k, v in state.items()] + [versions]
    return out


@case
def hooks(torch):
    module, log = net(torch), []
    every = importlib.import_module(torch.nn.__name__ + ".modules.module")
    handles = [
        module.register_forward_pre_hook(lambda m, a: log.append(["before", shown(a)])),
        module.register_forward_pre_hook(
            lambda m, a, k: log.append(["before, named", shown(a), shown(k)]) or (a, {"k": 3}), with_kwargs=True, prepend=True
        ),
        module.register_forward_hook(lambda m, a, o: log.append(["after", shown(a), shown(o)]) or o * 2),
        module.register_forward_hook(
            lambda m, a, k, o: log.append(["after, named", shown(k), shown(o)]), with_kwargs=True, prepend=True
        ),
        module.register_full_backward_hook(lambda m, gi, go: log.append(["back", shown(gi), shown(go)])),
        module.a.register_full_backward_hook(lambda m, gi, go: log.append(["a", shown(gi), shown(go)]) or tuple(g * 10 for g in gi if g is not None) or None),
        module.b.register_full_backward_pre_hook(lambda m, go: log.append(["b", shown(go)]) or (go[0] * 2,)),
        every.register_module_forward_hook(lambda m, a, o: log.append(["any", type(m).__name__])),
        every.register_module_full_backward_hook(lambda m, gi, go: log.append(["any back", type(m).__name__, shown(gi)])),
    ]
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    module(x).sum().backward()
    log.append([shown(x.grad), [shown(p.grad) for p in module.parameters()]])
    module.zero_grad()
    module(x.detach()).sum().backward()
    for handle in handles:
        handle.remove()
    count = len(log)
    module(x).sum().backward()
    return [log, len(log) - count, len(module._forward_hooks) + len(module._backward_hooks)]


@case
def hooks_after_errors(torch):
    module, log = net(torch), []
    module.register_forward_hook(lambda m, a, o: log.append("never"))
    module.register_forward_hook(lambda m, a, o: log.append(o is None), always_call=True)
    return [raised(lambda: module(torch.ones(3))), log, raised(lambda: module.register_backward_hook(print) and module.register_full_backward_hook(print))]


@case
def loading(torch):
    module = net(torch)
    state = module.state_dict()

    def load(state, **how):
        try:
            keys = module.load_state_dict(state, **how)
            return [repr(keys), keys.missing_keys, keys.unexpected_keys]
        except Exception as error:
            return type(error).__name__

    less = copy.copy(state)
    del less["p"]
    more = OrderedDict(less, **{"zz": torch.ones(1), "a.zz": torch.ones(1), "c.d.e": torch.ones(1)})
    double = {k: v.double() for k, v in state.items()}
    wrong = dict(state, p=torch.ones(3))
    before = module.p.data_ptr()
    out = [load(state), load(less), load(less, strict=False), load(more), load(more, strict=False), load(wrong), load(wrong, strict=False)]
    out += [load([1]), load(dict(state, p=3)), load(double), str(module.p.dtype), module.p.data_ptr() == before]
    out += [load(double, assign=True), str(module.p.dtype), module.p.data_ptr() == double["p"].data_ptr(), isinstance(module.p, torch.nn.Parameter)]
    return [*out, list(state), [k for k, _ in module.named_buffers()]]


@case
def round_trips(torch):
    """A state survives another module of the class, deepcopy and pickle."""
    out = []
    for e in ("nn.BatchNorm1d(3)", "nn.LSTM(2,2,2)", "nn.Sequential(nn.Linear(2,3),nn.PReLU())", "nn.MultiheadAttention(4,2)"):
        module, other = (eval(e, {"nn": torch.nn}) for _ in range(2))
        other.load_state_dict(module.state_dict())
        for twin in (other, copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
            pairs = list(zip(module.state_dict().items(), twin.state_dict().items()))
            out.append([repr(twin), all(k == j and torch.equal(a, b) and (a.data_ptr() != b.data_ptr()) for (k, a), (j, b) in pairs)])
    return out


@case
def state_hooks(torch):
    m, log = torch.nn.Linear(2, 2), []
    m.register_state_dict_pre_hook(lambda m, prefix, keep: log.append(["before", prefix, keep]))
    m.register_state_dict_post_hook(lambda m, s, prefix, local: log.append(["after", list(s), prefix, dict(local)]))
    m._register_state_dict_hook(lambda m, s, prefix, local: {**s, "x": 1})
    m.register_load_state_dict_pre_hook(lambda m, s, prefix, *rest: log.append(["load", list(s), prefix]) or s.pop("x", None))
    m.register_load_state_dict_post_hook(lambda m, keys: log.append(["loaded", list(keys.missing_keys)]) or keys.missing_keys.clear())
    state = m.state_dict()
    del state["bias"]
    return [list(state), repr(m.load_state_dict(state)), log]


@case
def extra_state(torch):
    log = []

    class Extra(torch.nn.Module):
        def get_extra_state(self):
            return {"v": 1}

        def set_extra_state(self, state):
            log.append(state)

    m = torch.nn.Sequential(Extra(), torch.nn.ReLU())
    state = m.state_dict()
    m.load_state_dict(state)
    return [dict(state), log, raised(lambda: m.load_state_dict({})), raised(lambda: torch.nn.ReLU().load_state_dict({"_extra_state": 3}))]


@case
def attributes(torch):
    nn, m = torch.nn, net(torch)

    class Early(nn.Module):
        def __init__(self, value):
            self.x = value

    wrong = [
        lambda: setattr(m, "p", 3), lambda: setattr(m, "a", 3), lambda: setattr(m, "kept", "x"),
        lambda: m.register_buffer("p", torch.ones(1)), lambda: m.register_parameter("q", torch.ones(1)),
        lambda: m.register_parameter("q.r", None), lambda: m.register_parameter("", None), lambda: m.register_buffer("forward", None),
        lambda: m.add_module("x", 3), lambda: m.nothing, lambda: m.get_submodule("a.weight"), lambda: m.get_submodule("z"),
        lambda: m.get_parameter("kept"), lambda: m.get_buffer("p"), lambda: m.set_submodule("q", nn.ReLU(), strict=True),
        lambda: m.set_submodule("", nn.ReLU()), lambda: m.to(torch.int32), lambda: m.train(3), lambda: nn.Module(3),
        lambda: nn.Module(a=3), lambda: nn.Module()(3), lambda: Early(nn.Parameter(torch.ones(1))), lambda: Early(nn.ReLU()),
        lambda: nn.ModuleList([3]), lambda: nn.ModuleList(3), lambda: nn.Sequential(nn.ReLU())[1], lambda: nn.ModuleDict({"type": nn.ReLU()}),
        lambda: nn.ModuleDict({"a": nn.ReLU()})["b"], lambda: nn.ParameterDict()["b"], lambda: nn.Dropout(2), lambda: nn.Conv2d(3, 4, 2, groups=2),
        lambda: nn.BatchNorm2d(3)(torch.ones(2, 3)), lambda: nn.LSTM(2, 0), lambda: nn.LSTM(2, 2)(torch.ones(3, 1, 3)), lambda: nn.Embedding(3, 2, padding_idx=3),
    ]  # fmt: skip
    shared = net(torch)
    shared.b.weight = shared.a.weight
    m.spare = torch.zeros(2)
    m.late, m.lost = nn.Buffer(torch.ones(1)), nn.Buffer(torch.ones(1), persistent=False)
    m.p = None
    del m.a
    return [
        [raised(f) for f in wrong], [k for k, _ in shared.named_parameters()],
        [k for k, _ in shared.named_parameters(remove_duplicate=False)], list(m._parameters), list(m.state_dict()),
        [k for k, _ in m.named_modules()], isinstance(m.late, nn.Buffer), [n for n in dir(m) if not n.startswith("_")],
    ]  # fmt: skip


@case
def conversions(torch):
    m = torch.nn.Linear(2, 2)
    weight = m.weight
    m.weight.grad = torch.ones(2, 2)
    m.register_buffer("n", torch.ones(1, dtype=torch.int64))
    out = []
    for change in (m.double, m.half, m.bfloat16, m.float, lambda: m.to(torch.float64), lambda: m.type(torch.float32), lambda: m.to("meta")):
        out.append([change() is m, str(m.weight.dtype), str(m.weight.grad.dtype), str(m.n.dtype), m.weight is weight, str(m.weight.device)])
    m.to_empty(device="cpu")
    m.zero_grad(set_to_none=False)
    out += [str(m.weight.device), m.weight.grad, [p.requires_grad for p in m.requires_grad_(False).parameters()]]
    m.zero_grad()
    return [*out, m.weight.grad is None, m.eval().training, m.train().training]


@case
def containers(torch):
    nn = torch.nn
    s = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))
    out = [repr(s[0:2]), repr(s[-1]), len(s), repr(s + s), repr(s * 2)]
    s.append(nn.Tanh()).insert(1, nn.ELU())
    del s[0]
    s.extend([nn.GELU()])
    s[0] = nn.SiLU()
    s.pop(1)
    modules = nn.ModuleList([nn.ReLU()])
    modules += [nn.ReLU(), nn.ELU()]
    modules.insert(1, nn.Tanh())
    del modules[0]
    d = nn.ModuleDict([["x", nn.ReLU()], ["y", nn.ELU()]])
    d.update({"z": nn.Tanh()})
    del d["x"]
    p = nn.ParameterDict({"a": torch.ones(1)})
    p["b"] = torch.ones(2)
    p |= {"c": torch.ones(1)}
    listed = nn.ParameterList([torch.ones(2), 3]).append(torch.zeros(1))
    return [
        *out, repr(s), repr(modules), repr(modules[0:1]), repr(d), list(d), "y" in d, list(p), list(reversed(p)), p.pop("a"), list(p | {"q": torch.ones(1)}),
        list(listed.state_dict()), len(listed), repr(listed[0:2]), [type(x).__name__ for x in listed],
    ]  # fmt: skip


@case
def lazy(torch):
    nn, out = torch.nn, []
    for make in (lambda: nn.LazyLinear(3), lambda: nn.LazyConv2d(4, 3), lambda: nn.LazyBatchNorm2d(), lambda: nn.LazyConvTranspose2d(2, 3)):
        m = make()
        before = [repr(m), m.has_uninitialized_params(), raised(lambda m=m: m.weight.shape if m.weight is not None else None)]
        m(torch.ones(2, 3, 4, 5))
        again = make()
        again.load_state_dict(m.state_dict())
        again(torch.ones(2, 3, 4, 5))
        out.append([before, repr(m), type(m).__name__, [[k, list(v.shape)] for k, v in m.state_dict().items()], len(m._forward_pre_hooks), type(again).__name__])
    return out


@case
def parametrised(torch):
    nn = torch.nn
    tools = importlib.import_module(nn.__name__ + ".utils.parametrize")

    class Symmetric(nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).mT

        def right_inverse(self, x):
            return x.triu()

    class Doubled(nn.Module):
        def forward(self, x):
            return x * 2

    m = nn.Linear(3, 3)
    m.weight.data = torch.arange(9.0).reshape(3, 3)
    m.bias.data.fill_(0.5)
    tools.register_parametrization(m, "weight", Symmetric())
    out = [m.weight, m(torch.ones(1, 3)), repr(m), type(m).__name__, [k for k, _ in m.named_parameters()]]
    m.weight = torch.eye(3) * 2
    out.append(m.weight)
    tools.register_parametrization(m, "weight", Doubled())
    twin = copy.deepcopy(m)
    with tools.cached():
        same = m.weight is m.weight
    wrong = [
        lambda: setattr(m, "weight", torch.eye(3)), lambda: pickle.dumps(m), lambda: tools.register_parametrization(m, "none", Doubled()),
        lambda: tools.register_parametrization(nn.Linear(2, 3), "weight", Symmetric()), lambda: tools.remove_parametrizations(m, "bias"),
    ]  # fmt: skip
    out += [same, m.weight is m.weight, [raised(f) for f in wrong], tools.is_parametrized(m), tools.is_parametrized(m, "bias"), twin.weight, type(twin).__name__]
    tools.remove_parametrizations(m, "weight")
    return [*out, m.weight, type(m).__name__, [k for k, _ in m.named_parameters()]]


@case
def functional_calls(torch):
    nn = torch.nn
    call = importlib.import_module(nn.__name__ + ".utils.stateless").functional_call

    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            self.count = self.count + 1
            return self.b(self.a(x))

    m, given = Tied(), {"a.weight": torch.eye(2) * 2, "count": torch.ones(1)}
    out = call(m, given, torch.ones(1, 2))
    wrong = [
        lambda: call(m, {"a.weight": torch.eye(2), "b.weight": torch.eye(2)}, torch.ones(1, 2)),
        lambda: call(m, {"a.weight": torch.eye(2)}, torch.ones(1, 2), strict=True),
    ]
    return [out, given["count"], m.count, m.a.weight is m.b.weight, [raised(f) for f in wrong]]


@case
def initial_values(torch):
    """Families and spreads of what random functions write, to two digits; the others exactly."""
    init, out = torch.nn.init, []
    torch.manual_seed(0)
    for f in (
        lambda t: init.uniform_(t, -1, 2), lambda t: init.normal_(t, 1, 2), lambda t: init.trunc_normal_(t, 0.5, 1.0, -1, 1), init.xavier_uniform_,
        init.xavier_normal_, init.kaiming_uniform_, lambda t: init.kaiming_normal_(t, a=0.2, mode="fan_out"),
    ):  # fmt: skip
        t = f(torch.empty(400, 600))
        # Bounds tell uniform numbers from normal ones.
        out.append([round(float(t.std()), 2), round(float(t.abs().max() / t.std())) if t.abs().max() < 2.5 * t.std() else "far"])
    w = torch.empty(4, 3, 3, 3)
    exact = [init.dirac_(w).clone(), init.dirac_(w, 2).clone(), init.eye_(torch.empty(3, 4)), init.constant_(torch.empty(2), 3.0)]
    q, sparse = init.orthogonal_(torch.empty(5, 3), gain=2), init.sparse_(torch.empty(10, 4), 0.35)
    gains = [init.calculate_gain(*a) for a in (["linear"], ["tanh"], ["relu"], ["leaky_relu", 0.2], ["leaky_relu"], ["selu"])]
    product = ((q.T @ q) * 100).round() / 100
    wrong = [lambda: init.xavier_uniform_(torch.empty(2)), lambda: init.eye_(torch.empty(2)), lambda: init.calculate_gain("x"), lambda: init.kaiming_uniform_(w, mode="x")]
    return [out, exact, product + 0.0, (sparse == 0).sum(0), gains, [raised(f) for f in wrong]]
