"""Factors multiply out to the matrix that they are of, for every dtype and on both sides of the sizes where algorithms change."""

import pytest
import rushlight as torch

L = torch.linalg
TOLERANCE = {torch.float32: 2e-4, torch.float64: 1e-11, torch.complex64: 2e-4, torch.complex128: 1e-11}
SHAPES = [(1, 1), (2, 2), (5, 3), (3, 5), (40, 40), (150, 70), (140, 140)]


def random(shape, dtype, seed=3):
    torch.manual_seed(seed)
    wide = torch.float64 if dtype in (torch.float64, torch.complex128) else torch.float32
    x = torch.randn(*shape, dtype=wide)
    return torch.view_as_complex(torch.stack([x, torch.randn(*shape, dtype=wide)], -1)) if dtype.is_complex else x


def size(x):
    return L.vector_norm(x).item()


def close(a, b):
    assert a.shape == b.shape
    assert size(a - b) <= TOLERANCE[b.dtype] * max(size(b), 1.0)


def adjoint(x):
    return x.mT.conj()


def orthonormal(q):
    close(adjoint(q) @ q, torch.eye(q.shape[-1], dtype=q.dtype))


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_factors_multiply_out(shape, dtype):
    a = random(shape, dtype)
    p, lower, upper = L.lu(a)
    close(p @ lower @ upper, a)
    for mode in ("reduced", "complete"):
        q, r = L.qr(a, mode=mode)
        close(q @ r, a)
        orthonormal(q)
        assert r.tril(-1).ne(0).sum() == 0
    for full in (False, True):
        u, s, vh = L.svd(a, full_matrices=full)
        k = s.shape[0]
        close(u[:, :k] * s @ vh[:k], a)
        orthonormal(u)
        orthonormal(adjoint(vh))
    close(L.svdvals(a), s)
    assert bool((s[1:] <= s[:-1]).all())
    close(a @ L.pinv(a) @ a, a)
    packed, tau = torch.geqrf(a)
    close(torch.ormqr(packed, tau, packed.triu()), a)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("n", [1, 2, 9, 40, 140])
def test_square_ones_too(n, dtype):
    a = random((n, n), dtype)
    l, v = L.eig(a)
    close(a.to(v.dtype) @ v, v * l)
    close(L.vector_norm(v, dim=0), torch.ones(n, dtype=L.vector_norm(a).dtype))
    hermitian = a + adjoint(a)
    for uplo in "LU":
        l, v = L.eigh(hermitian, UPLO=uplo)
        close(v * l @ adjoint(v), hermitian)
        orthonormal(v)
        close(L.eigvalsh(hermitian, UPLO=uplo), l)
    definite = a @ adjoint(a) + torch.eye(n, dtype=dtype)
    c = L.cholesky(definite)
    close(c @ adjoint(c), definite)
    close(L.cholesky(definite, upper=True), adjoint(c))
    close(torch.cholesky_solve(definite, c), torch.eye(n, dtype=dtype))
    for flag, matrix in ((True, hermitian), (False, a + a.mT)):
        ld, pivots = L.ldl_factor(matrix, hermitian=flag)
        close(matrix @ L.ldl_solve(ld, pivots, a, hermitian=flag), a)
    close(definite @ L.inv(definite), torch.eye(n, dtype=dtype))
    close(L.solve(definite, a, left=False) @ definite, a)
    part = a[:9, :9]
    sign, logabsdet = L.slogdet(part)
    close(sign * logabsdet.exp(), L.det(part))


@pytest.mark.parametrize("name", "cholesky lu inv det qr svd svdvals eigh eigvals eig pinv matrix_exp ldl_factor".split())
def test_a_batch_is_its_matrices(name):
    a = random((7, 30, 6, 6), torch.float32)
    a = a @ a.mT + torch.eye(6)
    f = getattr(L, name)
    parts = lambda made: made if isinstance(made, tuple) else (made,)  # noqa: E731
    whole = parts(f(a))
    for i, j in ((0, 0), (3, 17), (6, 29)):
        for part, single in zip(whole, parts(f(a[i, j]))):
            assert torch.equal(part[i, j], single)


def test_the_matrix_at_fault_is_named():
    a = torch.eye(3).repeat(4, 1, 1)
    a[2] = 0
    with pytest.raises(L.LinAlgError, match="matrix 2 of the batch"):
        L.inv(a)
    with pytest.raises(L.LinAlgError, match="matrix 2 of the batch"):
        L.cholesky(a)
    assert L.inv_ex(a).info.tolist() == [0, 0, 1, 0]


def test_copies_are_seen():
    a = torch.eye(3)
    with torch.trace.copies() as log:
        L.cholesky(a)
    assert [c.op for c in log] == ["linalg_cholesky"]


@pytest.mark.parametrize("shape", [(16, 128, 48), (9, 8, 13), (33, 100, 70), (3, 520, 40), (2, 4097, 9), (130, 17, 8)])
@pytest.mark.parametrize("turned", ["neither", "left", "right", "both", "right, every second"])
def test_products_of_every_orientation(shape, turned):
    m, k, n = shape
    for dtype in (torch.float32, torch.float64):
        a, b = random((m, k), dtype), random((k, n), dtype, 4)
        want = (a.unsqueeze(2) * b).sum(1)
        left = a.t().contiguous().t() if turned in ("left", "both") else a
        right = b.t().contiguous().t() if "right" in turned or turned == "both" else b
        if turned == "right, every second":
            wide = torch.zeros(2 * n, k, dtype=dtype)
            wide[::2] = b.t()
            right = wide[::2].t()
        close(left @ right, want)
