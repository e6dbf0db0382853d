"""Transforms in unlikely company: checkpoints in scans under maps, own derivatives under maps, second derivatives of networks'
losses, strides with dilations and groups, ties in pools, broadcasts in contractions, arrays without elements."""

import re

import jax
import jax.numpy as jnp
from jax import lax, nn

from .cases import REVERSE, case, definite

HALVES = jax.custom_vjp(lambda x, w: jnp.sum(x * w, -1))
HALVES.defvjp(lambda x, w: (jnp.sum(x * w, -1), (x, w)), lambda r, ct: (ct[..., None] * r[1] / 2, ct[..., None] * r[0] * 3))
OWN = "\nfn halves(x: f32[3], w: f32[3]) -> f32 { sum(x * w) } vjp(x, w, y, ct) { (ct * w * 0.5, ct * x * 3.0) }"


def own(text, fn):
    """A case that uses `halves`, under a name of its own: all cases stand in one program."""
    case((text + OWN).replace("halves", f"halves_{re.search('fn mixed_own_([a-z_]+)', text)[1]}"), fn, order=REVERSE)


conv1 = lambda x, w, s, p, d=1, g=1: lax.conv_general_dilated(x, w, (s,), p, rhs_dilation=(d,), feature_group_count=g, dimension_numbers=("NHC", "HIO", "NHC"))
conv2 = lambda x, w, s, p, d=(1, 1), g=1: lax.conv_general_dilated(x, w, s, p, rhs_dilation=d, feature_group_count=g, dimension_numbers=("NHWC", "HWIO", "NHWC"))

# Checkpoints.

case("fn mixed_checkpoint(x: f32[4, 3], w: f32[3, 3]) -> f32[4, 3] { vmap(|h| { let (c, ys) = scan(|c, u| { let n = checkpoint(|c| tanh(w @ c) * u)(c); (n, sum(n)) }, h, w); c * sum(ys) })(x) }",
     lambda x, w: jax.vmap(lambda h: (s := lax.scan(lambda c, u: (jnp.tanh(w @ c) * u, jnp.sum(jnp.tanh(w @ c) * u)), h, w), s[0] * s[1].sum())[1])(x))
case("fn mixed_checkpoint_axes(x: f32[3, 4], w: f32[3]) -> f32[3, 4] { vmap(checkpoint(|h, w| { let mut a = h; for i in 0..3 { a = checkpoint(|a| sin(a * w) + a)(a); } a * h }), in=(1, none), out=1)(x, w) }",
     lambda x, w: (f := lambda a: jnp.sin(a * w[:, None]) + a, f(f(f(x))) * x)[1])
case("fn mixed_checkpoint_grad(x: f32[3], w: f32[3]) -> f32[3] { checkpoint(|x| grad(checkpoint(|x| sum(sin(x * w) * x)))(x) * x)(x) }",
     lambda x, w: (w * jnp.cos(x * w) * x + jnp.sin(x * w)) * x)
case("fn mixed_checkpoint_branch(x: f32[5], w: f32) -> f32[5] { vmap(|a| checkpoint(|a, w| if a > 0 { exp(a * w) } else { a * a * w })(a, w))(x) }",
     lambda x, w: jnp.where(x > 0, jnp.exp(jnp.where(x > 0, x, 0) * w), x * x * w))
case("fn mixed_checkpoint_two(x: f32[3], y: f32[3]) -> f32[3] { let (a, b) = checkpoint(|x, y| (x * exp(y), sin(x)))(x, y); a * b + a }",
     lambda x, y: x * jnp.exp(y) * (jnp.sin(x) + 1))

# A function's own derivative.

own("fn mixed_own_map(x: f32[4, 3], w: f32[3]) -> f32[4] { vmap(halves, in=(0, none))(x, w) ** 2 }", lambda x, w: HALVES(x, jnp.broadcast_to(w, x.shape)) ** 2)
own("fn mixed_own_map_axes(x: f32[3, 4], w: f32[4, 3]) -> f32[4] { sin(vmap(halves, in=(1, 0))(x, w)) }", lambda x, w: jnp.sin(HALVES(x.T, w)))
own("fn mixed_own_scan(x: f32[3], w: f32[5, 3]) -> f32[3] { let (c, ys) = scan(|c, u| (c * halves(c, u), halves(u, c)), x, w); c * sum(ys) }",
     lambda x, w: (s := lax.scan(lambda c, u: (c * HALVES(c, u), HALVES(u, c)), x, w), s[0] * s[1].sum())[1])
own("fn mixed_own_inner(x: f32[3], w: f32[3]) -> f32[3] { grad(|x| halves(x * x, w))(x) }", lambda x, w: jax.grad(lambda x: HALVES(x * x, w))(x))
own("fn mixed_own_checkpoint(x: f32[3], w: f32[3]) -> f32 { checkpoint(|x| halves(sin(x), w) * halves(w, x))(x) }", lambda x, w: HALVES(jnp.sin(x), w) * HALVES(w, x))
case("fn mixed_own_integer(x: f32[4], i: i32) -> f32[4] { picked(x * x, i) * x }\nfn picked(x: f32[4], i: i32) -> f32[4] { x * f32(i) } vjp(x, i, y, ct) { (ct * f32(i) * 0.5, ()) }",
     lambda x, i: (f := jax.custom_vjp(lambda x: x * i), f.defvjp(lambda x: (x * i, None), lambda _, ct: (ct * i * 0.5,)), f(x * x) * x)[-1], order=REVERSE, i=3)

# Networks: hessians of losses, gradients of examples, steps inside.

case("fn mixed_hessian_loss(w: f32[8], x: f32[4, 3], y: i32[4]) -> f32[8, 8] { hessian(|w| { let a = reshape(w[0:6], [3, 2]); let b = w[6:8]; mean(softmax_cross_entropy(tanh(x @ a) * 2.0 + b, y)) })(w) }",
     lambda w, x, y: jax.hessian(lambda w: -jnp.mean(jnp.take_along_axis(nn.log_softmax(jnp.tanh(x @ w[:6].reshape(3, 2)) * 2 + w[6:8]), y[:, None], 1)))(w), order=1, y=[0, 1, 1, 0])
case("fn mixed_examples_conv(k: f32[3, 2, 2], x: f32[4, 5, 2], y: i32[4]) -> f32[4, 3, 2, 2] { vmap(grad(|k, x, y| { let h = mean(relu(conv(x[none], k)), axis=1); softmax_cross_entropy(h, expand_dims(y, 0))[0] }), in=(none, 0, 0))(k, x, y) }",
     lambda k, x, y: jax.vmap(jax.grad(lambda k, x, y: -nn.log_softmax(nn.relu(conv1(x[None], k, 1, "SAME")).mean(1))[0, y]), (None, 0, 0))(k, x, y), y=[0, 1, 1, 0])
case("fn mixed_maml(w: f32[2, 3], v: f32[2], x: f32[3, 4, 3], y: f32[3, 4]) -> f32 { let loss = |p, x, y| mean(square(sin(x @ transpose(p.w)) @ p.v - y)); mean(vmap(|x, y| { let mut p = { w: w, v: v }; for i in 0..2 { let g = grad(loss)(p, x, y); p = map(|p, g| p - 0.1 * g, p, g); } loss(p, x, y) })(x, y)) }",
     lambda w, v, x, y: (l := lambda p, x, y: jnp.mean((jnp.sin(x @ p[0].T) @ p[1] - y) ** 2),
                         s := lambda p, x, y: jax.tree.map(lambda p, g: p - 0.1 * g, p, jax.grad(l)(p, x, y)),
                         jnp.mean(jax.vmap(lambda x, y: l(s(s((w, v), x, y), x, y), x, y))(x, y)))[-1])
case("fn mixed_trace(w: f32[3, 3], x: f32[4, 3]) -> f32[4] { vmap(|x| trace(jacobian(|x| tanh(w @ x) * x)(x)))(x) }",
     lambda w, x: jax.vmap(lambda x: jnp.trace(jax.jacobian(lambda x: jnp.tanh(w @ x) * x)(x)))(x))
case("fn mixed_newton(x: f32[2]) -> f32[2] { let f = |x| sum(x ** 4) + prod(x) + sum(x * x); let l = cholesky(hessian(f)(x) + 3.0 * eye(2)); triangular_solve(l, grad(f)(x)[:, none], left_side=true, lower=true)[:, 0] }",
     lambda x: (f := lambda x: jnp.sum(x ** 4) + jnp.prod(x) + jnp.sum(x * x), lax.linalg.triangular_solve(jnp.linalg.cholesky(jax.hessian(f)(x) + 3 * jnp.eye(2)), jax.grad(f)(x)[:, None], left_side=True, lower=True)[:, 0])[1], order=1)
case("fn mixed_fisher(w: f32[3], x: f32[4, 3]) -> f32[3] { let f = |w| sigmoid(x @ w); let (y, d) = jvp(f)(w, w * w); let (z, g) = vjp(f)(w, d / (y * (1.0 - y))); g }",
     lambda w, x: (f := lambda w: nn.sigmoid(x @ w), o := jax.jvp(f, (w,), (w * w,)), jax.vjp(f, w)[1](o[1] / (o[0] * (1 - o[0])))[0])[-1])
case("fn mixed_implicit(a: f32) -> f32 { let mut x = 1.0; for i in 0..6 { let (v, d) = value_and_grad(|x| x * x * x + a * x - 2.0)(x); x = x - v / d; } x }",
     lambda a: (lambda g: g(g(g(g(g(g(jnp.float64(1.0))))))))(lambda x: x - (x ** 3 + a * x - 2) / (3 * x * x + a)), a=1.5)

# While, forwards.

case("fn mixed_while(x: f32, a: f32) -> f32 { let mut y = x; let mut k = 0; while y < 20.0 { y = y * a + sin(y); k = k + 1; } y * f32(k) }",
     lambda x, a: (s := lax.while_loop(lambda s: s[0] < 20, lambda s: (s[0] * a + jnp.sin(s[0]), s[1] + 1), (x, 0)), s[0] * s[1])[1], order=0, x=1.5, a=1.75)
case("fn mixed_while_inside(x: f32[3]) -> f32[3] { vmap(|x| { let mut y = x; while y < 4.0 { y = jvp(|y| y * y + 1.5)(y, 1.0).1 + 1.0; } y * x })(x) }",
     lambda x: (f := lambda y: 2 * y + 1, g := lambda y: jnp.where(y < 4, f(y), y), g(g(g(g(g(x))))) * x)[-1], order=0, x=[0.25, 1.5, 5.0])

# Sorting, running totals, scattering.

case("fn mixed_sort_map(x: f32[4, 3]) -> f32[3, 4] { vmap(|c| sort(c, descending=true) * cumsum(c, reverse=true), in=1)(x) }", lambda x: -jnp.sort(-x.T, 1) * jnp.cumsum(x.T[:, ::-1], 1)[:, ::-1])
case("fn mixed_argsort(x: f32[5], y: f32[5]) -> f32[5] { let i = argsort(x * x); cumsum(y[i]) * x[flip(i)] }", lambda x, y: (i := jnp.argsort(x * x), jnp.cumsum(y[i]) * x[i[::-1]])[1])
case("fn mixed_sort_twice(x: f32[2, 5]) -> f32[2, 5] { sort(sort(x, axis=0) ** 2, axis=1) * cummin(x, axis=0) }", lambda x: jnp.sort(jnp.sort(x, 0) ** 2, 1) * lax.cummin(x, 0), order=1)
case("fn mixed_top(x: f32[3, 6]) -> f32[3, 2] { let (v, i) = top_k(x, 2); v * take_along_axis(sin(x), i, axis=1) }", lambda x: (s := lax.top_k(x, 2), s[0] * jnp.take_along_axis(jnp.sin(x), s[1], 1))[1])
case("fn mixed_running(x: f32[2, 9]) -> f32[2, 9] { cumprod(x, axis=1) + cummax(x, axis=1, reverse=true) * cummin(x, axis=1) }", lambda x: jnp.cumprod(x, 1) + lax.cummax(x, 1, reverse=True) * lax.cummin(x, 1))
case("fn mixed_running_five(x: f32[5, 3]) -> f32[5, 3] { cumprod(x, axis=0, reverse=true) * cummax(x, axis=0) }", lambda x: jnp.cumprod(x[::-1], 0)[::-1] * lax.cummax(x, 0))
case("fn mixed_scatter_loop(x: f32[6], i: i32[4, 2]) -> f32[6] { let mut y = x; for r in i { y = add_at(set(y, r[0], y[r[1]] * 2.0), r[1], sin(y[r[0]])); } y }",
     lambda x, i: lax.scan(lambda y, r: (y.at[r[0]].set(y[r[1]] * 2).at[r[1]].add(jnp.sin(y[r[0]])), None), x, i)[0], i=[0, 3, 3, 5, 1, 0, 5, 5])
case("fn mixed_scatter_rows(x: f32[4, 3], i: i32[2, 2], v: f32[2, 2, 3]) -> f32[4, 3] { add_at(x, i, v * v) * add_at(x, i, v) }", lambda x, i, v: x.at[i].add(v * v) * x.at[i].add(v), i=[0, 3, 3, 3])
case("fn mixed_gather_map(x: f32[5, 3], i: i32[4]) -> f32[4, 3] { vmap(|i| x[i] * x[4 - i])(i) }", lambda x, i: x[i] * x[4 - i], i=[0, 4, 2, 2])
case("fn mixed_histogram(x: f32[8], e: f32[3]) -> f32[4] { let i = searchsorted(e, x); add_at(zeros([4]), i, exp(x)) }", lambda x, e: jnp.zeros(4).at[jnp.searchsorted(e, x)].add(jnp.exp(x)) + 0 * e.sum(), e=[-1.0, 0.0, 1.0])

# Convolutions and pools.

case("fn mixed_conv_all(x: f32[2, 9, 8, 4], w: f32[3, 2, 2, 6]) -> f32[2, 4, 3, 6] { conv(x, w, stride=(2, 3), padding=((2, 1), (1, 2)), dilation=(2, 2), groups=2) }",
     lambda x, w: conv2(x, w, (2, 3), ((2, 1), (1, 2)), (2, 2), 2), order=1)
case("fn mixed_conv_same(x: f32[1, 7, 2], w: f32[4, 2, 3]) -> f32[1, 3, 3] { conv(x, w, stride=3, padding=\"same\") ** 2 }", lambda x, w: conv1(x, w, 3, "SAME") ** 2)
case("fn mixed_conv_dilated(x: f32[2, 10, 2], w: f32[3, 1, 4]) -> f32[2, 3, 4] { conv(x, w, stride=2, padding=\"valid\", dilation=2, groups=2) }", lambda x, w: conv1(x, w, 2, "VALID", 2, 2))
case("fn mixed_conv_map_both(x: f32[3, 1, 6, 2], w: f32[3, 2, 2, 2]) -> f32[3, 1, 3, 2] { vmap(|x, w| conv(x, w, stride=2, dilation=1))(x, w) ** 2 }", lambda x, w: jax.vmap(lambda x, w: conv1(x, w, 2, "SAME"))(x, w) ** 2)
case("fn mixed_conv_kernel_map(x: f32[2, 6, 2], w: f32[3, 3, 2, 2]) -> f32[3, 2, 2, 2] { vmap(|w| conv(x, w, stride=3, padding=((1, 1)), groups=1))(w) }", lambda x, w: jax.vmap(lambda w: conv1(x, w, 3, ((1, 1),)))(w))
case("fn mixed_pool_ties(x: f32[1, 4, 4, 1]) -> f32[1, 2, 2, 1] { max_pool(x, 3, stride=2, padding=\"same\") * avg_pool(x, 2, stride=2) }",
     lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") * lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4, order=1, x=[1.0, 1.0, 0.0, 2.0, 1.0, 1.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0])
case("fn mixed_pool_map(x: f32[3, 1, 6, 2], s: f32[2]) -> f32[3, 1, 3, 2] { vmap(|x| max_pool(x * s, 2, stride=2))(x) ** 2 }", lambda x, s: lax.reduce_window(x * s, -jnp.inf, lax.max, (1, 1, 2, 1), (1, 1, 2, 1), "VALID") ** 2)

# Contractions.

case("fn mixed_einsum_dots(a: f32[2, 1, 3, 4], b: f32[5, 4, 2]) -> f32[2, 5, 3, 2] { einsum(\"...ij,...jk->...ik\", a, b) ** 2 }", lambda a, b: jnp.einsum("...ij,...jk->...ik", a, b) ** 2)
case("fn mixed_einsum_implicit(a: f32[3, 2], b: f32[3, 4]) -> f32[2, 4] { sin(einsum(\"ba,bc\", a, b)) }", lambda a, b: jnp.sin(jnp.einsum("ba,bc", a, b)))
case("fn mixed_einsum_sum(a: f32[3, 2, 2], b: f32[2]) -> f32[3] { einsum(\"bii,j->b\", a, b) * einsum(\"bij->b\", a) }", lambda a, b: jnp.einsum("bii,j->b", a, b) * a.sum((1, 2)))
case("fn mixed_einsum_four(a: f32[2, 3], b: f32[3, 4], c: f32[4, 2], d: f32[2]) -> f32[2] { einsum(\"ij,jk,ki,i->i\", a, b, c, d) }", lambda a, b, c, d: jnp.einsum("ij,jk,ki,i->i", a, b, c, d))
case("fn mixed_einsum_map(a: f32[4, 2, 3], b: f32[3, 2]) -> f32[4, 2] { vmap(|a| einsum(\"ij,ji->i\", a, b), in=0)(a) }", lambda a, b: jnp.einsum("bij,ji->bi", a, b))
case("fn mixed_solve_loop(a: f32[3, 3], b: f32[3, 2]) -> f32[3, 2] { let l = cholesky(a); let mut x = b; for i in 0..3 { x = triangular_solve(l, x, left_side=true, lower=true, transpose_a=true) + b; } x }",
     lambda a, b: (l := jnp.linalg.cholesky(a), f := lambda x: lax.linalg.triangular_solve(l, x, left_side=True, lower=True, transpose_a=True) + b, f(f(f(b))))[2], order=1, a=definite)
case("fn mixed_factor_sum(a: f32[2, 5, 5]) -> f32[2] { sum(cholesky(a) ** 3, axis=(1, 2)) }", lambda a: jnp.sum(jnp.linalg.cholesky(a) ** 3, (1, 2)), order=1, a=definite)

# Nothing there.

case("fn mixed_none_map(x: f32[0, 3], w: f32[3]) -> f32[3] { sum(vmap(grad(|x| sum(tanh(x * w))))(x), axis=0) + w * w }", lambda x, w: w * w)
case("fn mixed_none_pool(x: f32[0, 4, 2]) -> f32[0, 2, 2] { max_pool(x, 2, stride=2) + avg_pool(x, 2, stride=2) }", lambda x: jnp.zeros((0, 2, 2)) + 0 * x.sum())
case("fn mixed_none_factor(a: f32[2, 0, 0], b: f32[2, 0, 3]) -> f32[2, 0, 3] { triangular_solve(cholesky(a), b, left_side=true, lower=true) }", lambda a, b: b + 0 * a.sum())
case("fn mixed_none_einsum(a: f32[2, 0], b: f32[0, 3], x: f32[2, 3]) -> f32[2, 3] { (einsum(\"ij,jk->ik\", a, b) + x) * x }", lambda a, b, x: x * x + a.sum() + b.sum())
case("fn mixed_none_scan(x: f32[3], u: f32[0, 3]) -> f32[3] { let (c, ys) = scan(|c, u| (c * u, c + u), x, u); c * c + sum(ys, axis=0) }", lambda x, u: x * x)
case("fn mixed_none_softmax(x: f32[0, 3], y: f32[3]) -> f32[3] { sum(softmax(x), axis=0) + sum(log_softmax(x) * x, axis=0) + y ** 2 }", lambda x, y: y * y)
case("fn mixed_none_top(x: f32[2, 3]) -> f32[2, 3] { let (v, i) = top_k(x, 0); x * x + sum(v, axis=1, keepdims=true) }", lambda x: x * x)
case("fn mixed_none_running(x: f32[0, 2], y: f32[2, 1]) -> f32[2, 1] { sum(cumprod(x, axis=0) + cummax(x, axis=0)) + cumprod(y, axis=1) * cummax(y, axis=1) }", lambda x, y: y * y)

# Conversions on the way.

case("fn mixed_widths(x: f32[4]) -> f32[4] { f32(f64(x) * f64(x)) * f32(i32(x * 3.0)) }", lambda x: x * x * jnp.trunc(x * 3), x=[1.5, -2.25, 0.1, 4.0])
case("fn mixed_integer_path(x: f32[4]) -> f32[4] { let k = argmax(x); let n = i32(floor(sum(x))); x * x[k] + f32(n) * sum(x) }", lambda x: (n := jnp.floor(x.sum()), x * x[jnp.argmax(x)] + lax.stop_gradient(n) * x.sum())[1])
