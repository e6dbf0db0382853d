"""Transforms in transforms, through every form of control and every primitive that has a batching rule of its own."""

import jax
import jax.numpy as jnp
from jax import lax, nn

from .cases import below, case, definite, positive, triangular
from .loops import repeat


def whole(n, f, x):
    """`n` times `f(x)`, unrolled, so that it can be differentiated as often as one likes."""
    for _ in range(n):
        x = f(x)
    return x


solve = lambda a, b, **how: lax.linalg.triangular_solve(a, b, left_side=True, lower=True, **how)

# Whole Jacobians and Hessians.
case("fn jacobian_scan(x: f32[3]) -> f32[3, 3] { jacobian(|x| { let mut h = x; for i in 0..4 { h = sin(h) * x[0] + h; } h })(x) }",
     jax.jacobian(lambda x: whole(4, lambda h: jnp.sin(h) * x[0] + h, x)))
case("fn hessian_scan(x: f32[3]) -> f32[3, 3] { hessian(|x| { let mut h = x; for i in 0..3 { h = h * sin(h) + x[2]; } sum(h * h) })(x) }",
     jax.hessian(lambda x: jnp.sum(whole(3, lambda h: h * jnp.sin(h) + x[2], x) ** 2)))
case("fn jacobian_branch(x: f32[3]) -> f32[3, 3] { jacobian(|x| if sum(x) > 0 { x * x * x[0] } else { exp(x) })(x) }",
     jax.jacobian(lambda x: x * x * x[0]), x=[1.0, 0.5, -0.25])
case("fn hessian_own(x: f32[3]) -> f32[3, 3] { hessian(|x| sum(hessian_own_part(x) * x[0]))(x) }\nfn hessian_own_part(x: f32[3]) -> f32[3] { x ** 3 } vjp(x, y, ct) { 3 * x * x * ct }",
     jax.hessian(lambda x: jnp.sum(x ** 3 * x[0])))
case("fn hessian_checkpoint(x: f32[3]) -> f32[3, 3] { hessian(|x| sum(checkpoint(|x| tanh(x * x[1]) * x)(x)))(x) }",
     jax.hessian(lambda x: jnp.sum(jnp.tanh(x * x[1]) * x)))
case("fn jacobian_matrix(a: f32[2, 3]) -> f32[2, 2, 2, 3] { jacobian(|a| a @ transpose(a))(a) }", jax.jacobian(lambda a: a @ a.T))
case("fn hessian_network(w: f32[2, 3], x: f32[4, 2]) -> f32[2, 3, 2, 3] { hessian(|w| mean(square(tanh(x @ w))))(w) }",
     lambda w, x: jax.hessian(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w))
case("fn jacobian_of_jacobian(x: f32[2]) -> f32[2, 2, 2] { jacobian(jacobian(|x| x * sin(x[0]) * x[1]))(x) }",
     jax.jacobian(jax.jacobian(lambda x: x * jnp.sin(x[0]) * x[1])))
case("fn jacobian_map(x: f32[4, 2]) -> f32[4, 2, 2] { vmap(jacobian(|x| x * prod(x)))(x) }", jax.vmap(jax.jacobian(lambda x: x * jnp.prod(x))))
case("fn hessian_map(x: f32[3, 2], s: f32) -> f32[3, 2, 2] { vmap(hessian(|x| exp(s * x[0] * x[1])))(x) }",
     lambda x, s: jax.vmap(jax.hessian(lambda x: jnp.exp(s * x[0] * x[1])))(x))
case("fn newton_step(x: f32[2], w: f32[2]) -> f32[2] { let f = |x| sum(w * w * x ** 4) + sum(x * x); let l = cholesky(hessian(f)(x)); let g = grad(f)(x)[:, none]; x - triangular_solve(l, triangular_solve(l, g, left_side=true, lower=true), left_side=true, lower=true, transpose_a=true)[:, 0] }",
     lambda x, w: (f := lambda x: jnp.sum(w * w * x ** 4) + jnp.sum(x * x), x - jnp.linalg.solve(jax.hessian(f)(x), jax.grad(f)(x)))[1])

# Derivatives of derivatives.
case("fn jvp_of_jvp(x: f32[3], v: f32[3]) -> f32[3] { jvp(|x| jvp(|x| sin(x) * x * x)(x, v).1)(x, v).1 }",
     lambda x, v: jax.jvp(lambda x: jax.jvp(lambda x: jnp.sin(x) * x * x, (x,), (v,))[1], (x,), (v,))[1])
case("fn vjp_of_vjp(x: f32[3], v: f32[3]) -> f32[3] { vjp(|x| vjp(|x| exp(x) * x[0])(x, v).1)(x, v).1 }",
     lambda x, v: jax.vjp(lambda x: jax.vjp(lambda x: jnp.exp(x) * x[0], x)[1](v)[0], x)[1](v)[0])
case("fn grad_of_jvp_of_grad(x: f32[3], v: f32[3]) -> f32[3] { grad(|x| sum(jvp(grad(|x| sum(x ** 5)))(x, v).1 * x))(x) }",
     lambda x, v: jax.grad(lambda x: jnp.sum(20 * x ** 3 * v * x))(x))
case("fn confused_perturbations(x: f32) -> f32 { grad(|x| x * grad(|y| x + y)(1.0))(x) * x }", lambda x: x)
case("fn confused_again(x: f32) -> f32 { grad(|x| { let g = grad(|y| x * y * y)(x); g * x })(x) }", lambda x: 6 * x * x)
case("fn grad_in_loop(x: f32[2], w: f32[2]) -> f32[2] { let mut p = x; for i in 0..3 { p = p - 0.1 * grad(|p| sum(cos(p * w)) * f32(i))(p); } p }",
     lambda x, w: repeat(3, lambda i, p: p + 0.1 * i * w * jnp.sin(p * w), x))
case("fn loop_in_grad_in_loop(x: f32[2]) -> f32[2] { let mut p = x; for i in 0..3 { p = p - 0.1 * grad(|q| { let mut h = q; for j in 0..2 { h = h * tanh(h + p); } sum(h) })(p); } p }",
     lambda x: repeat(3, lambda i, p: p - 0.1 * jax.grad(lambda q: jnp.sum(whole(2, lambda h: h * jnp.tanh(h + p), q)))(p), x))
case("fn grad_in_branch(x: f32[3]) -> f32[3] { if x[0] > 0 { grad(|x| sum(x ** 3))(x) } else { x } }", lambda x: 3 * x * x, x=[0.5, 1.0, -1.0])
case("fn grad_in_scan_map(x: f32[3, 2], w: f32[2]) -> f32[3, 2] { vmap(|x| scan(|c, w| { let g = grad(|c| sum(sin(c * w)))(c); (c + g, g * w) }, x, w).0)(x) }",
     lambda x, w: jax.vmap(lambda x: lax.scan(lambda c, w: (c + w * jnp.cos(c * w), None), x, w)[0])(x))
case("fn stopped_inside(x: f32[3]) -> f32[3] { grad(|x| sum(x * stop_gradient(grad(|x| sum(x ** 3))(x))))(x) }", jax.grad(lambda x: jnp.sum(x * lax.stop_gradient(3 * x * x))))
case("fn checkpoint_of_map_of_grad(x: f32[3, 2]) -> f32[3, 2] { checkpoint(|x| vmap(grad(|x| prod(sin(x))))(x))(x) }",
     lambda x: jax.vmap(jax.grad(lambda x: jnp.prod(jnp.sin(x))))(x))
case("fn checkpoint_in_checkpoint(x: f32[3]) -> f32[3] { checkpoint(|x| { let f = checkpoint(|y| tanh(y * x)); f(f(x)) })(x) }",
     lambda x: (f := lambda y: jnp.tanh(y * x), f(f(x)))[1])
case("fn checkpoint_scan(x: f32[3], w: f32[4, 3]) -> f32[3] { checkpoint(|x| scan(|h, r| (checkpoint(|h| tanh(h * r + x))(h), checkpoint_scan_part(h)), x, w).0)(x) }\nfn checkpoint_scan_part(h: f32[3]) -> f32[3] { h * 0 }",
     lambda x, w: lax.scan(lambda h, r: (jnp.tanh(h * r + x), None), x, w)[0])
case("fn own_in_loop_in_map(x: f32[3, 2]) -> f32[3, 2] { vmap(|x| { let mut h = x; for i in 0..3 { h = own_in_loop_in_map_part(h) * 0.5 + x; } h })(x) }\nfn own_in_loop_in_map_part(x: f32[2]) -> f32[2] { x * x } vjp(x, y, ct) { 2 * ct * x }",
     lambda x: whole(3, lambda h: h * h * 0.5 + x, x))
case("fn own_of_two(x: f32[3], s: f32) -> f32[3] { own_of_two_part(s * s, own_of_two_part(s, x)) }\nfn own_of_two_part(s: f32, x: f32[3]) -> f32[3] { s * sin(x) } vjp(s, x, y, ct) { (sum(ct * sin(x)), ct * s * cos(x)) }",
     lambda x, s: s * s * jnp.sin(s * jnp.sin(x)))
case("fn own_shared_map(x: f32[4, 3], s: f32) -> f32[4, 3] { vmap(|x| own_shared_map_part(s, x))(x) }\nfn own_shared_map_part(s: f32, x: f32[3]) -> f32[3] { s * sin(x) } vjp(s, x, y, ct) { (sum(ct * sin(x)), ct * s * cos(x)) }",
     lambda x, s: s * jnp.sin(x))

# Batching, with axes and shared arguments in every mixture.
case("fn map_last(x: f32[2, 3]) -> f32[2, 3] { vmap(|x| cumsum(x) * x[0], in=1, out=1)(x) }", lambda x: jnp.cumsum(x, 0) * x[:1])
case("fn map_mixed(a: f32[2, 4], b: f32[2], c: f32[4, 3]) -> f32[2, 3, 4] { vmap(|a, b, c| outer(a * b, c), in=(1, none, 0), out=2)(a, b, c) }",
     lambda a, b, c: jnp.einsum("ik,i,kj->ijk", a, b, c))
case("fn map_of_map(x: f32[2, 3, 4], y: f32[3]) -> f32[4, 2, 3] { vmap(|x| vmap(|x| sin(x * y), in=0)(x), in=2)(x) }",
     lambda x, y: jnp.transpose(jnp.sin(x * y[None, :, None]), (2, 0, 1)))
case("fn map_rows(t: f32[5, 3], i: i32[4]) -> f32[4, 3] { vmap(|i| exp(t[i] + t[0]))(i) }", lambda t, i: jnp.exp(t[i] + t[0]), i=below(5))
case("fn map_tables(t: f32[2, 5], i: i32[3]) -> f32[2, 3] { vmap(|t| exp(t[i]))(t) }", lambda t, i: jnp.exp(t[:, i]), i=below(5))
case("fn map_take_axis(t: f32[2, 3, 5], i: i32[2, 4]) -> f32[2, 3, 4] { vmap(|t, i| exp(take(t, i, axis=1)))(t, i) }",
     lambda t, i: jax.vmap(lambda t, i: jnp.exp(t[:, i]))(t, i), i=below(5))
case("fn map_set(x: f32[3, 4], i: i32[3], v: f32[3]) -> f32[3, 4] { vmap(|x, i, v| set(x, i, v * v) * x)(x, i, v) }",
     lambda x, i, v: x.at[jnp.arange(3), i].set(v * v) * x, i=below(4))
case("fn map_set_shared(x: f32[4], i: i32[3], v: f32[3]) -> f32[3, 4] { vmap(|i, v| exp(set(x, i, v)))(i, v) }",
     lambda x, i, v: jax.vmap(lambda i, v: jnp.exp(x.at[i].set(v)))(i, v), i=below(4))
case("fn map_set_rows(x: f32[2, 4, 3], i: i32[2], v: f32[2, 2, 3]) -> f32[2, 4, 3] { vmap(|x, i, v| set(x, [i[0], i[1]], v) ** 2, in=(0, none, 0))(x, i, v) }",
     lambda x, i, v: jax.vmap(lambda x, v: x.at[i].set(v) ** 2)(x, v), i=[2, 0])
case("fn map_add_shared(v: f32[3, 2], i: i32[2]) -> f32[3, 4] { vmap(|v| add_at(zeros([4]), i, v) ** 2)(v) }",
     lambda v, i: jax.vmap(lambda v: jnp.zeros(4).at[i].add(v) ** 2)(v), i=[1, 1])
case("fn map_slices(x: f32[8], i: i32[3]) -> f32[3, 4] { vmap(|i| exp(slice(x, i, 4)))(i) }",
     lambda x, i: jax.vmap(lambda i: jnp.exp(lax.dynamic_slice(x, (i,), (4,))))(i), i=[0, 2, 7])
case("fn map_updates(x: f32[3, 6], u: f32[2], i: i32[3]) -> f32[3, 6] { vmap(|x, i| dynamic_update_slice(x, u * u, (i)) * x)(x, i) }",
     lambda x, u, i: jax.vmap(lambda x, i: lax.dynamic_update_slice(x, u * u, (i,)) * x)(x, i), i=[0, 3, 9])
case("fn map_blocks(x: f32[2, 4, 5], i: i32[2], j: i32) -> f32[2, 2, 2] { vmap(|x, i| exp(dynamic_slice(x, (i, j), [2, 2])))(x, i) }",
     lambda x, i, j: jax.vmap(lambda x, i: jnp.exp(lax.dynamic_slice(x, (i, j), (2, 2))))(x, i), i=[1, 5], j=2)
case("fn map_sort_by(x: f32[3, 4], y: f32[4]) -> f32[3, 4] { vmap(|x| y[argsort(x)] * sort(x, descending=true))(x) }",
     lambda x, y: y[jnp.argsort(x, 1)] * -jnp.sort(-x, 1))
case("fn map_top(x: f32[3, 5]) -> f32[3, 2] { vmap(|x| top_k(x, 2).0 * x[top_k(x, 2).1])(x) }", lambda x: lax.top_k(x, 2)[0] ** 2)
case("fn map_cumulative(x: f32[2, 3, 4]) -> f32[2, 3, 4] { vmap(|x| cumprod(x, axis=1) + cummax(x, axis=0) * cumsum(x, axis=1, reverse=true), in=1, out=1)(x) }",
     lambda x: jax.vmap(lambda x: jnp.cumprod(x, 1) + lax.cummax(x, 0) * lax.cumsum(x, 1, reverse=True), 1, 1)(x))
case("fn map_factor(a: f32[2, 3, 3]) -> f32[2, 3, 3] { vmap(cholesky)(a) }", lambda a: jnp.linalg.cholesky(a), order=1, a=definite)
case("fn map_factor_shared(a: f32[3, 3], s: f32[2]) -> f32[2, 3, 3] { vmap(|s| cholesky(a @ transpose(a) + (2 + s * s) * eye(3)))(s) }",
     lambda a, s: jax.vmap(lambda s: jnp.linalg.cholesky(a @ a.T + (2 + s * s) * jnp.eye(3)))(s))
case("fn solve_shared_matrix(a: f32[3, 3], b: f32[4, 3, 2]) -> f32[4, 3, 2] { vmap(|b| triangular_solve(a, b, left_side=true, lower=true))(b) }",
     lambda a, b: jax.vmap(lambda b: solve(a, b))(b), a=triangular)
case("fn solve_shared_side(a: f32[4, 3, 3], b: f32[3, 2]) -> f32[4, 3, 2] { vmap(|a| triangular_solve(a, b, left_side=true, lower=true, transpose_a=true))(a) }",
     lambda a, b: jax.vmap(lambda a: solve(a, b, transpose_a=True))(a), a=triangular)
case("fn map_kernels(x: f32[1, 5, 2], w: f32[3, 3, 2, 2]) -> f32[3, 1, 5, 2] { vmap(|w| conv(x, w) ** 2)(w) }",
     lambda x, w: jax.vmap(lambda w: lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC")) ** 2)(w))
case("fn map_grouped(x: f32[2, 1, 5, 4], w: f32[2, 3, 2, 4]) -> f32[2, 1, 3, 4] { vmap(|x, w| conv(x, w, groups=2, stride=2) ** 2)(x, w) }",
     lambda x, w: jax.vmap(lambda x, w: lax.conv_general_dilated(x, w, (2,), "SAME", dimension_numbers=("NHC", "HIO", "NHC"), feature_group_count=2) ** 2)(x, w))
case("fn map_pools(x: f32[3, 2, 6, 1]) -> f32[3, 2, 3, 1] { vmap(|x| max_pool(x, 2, stride=2) * avg_pool(x, 2, stride=2))(x) }",
     lambda x: (y := x.reshape(3, 2, 3, 2, 1), y.max(3) * y.mean(3))[1])
case("fn map_select(c: f32[4], x: f32[3], y: f32[4, 3]) -> f32[4, 3] { vmap(|c, y| where(c > 0, x * c, y))(c, y) }",
     lambda c, x, y: jnp.where(c[:, None] > 0, x * c[:, None], y))
case("fn map_clamp(x: f32[5], lo: f32, hi: f32[5]) -> f32[5] { vmap(|x, hi| clamp(x, lo, hi))(x, hi) ** 2 }",
     lambda x, lo, hi: jnp.clip(x, lo, hi) ** 2, lo=-0.5, hi=positive)
case("fn map_branch_loop(x: f32[4]) -> f32[4] { vmap(|x| { let mut h = x; for i in 0..4 { h = if h > 0 { h * 0.5 - 0.3 } else { exp(h) * x }; } h })(x) }",
     lambda x: whole(4, lambda h: jnp.where(h > 0, h * 0.5 - 0.3, jnp.exp(h) * x), x))
case("fn map_while(x: f32[4]) -> f32[4] { vmap(|x| { let mut h = x; while h < 10 { h = h * h + x; } h })(x) }",
     jax.vmap(lambda x: lax.while_loop(lambda h: h < 10, lambda h: h * h + x, x)), order=0, x=[1.0, 2.0, 4.0, 12.0])
case("fn map_while_shared(x: f32[3], n: i32[4]) -> f32[4, 3] { vmap(|n| { let mut h = x; let mut i = 0; while i < n { h = sin(h) * 2; i = i + 1; } h })(n) }",
     lambda x, n: jax.vmap(lambda n: lax.while_loop(lambda s: s[1] < n, lambda s: (jnp.sin(s[0]) * 2, s[1] + 1), (x, 0))[0])(n), order=0, n=[0, 1, 3, 5])
case("fn map_while_in_loop(x: f32[3]) -> f32[3] { vmap(|x| { let mut h = x; for i in 0..2 { while h < 4 { h = h * 1.5; } h = h - x; } h })(x) }",
     jax.vmap(lambda x: whole(2, lambda h: lax.while_loop(lambda h: h < 4, lambda h: h * 1.5, h) - x, x)), order=0, x=[1.0, 2.0, 3.5])
case("fn map_empty(x: f32[0, 3]) -> f32[0, 3] { vmap(|x| sin(x) * sum(x))(x) }", lambda x: jnp.sin(x) * x.sum(1, keepdims=True))
case("fn map_empty_places(x: f32[0, 3], i: i32[0, 2]) -> f32[0, 2] { vmap(|x, i| sort(x)[i] * set(x, i, x[i])[i])(x, i) }", lambda x, i: x[:, :2] ** 2, i=[])
case("fn map_scan_carry(x: f32[3], w: f32[2, 4, 3]) -> f32[2, 3] { vmap(|w| scan(|h, r| (tanh(h * r), h), x, w).0)(w) }",
     lambda x, w: jax.vmap(lambda w: lax.scan(lambda h, r: (jnp.tanh(h * r), None), x, w)[0])(w))
case("fn map_scan_inputs(x: f32[2, 3], w: f32[4, 3]) -> f32[2, 4, 3] { vmap(|x| scan(|h, r| (tanh(h * r), h * r), x, w).1)(x) }",
     lambda x, w: jax.vmap(lambda x: lax.scan(lambda h, r: (jnp.tanh(h * r), h * r), x, w)[1])(x))
case("fn map_uneven_carry(x: f32[3], a: f32[2]) -> f32[2] { vmap(|a| { let mut h = 1.0; let mut k = 1.0; for i in 0..3 { k = k * x[i]; h = h * a + k; } h })(a) }",
     lambda x, a: (p := jnp.cumprod(x), ((a + p[0]) * a + p[1]) * a + p[2])[1])

# Loops of other shapes.
case("fn loop_triangle(x: f32[4], a: f32[4, 4]) -> f32[4] { let mut y = x; for i in 0..4 { for j in 0..4 { y = if j < i { set(y, i, y[i] - a[i, j] * y[j]) } else { y }; } } y }",
     lambda x, a: solve(jnp.tril(a, -1) + jnp.eye(4), x[:, None])[:, 0])
case("fn loop_bubbles(x: f32[4]) -> f32[4] { let mut y = x; for i in 0..3 { for j in 0..3 { let a = y[j]; let b = y[j + 1]; y = set(set(y, j, min(a, b)), j + 1, max(a, b)); } } y * arange(4, dtype=f32) }",
     lambda x: jnp.sort(x) * jnp.arange(4.0))
case("fn loop_own_history(x: f32) -> f32[6] { let mut y = zeros([6]); for i in 0..6 { y = set(y, i, x + sum(y * y) * 0.1); } y }",
     lambda x: repeat(6, lambda i, y: y.at[i].set(x + jnp.sum(y * y) * 0.1), jnp.zeros(6)))
case("fn loop_matrix_rows(a: f32[3, 3]) -> f32[3, 3] { let mut m = a; for i in 0..3 { m = set(m, i, m[i] / (2 + sum(m[i] * m[i]))); m = m + 0.1 * outer(m[:, 0], m[i]); } m }",
     lambda a: repeat(3, lambda i, m: (m := m.at[i].set(m[i] / (2 + jnp.sum(m[i] * m[i]))), m + 0.1 * jnp.outer(m[:, 0], m[i]))[1], a))
case("fn loop_stopped_carry(x: f32[3]) -> f32[3] { let mut h = x; for i in 0..3 { h = x * stop_gradient(h) + sin(h); } h }",
     lambda x: whole(3, lambda h: x * lax.stop_gradient(h) + jnp.sin(h), x))
case("fn loop_reversed_inputs(x: f32[4], w: f32[4]) -> f32 { let mut s = 0.0; for r in flip(x * w) { s = tanh(s * r + 1); } s }",
     lambda x, w: lax.scan(lambda s, r: (jnp.tanh(s * r + 1), None), 0.0, (x * w)[::-1])[0])
case("fn loop_constant_step(x: f32[2]) -> f32[2] { let mut t = 0.0; let mut h = x; for i in 0..5 { h = h + 0.1 * cos(t * h); t = t + 0.1; } h }",
     lambda x: repeat(5, lambda i, h: h + 0.1 * jnp.cos(0.1 * i * h), x))
case("fn loop_three_deep(x: f32[2]) -> f32[2] { let mut h = x; for i in 0..2 { for j in 0..2 { for k in 0..2 { h = sin(h * x) + f32(i + 2 * j - k) * h; } } } h }",
     lambda x: (lambda h: [h := jnp.sin(h * x) + (i + 2 * j - k) * h for i in range(2) for j in range(2) for k in range(2)][-1])(x))
case("fn loop_total_used(x: f32[3]) -> f32 { let mut s = 0.5; let mut t = 1.0; for r in x { let n = s + r; t = t * sin(s) + r; s = n; } t * s }",
     lambda x: (lambda s: s[0] * s[1])(lax.scan(lambda s, r: ((s[0] + r, s[1] * jnp.sin(s[0]) + r), None), (0.5, 1.0), x)[0]))
case("fn loop_total_given_out(x: f32[4]) -> f32[4] { scan(|s, r| { let a = s - r * r; let b = a + r; (b, a * a) }, 1.0, x).1 }",
     lambda x: lax.scan(lambda s, r: (s - r * r + r, (s - r * r) ** 2), 1.0, x)[1])
case("fn loop_unused_input(x: f32[3], w: f32[4, 3]) -> f32[3] { scan(|h, r| (h * 1.5, r * r), x, w).0 }", lambda x, w: x * 1.5 ** 4)
case("fn loop_only_outputs(w: f32[4, 3]) -> f32[4, 3] { scan(|h, r| (h + 1, r * r * h), 0.0, w).1 }", lambda w: w * w * jnp.arange(4.0)[:, None])
case("fn loop_record_carry(x: f32[2]) -> f32[2] { scan(|s, r| ({ u: s.v * r, v: tanh(s.u) + s.v }, s.u), { u: x, v: x * x }, x).0.u }",
     lambda x: lax.scan(lambda s, r: ((s[1] * r, jnp.tanh(s[0]) + s[1]), None), (x, x * x), x)[0][0])
case("fn loop_branch_on_carry(x: f32[3]) -> f32 { let mut h = 1.0; for r in x { h = if h > 1 { h * r } else { h + r * r }; } h }",
     lambda x: lax.scan(lambda h, r: (jnp.where(h > 1, h * r, h + r * r), None), 1.0, x)[0])
case("fn branch_of_loops(x: f32[3], n: i32) -> f32[3] { if n > 2 { let mut h = x; for i in 0..3 { h = h * sin(h); } h } else { let mut h = x; for i in 0..2 { h = h * h; } h } }",
     lambda x, n: x ** 4, n=1)
case("fn branch_unlike(x: f32[3], y: f32[3], c: f32) -> f32[3] { let (a, b) = if c > 0 { (x * y, x) } else { (x, zeros([3])) }; a * b + c }",
     lambda x, y, c: x * x * y + c, c=1.5)
case("fn branch_in_branch(x: f32, y: f32) -> f32 { if x > 0 { if y > 0 { x * y } else { x / y } } else { y * y } }", lambda x, y: x / y, x=2.0, y=-1.5)
case("fn soft_attention_loop(q: f32[3], k: f32[5, 3]) -> f32[3] { let mut m = -inf; let mut l = 0.0; let mut a = zeros([3]); for r in k { let s = q @ r; let n = max(m, s); let c = exp(m - n); let p = exp(s - n); l = l * c + p; a = a * c + p * r; m = n; } a / l }",
     lambda q, k: nn.softmax(k @ q) @ k, order=1)
