"""Products, factorisations, solves."""

import jax.numpy as jnp
from jax.lax import linalg as ll

from .cases import case, definite, triangular

case("fn product(a: f32[3, 4], b: f32[4, 2]) -> f32[3, 2] { a @ b }", lambda a, b: a @ b)
case("fn product_vectors(a: f32[4], b: f32[4, 3], c: f32[3]) -> f32 { a @ b @ c }", lambda a, b, c: a @ b @ c)
case("fn product_batched(a: f32[2, 3, 4], b: f32[4, 5]) -> f32[2, 3, 5] { tanh(a @ b) }", lambda a, b: jnp.tanh(a @ b))
case("fn product_broadcast(a: f32[2, 1, 3, 4], b: f32[3, 4, 2]) -> f32[2, 3, 3, 2] { a @ b }", lambda a, b: a @ b)
case("fn chain(a: f32[2, 3], b: f32[3, 4], c: f32[4, 2]) -> f32 { trace(a @ b @ c) }", lambda a, b, c: jnp.trace(a @ b @ c))
case("fn gram(a: f32[3, 4]) -> f32[3, 3] { a @ transpose(a) }", lambda a: a @ a.T)
case("fn dotted(a: f32[2, 3, 4], b: f32[4]) -> f32[2, 3] { dot(a, b) ** 2 }", lambda a, b: (a @ b) ** 2)
case("fn outer_square(x: f32[3], y: f32[4]) -> f32[3, 4] { outer(x, y) * outer(x, y) }", lambda x, y: jnp.outer(x, y) ** 2)
for i, (spec, a, b, c) in enumerate([
        ("bij,bjk->bik", "2, 3, 4", "2, 4, 2", "2, 3, 2"), ("ij,kj->ik", "3, 4", "2, 4", "3, 2"), ("bhqd,bhkd->bhqk", "2, 2, 3, 4", "2, 2, 5, 4", "2, 2, 3, 5"),
        ("ijk,il->jkl", "2, 3, 4", "2, 2", "3, 4, 2"), ("ij,j->i", "3, 4", "4", "3"), ("i,j->ij", "3", "2", "3, 2"), ("ij,ij->j", "3, 4", "3, 4", "4"),
        ("abc,cd->dab", "2, 3, 4", "4, 2", "2, 2, 3")]):
    case(f"fn einsum_{i}(a: f32[{a}], b: f32[{b}]) -> f32[{c}] {{ einsum(\"{spec}\", a, b) }}", lambda a, b, spec=spec: jnp.einsum(spec, a, b))
case('fn einsum_three(a: f32[2, 3], b: f32[3, 4], c: f32[4, 2]) -> f32[2, 2] { einsum("ij,jk,kl->il", a, b, c) }',
     lambda a, b, c: jnp.einsum("ij,jk,kl->il", a, b, c))
case('fn einsum_trace(a: f32[4, 4]) -> f32 { einsum("ii->", a) * einsum("ij->", a) }', lambda a: jnp.trace(a) * jnp.sum(a))
case('fn einsum_diagonal(a: f32[4, 4]) -> f32[4] { einsum("ii->i", a) ** 2 }', lambda a: jnp.diag(a) ** 2)
case("fn quadratic(a: f32[3, 3], x: f32[3]) -> f32 { x @ (a + transpose(a)) @ x }", lambda a, x: x @ (a + a.T) @ x)
case("fn factor(a: f32[3, 3]) -> f32[3, 3] { cholesky(a @ transpose(a) + 3 * eye(3)) }", lambda a: jnp.linalg.cholesky(a @ a.T + 3 * jnp.eye(3)))
case("fn factors(a: f32[2, 3, 3]) -> f32[2, 3, 3] { cholesky(a @ swapaxes(a, 1, 2) + 3 * eye(3)) }",
     lambda a: jnp.linalg.cholesky(a @ a.swapaxes(1, 2) + 3 * jnp.eye(3)))
case("fn log_determinant(a: f32[4, 4]) -> f32 { 2 * sum(log(diag(cholesky((a + transpose(a)) / 2)))) }",
     lambda a: 2 * jnp.sum(jnp.log(jnp.diag(jnp.linalg.cholesky((a + a.T) / 2)))), a=definite)
case("fn gaussian_density(l: f32[3, 3], x: f32[3]) -> f32 { let z = triangular_solve(l, reshape(x, [3, 1]), left_side=true, lower=true); -0.5 * sum(z * z) - sum(log(diag(l))) }",
     lambda l, x: -0.5 * jnp.sum(ll.triangular_solve(l, x[:, None], left_side=True, lower=True) ** 2) - jnp.sum(jnp.log(jnp.diag(l))), l=triangular)
for left in [True, False]:
    for lower in [True, False]:
        for transpose in [True, False]:
            tag = f"{int(left)}{int(lower)}{int(transpose)}"
            shape = "3, 2" if left else "2, 3"
            flags = f"left_side={str(left).lower()}, lower={str(lower).lower()}, transpose_a={str(transpose).lower()}"
            case(f"fn solve_{tag}(a: f32[3, 3], b: f32[{shape}]) -> f32[{shape}] {{ triangular_solve(a, b, {flags}) }}",
                 lambda a, b, k=(left, lower, transpose): ll.triangular_solve(a, b, left_side=k[0], lower=k[1], transpose_a=k[2]),
                 a=(lambda rng, s: triangular(rng, s)) if lower else (lambda rng, s: triangular(rng, s).T))
case("fn solve_unit(a: f32[2, 3, 3], b: f32[2, 3, 2]) -> f32[2, 3, 2] { triangular_solve(a, b, left_side=true, lower=true, unit_diagonal=true) }",
     lambda a, b: ll.triangular_solve(a, b, left_side=True, lower=True, unit_diagonal=True), a=triangular)
case("fn least_squares(a: f32[5, 3], b: f32[5, 1]) -> f32[3, 1] { let l = cholesky(transpose(a) @ a + 0.5 * eye(3)); let y = triangular_solve(l, transpose(a) @ b, left_side=true, lower=true); triangular_solve(l, y, left_side=true, lower=true, transpose_a=true) }",
     lambda a, b: jnp.linalg.solve(a.T @ a + 0.5 * jnp.eye(3), a.T @ b))
case("fn gaussian_process(x: f32[4], y: f32[4], s: f32) -> f32 { let d = x[:, none] - x[none, :]; let l = cholesky(exp(-square(d) / s) + 0.5 * eye(4)); let z = triangular_solve(l, y[:, none], left_side=true, lower=true); 0.5 * sum(z * z) + sum(log(diag(l))) }",
     lambda x, y, s: (k := jnp.exp(-(x[:, None] - x[None]) ** 2 / s) + 0.5 * jnp.eye(4), 0.5 * y @ jnp.linalg.solve(k, y) + 0.5 * jnp.linalg.slogdet(k)[1])[1], s=1.5)
case("fn mahalanobis(x: f32[4, 3], a: f32[3, 3]) -> f32[4] { let z = triangular_solve(cholesky(a), transpose(x), left_side=true, lower=true); sum(z * z, axis=0) }",
     lambda x, a: jnp.sum(ll.triangular_solve(jnp.linalg.cholesky(a), x.T, left_side=True, lower=True) ** 2, 0), a=definite)
