"""Small programs about linear algebra: layouts, degenerate input, errors and gradients that formulas get wrong."""

from case_tools import Cases, raised

CASES = Cases()
case = CASES.add

A = [[2.0, -1.0, 0.5], [1.0, 3.0, -0.25], [0.75, 1.5, 4.0]]
TALL = [[1.0, 2.0], [3.0, -1.0], [0.5, 4.0], [2.0, 0.0]]
RANK_ONE = [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 2.0, 3.0]]


def matrix(torch, rows=A, grad=False, dtype="float64"):
    return torch.tensor(rows, dtype=getattr(torch, dtype), requires_grad=grad)


def gradient(torch, f, *rows):
    leaves = [matrix(torch, r, True) for r in rows]
    f(*leaves).backward()
    return [x.grad for x in leaves]


def weights(torch, x):
    return (x * torch.arange(1.0, x.numel() + 1, dtype=torch.float64).reshape(x.shape)).sum()


def describe(made):
    return [type(made).__name__, [[f, list(x.shape), str(x.dtype)[-7:]] for f, x in zip(fields(made), made)]]


def fields(made):
    known = "L info LU pivots inverse result Q R U S Vh V eigenvalues eigenvectors sign logabsdet P LD H solution residuals rank singular_values a tau".split()
    return [next(f for f in known if getattr(made, f, None) is part) for part in made]


@case
def named_results(torch):
    a, L = matrix(torch), torch.linalg
    calls = [L.cholesky_ex, L.lu_factor_ex, L.inv_ex, L.qr, L.svd, L.eig, L.eigh, L.slogdet, L.lu, L.ldl_factor, L.polar]
    return [describe(f(a)) for f in calls] + [describe(L.solve_ex(a, a)), describe(torch.geqrf(a)), describe(torch.svd(a))]


@case
def pivots_and_signs_are_lapacks(torch):
    a = matrix(torch, [[0.0, 2.0, 1.0], [4.0, 1.0, 3.0], [4.0, 1.0, -2.0]])
    symmetric = matrix(torch, [[1.0, 9.0, 9.0, 9.0], [2.0, 0.1, 9.0, 9.0], [2.0, 3.0, 0.2, 9.0], [4.0, 1.0, 1.0, 0.3]])
    qr = torch.linalg.qr(matrix(torch, TALL))
    return [list(torch.linalg.lu_factor(a)), list(torch.geqrf(a)), list(torch.linalg.ldl_factor(symmetric)), list(qr)]


@case
def rows_that_are_zero(torch):
    zero, half = torch.zeros(3, 3), matrix(torch, [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [3.0, 0.0, 1.0]])
    lu, det = torch.linalg.lu_factor_ex, torch.linalg.det
    return [list(lu(zero)), list(lu(half)), det(zero), det(half), list(torch.linalg.slogdet(half)), torch.linalg.matrix_rank(half)]


@case
def nothing_in_it(torch):
    L, none, many = torch.linalg, torch.zeros(0, 0), torch.zeros(0, 3, 3)
    return [
        L.det(none), list(L.slogdet(none)), list(L.inv(none).shape), list(L.inv(many).shape), list(L.det(many).shape),
        [list(x.shape) for x in L.svd(torch.zeros(0, 3))], L.svd(torch.zeros(2, 0)).U,
        [list(x.shape) for x in L.qr(torch.zeros(3, 0), mode="complete")], L.qr(torch.zeros(2, 0), mode="complete").Q,
        [list(x.shape) for x in L.eigh(none)], L.matrix_rank(none), list(L.pinv(torch.zeros(0, 3)).shape),
        list(L.solve(none, torch.zeros(0, 2)).shape), list(L.lstsq(torch.zeros(0, 2), torch.zeros(0, 1)).solution.shape),
        L.matrix_norm(none), L.matrix_norm(none, 2), L.matrix_norm(torch.zeros(0, 3), "nuc"), L.vector_norm(torch.zeros(0)),
        raised(lambda: L.vector_norm(torch.zeros(0), float("inf"))), raised(lambda: L.matrix_norm(none, -2)),
        list(torch.matrix_exp(none).shape), L.cond(none),
    ]  # fmt: skip


def kind(torch, call):
    try:
        return type(call()).__name__
    except torch.linalg.LinAlgError:
        return "LinAlgError"
    except Exception as e:
        return "RuntimeError" if isinstance(e, RuntimeError) else type(e).__name__


@case
def what_is_refused(torch):
    L, a = torch.linalg, matrix(torch)
    singular, negative, wide = torch.zeros(2, 2), -torch.eye(2), torch.ones(2, 3)
    whole, half, vector = torch.ones(2, 2, dtype=torch.int64), torch.ones(2, 2, dtype=torch.float16), torch.ones(3)
    single = [L.cholesky, L.inv, L.det, L.eigh, L.lu_factor, torch.inverse, L.svd, L.qr]
    return [
        [[kind(torch, lambda: f(x)) for x in (singular, negative, wide, whole, half, vector)] for f in single],
        issubclass(L.LinAlgError, RuntimeError),
        kind(torch, lambda: L.solve(singular, singular)),
        kind(torch, lambda: L.solve(a, a.float())),
        kind(torch, lambda: L.solve(a, torch.ones(2, 2, dtype=torch.float64))),
        kind(torch, lambda: L.qr(a, mode="full")),
        kind(torch, lambda: L.eigh(a, UPLO="X")),
        kind(torch, lambda: L.lstsq(a, a, driver="gelsx")),
        kind(torch, lambda: L.matrix_norm(a, 3)),
        kind(torch, lambda: L.norm(torch.ones(2, 2, 2), 2)),
        kind(torch, lambda: L.multi_dot([a])),
        kind(torch, lambda: torch.cholesky(a)),
        kind(torch, lambda: torch.qr(a)),
        kind(torch, lambda: torch.triangular_solve(wide, wide)),
        kind(torch, lambda: L.polar(wide)),
    ]


@case
def numbers_that_are_not_finite(torch):
    L, nan = torch.linalg, torch.tensor([[1.0, float("nan")], [float("nan"), 1.0]])
    return [
        kind(torch, lambda: L.svd(nan)), kind(torch, lambda: L.cholesky(nan)), kind(torch, lambda: L.eig(nan)),
        L.det(nan), L.inv(nan), torch.matrix_exp(nan), L.vector_norm(nan), L.vector_norm(nan, float("inf")),
    ]  # fmt: skip


@case
def norms_of_zero_have_a_gradient(torch):
    zero, inf = [0.0, 0.0, 0.0], float("inf")
    norms = [gradient(torch, lambda x: torch.linalg.vector_norm(x, p), zero) for p in (1, 2, 3, 0.5, inf, -inf)]
    tie = gradient(torch, lambda x: torch.linalg.vector_norm(x, inf), [1.0, -2.0, 2.0])
    matrices = [gradient(torch, lambda x: torch.linalg.matrix_norm(x, p), A) for p in ("fro", 1, -1, inf, -inf, 2, -2)]
    return norms, tie, matrices, gradient(torch, lambda x: torch.linalg.matrix_norm(x, "fro"), [[0.0, 0.0]])


@case
def the_determinant_of_zeros_has_a_gradient(torch):
    return gradient(torch, torch.linalg.det, [[0.0, 0.0], [0.0, 0.0]])


@case
def gradients(torch):
    L = torch.linalg
    w = lambda x: weights(torch, x)  # noqa: E731
    one = [
        lambda x: w(L.cholesky(x @ x.mT)), lambda x: w(L.eigh(x).eigenvectors.abs()), lambda x: w(L.svd(x).U.abs()),
        lambda x: w(L.lu(x).U) + w(L.lu(x).L), lambda x: w(L.qr(x).R), lambda x: w(L.inv(x)), lambda x: w(L.pinv(x)),
        lambda x: w(torch.matrix_exp(x)), lambda x: L.slogdet(x).logabsdet, lambda x: w(L.matrix_sqrth(x)),
        lambda x: w(L.eigvals(x).real), lambda x: w(L.polar(x).U) + w(L.polar(x).H), L.cond,
        lambda x: w(torch.cholesky_inverse(x)), lambda x: w(torch.cholesky_solve(x.detach(), x)),
    ]  # fmt: skip
    two = [L.solve, lambda a, b: L.solve(a, b, left=False), lambda a, b: L.solve_triangular(a, b, upper=True),
           lambda a, b: L.lstsq(a, b).solution, lambda a, b: L.lu_solve(*L.lu_factor(a), b, adjoint=True)]  # fmt: skip
    wide, tall = [r[:2] for r in A], A[:2]
    shapes = [gradient(torch, lambda x: w(f(x)), s) for s in (wide, tall) for f in (
        L.pinv, lambda x: L.qr(x).Q, lambda x: L.qr(x).R, lambda x: L.lu(x).L, lambda x: L.lu(x).U, lambda x: L.svd(x, full_matrices=False).Vh.abs())]
    return [gradient(torch, f, A) for f in one], [gradient(torch, lambda a, b: w(f(a, b)), A, A[::-1]) for f in two], shapes


@case
def second_derivatives(torch):
    L, made = torch.linalg, []
    for f in (L.inv, L.det, lambda x: L.slogdet(x)[1], lambda x: L.cholesky(x @ x.mT), L.matrix_exp, lambda x: L.qr(x).R, L.svdvals, lambda x: L.vector_norm(x, 3)):
        x = matrix(torch, A, True)
        (first,) = torch.autograd.grad(weights(torch, f(x)), x, create_graph=True)
        made.append(torch.autograd.grad(weights(torch, first), x)[0])
    return made


@case
def least_squares(torch):
    a, b = matrix(torch, TALL), matrix(torch, [[1.0], [0.0], [2.0], [-1.0]])
    drivers = [list(torch.linalg.lstsq(a, b, driver=d)) for d in ("gelsy", "gels", "gelsd", "gelss")]
    low = torch.linalg.lstsq(matrix(torch, RANK_ONE), matrix(torch), driver="gelsd")
    return drivers, list(torch.linalg.lstsq(a.mT, b[:2], driver="gels")), [low.solution, low.residuals, low.rank]


@case
def tolerances(torch):
    L, a = torch.linalg, matrix(torch, RANK_ONE) + 1e-3 * torch.eye(3, dtype=torch.float64)
    batch = torch.stack([a, matrix(torch)])
    each = torch.tensor([0.5, 1e-9], dtype=torch.float64)
    return [L.matrix_rank(a), L.matrix_rank(a, 0.1), L.matrix_rank(a, rtol=1e-5), L.matrix_rank(batch, atol=each), L.pinv(a, rtol=0.1), L.pinv(batch, atol=each), L.matrix_rank(a, hermitian=True)]


@case
def results_into_tensors(torch):
    a, q, r, s = matrix(torch), *(torch.zeros(0, dtype=torch.float64) for _ in range(3))
    made = torch.linalg.qr(a, out=(q, r))
    torch.linalg.svdvals(a, out=s)
    return [made[0] is q, made[1] is r, q, r, s, raised(lambda: torch.linalg.inv(a, out=torch.zeros(3, 3)))]


@case
def old_names(torch):
    a, b = matrix(torch), matrix(torch, TALL)
    lu, pivots = torch.lu(a)
    return [
        torch.logdet(a), torch.inverse(a), torch.pinverse(b), torch.matrix_power(a, -2), torch.chain_matmul(b, b.mT, b),
        list(torch.triangular_solve(a, a, upper=False, transpose=True)), list(torch.lu_unpack(lu, pivots)), torch.lu_solve(a, lu, pivots),
        torch.norm(a, "nuc"), a.norm("nuc", dim=(0, 1)), torch.norm(torch.ones(2, 3, 3), "nuc", dim=(1, 2)), a.lu(get_infos=True)[2],
        torch.vander(torch.tensor([1, 2, 3])), torch.vander(torch.tensor([2.0, 3.0]), N=3, increasing=True), torch.cross(a, a.mT, dim=1),
        torch.linalg.vecdot(a, a, dim=0), torch.linalg.multi_dot([a[0], a, a[:, 0]]), torch.linalg.vander(torch.tensor([2.0, 3.0])),
        torch.linalg.tensorinv(torch.eye(6).reshape(2, 3, 6)), torch.svd(b, compute_uv=False)[1], torch.nuclear_norm(a), torch.linalg.cross(a[:1], a),
    ]  # fmt: skip
