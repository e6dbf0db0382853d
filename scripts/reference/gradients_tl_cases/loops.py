"""Loops and branches."""

import jax
import jax.numpy as jnp
from jax import lax, nn

from .cases import below, case, positive, unit


def repeat(n, f, x):
    """`n` times `f(i, x)`, by a scan, so that it can be differentiated."""
    return lax.scan(lambda x, i: (f(i, x), None), x, jnp.arange(n))[0]


case("fn for_power(a: f32[3, 3]) -> f32[3, 3] { let mut m = eye(3); for i in 0..5 { m = tanh(m @ a); } m }",
     lambda a: repeat(5, lambda i, m: jnp.tanh(m @ a), jnp.eye(3)))
case("fn for_thousand(x: f32[3], w: f32[3]) -> f32[3] { let mut h = x; for i in 0..1000 { h = h + 0.01 * sin(w * h); } h }",
     lambda x, w: repeat(1000, lambda i, h: h + 0.01 * jnp.sin(w * h), x), order=2)
case("fn for_index(x: f32[5]) -> f32 { let mut s = 0.0; for i in 0..5 { s = s * 0.5 + x[i] * x[4 - i] * f32(i); } s }",
     lambda x: repeat(5, lambda i, s: s * 0.5 + x[i] * x[4 - i] * i, 0.0))
case("fn for_rows(x: f32[4, 3], w: f32[3]) -> f32[3] { let mut h = w; for r in x { h = h * sigmoid(r) + r; } h }",
     lambda x, w: lax.scan(lambda h, r: (h * nn.sigmoid(r) + r, None), w, x)[0])
case("fn for_two(x: f32[3], y: f32[3]) -> f32[3] { let mut a = x; let mut b = y; for i in 0..4 { let t = a; a = a * b; b = tanh(t) + b; } a * b }",
     lambda x, y: (s := repeat(4, lambda i, s: (s[0] * s[1], jnp.tanh(s[0]) + s[1]), (x, y)), s[0] * s[1])[1])
case("fn for_write(x: f32[6]) -> f32[6] { let mut y = zeros([6]); for i in 0..6 { y = set(y, i, x[i] ** 2 + 0.5 * y[max(i - 1, 0)]); } y }",
     lambda x: repeat(6, lambda i, y: y.at[i].set(x[i] ** 2 + 0.5 * y[jnp.maximum(i - 1, 0)]), jnp.zeros(6)))
case("fn for_nested(x: f32[3, 4], w: f32[4, 4]) -> f32[4] { let mut t = zeros([4]); for r in x { let mut h = r; for j in 0..3 { h = tanh(h @ w + t); } t = t + h; } t }",
     lambda x, w: lax.scan(lambda t, r: (t + repeat(3, lambda j, h: jnp.tanh(h @ w + t), r), None), jnp.zeros(4), x)[0])
case("fn for_none(x: f32[3]) -> f32[3] { let mut h = x * x; for i in 0..0 { h = exp(h); } h }", lambda x: x * x)
case("fn for_once(x: f32[3]) -> f32[3] { let mut h = x * x; for i in 0..1 { h = exp(h); } h }", lambda x: jnp.exp(x * x))
case("fn for_invariant(x: f32[3], w: f32[3, 3]) -> f32[3] { let mut h = x; for i in 0..4 { let g = exp(-w @ transpose(w) / 9); h = g @ h; } h }",
     lambda x, w: repeat(4, lambda i, h: jnp.exp(-w @ w.T / 9) @ h, x))
case("fn for_branch(x: f32[4], w: f32) -> f32[4] { let mut h = x; for i in 0..6 { if sum(h) > 0 { h = h * w - 0.5; } else { h = h + w * w; } } h }",
     lambda x, w: repeat(6, lambda i, h: lax.cond(jnp.sum(h) > 0, lambda: h * w - 0.5, lambda: h + w * w), x), w=0.75)
case("fn if_traced(x: f32[3], k: i32) -> f32[3] { if k > 1 { sin(x) } else { x * x } }", lambda x, k: jnp.where(k > 1, jnp.sin(x), x * x), k=2)
case("fn if_else_if(x: f32[3], k: i32) -> f32[3] { if k == 0 { sin(x) } else if k == 1 { exp(x) } else { x ** 3 } }", lambda x, k: jnp.exp(x), k=1)
case("fn if_constant(x: f32[3]) -> f32[3] { if 3 > 2 { x * x } else { log(x) } }", lambda x: x * x)
case("fn if_captures(x: f32[3], y: f32[3]) -> f32[3] { let z = x * y; if x[0] > y[0] { z * x } else { z + y * exp(z) } }",
     lambda x, y: jnp.where(x[0] > y[0], x * y * x, x * y + y * jnp.exp(x * y)))
case("fn while_steps(x: f32[3], n: i32) -> f32[3] { let mut h = x; let mut i = 0; while i < n { h = tanh(h * 1.5); i = i + 1; } h }",
     lambda x, n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, jnp.tanh(s[1] * 1.5)), (0, x))[1], order=0, n=4)
case("fn while_newton(a: f32) -> f32 { let mut x = a; while abs(x * x - a) > 1e-5 { x = 0.5 * (x + a / x); } x }",
     lambda a: lax.while_loop(lambda x: jnp.abs(x * x - a) > 1e-5, lambda x: 0.5 * (x + a / x), a), order=0, a=2.5)
case("fn while_in_for(x: f32[2]) -> f32[2] { let mut h = x; for i in 0..3 { let mut j = 0; while j < i { h = sin(h) + h; j = j + 1; } } h }",
     lambda x: (lambda f: f(f(f(x))))(lambda h: jnp.sin(h) + h), order=0)
case("fn scan_sum(x: f32[5, 2]) -> f32[5, 2] { scan(|c, x| { let n = c * 0.9 + x * x; (n, n * c) }, zeros([2]), x).1 }",
     lambda x: lax.scan(lambda c, x: (c * 0.9 + x * x, (c * 0.9 + x * x) * c), jnp.zeros(2), x)[1])
case("fn scan_pair(x: f32[4], y: f32[4, 2]) -> f32[2] { let (c, ys) = scan(|c, t| { let (a, b) = t; (c * a + b, c) }, ones([2]), (x, y)); c + sum(ys, axis=0) }",
     lambda x, y: (o := lax.scan(lambda c, t: (c * t[0] + t[1], c), jnp.ones(2), (x, y)), o[0] + o[1].sum(0))[1])
case("fn pendulum(s: f32[2], l: f32) -> f32[2] { let mut q = s[0]; let mut p = s[1]; for i in 0..20 { p = p - 0.05 * 9.8 / l * sin(q); q = q + 0.05 * p; } stack((q, p)) }",
     lambda s, l: jnp.stack(repeat(20, lambda i, z: (q := z[0], p := z[1] - 0.05 * 9.8 / l * jnp.sin(q), (q + 0.05 * p, p))[-1], (s[0], s[1]))), l=1.5)
case("fn runge_kutta(x: f32[2]) -> f32[2] { let f = |x| { stack((x[1], (1 - x[0] * x[0]) * x[1] - x[0])) }; let mut y = x; for i in 0..5 { let a = f(y); let b = f(y + 0.05 * a); let c = f(y + 0.05 * b); let d = f(y + 0.1 * c); y = y + 0.1 / 6 * (a + 2 * b + 2 * c + d); } y }",
     lambda x: (f := lambda x: jnp.stack([x[1], (1 - x[0] ** 2) * x[1] - x[0]]), repeat(5, lambda i, y: (a := f(y), b := f(y + 0.05 * a), c := f(y + 0.05 * b), d := f(y + 0.1 * c), y + 0.1 / 6 * (a + 2 * b + 2 * c + d))[-1], x))[1])
case("fn heat(u: f32[8], k: f32) -> f32[8] { let mut v = u; for i in 0..10 { v = v + k * (roll(v, 1) - 2 * v + roll(v, -1)); } v }",
     lambda u, k: repeat(10, lambda i, v: v + k * (jnp.roll(v, 1) - 2 * v + jnp.roll(v, -1)), u), k=0.2)
case("fn springs(x: f32[4, 2], v: f32[4, 2]) -> f32[4, 2] { let mut p = x; let mut q = v; for i in 0..6 { let d = p[1:] - p[0:3]; let f = d * (1 - 0.3 / norm(d, axis=1, keepdims=true)); q = q + 0.1 * (pad(f, ((0, 1), (0, 0))) - pad(f, ((1, 0), (0, 0)))); p = p + 0.1 * q; } p }",
     lambda x, v: repeat(6, lambda i, s: (d := s[0][1:] - s[0][:-1], f := d * (1 - 0.3 / jnp.linalg.norm(d, axis=1, keepdims=True)), q := s[1] + 0.1 * (jnp.pad(f, ((0, 1), (0, 0))) - jnp.pad(f, ((1, 0), (0, 0)))), (s[0] + 0.1 * q, q))[-1], (x, v))[0])
case("fn ewma(x: f32[6], a: f32) -> f32[6] { let b = sigmoid(a); scan(|m, x| { let n = b * m + (1 - b) * x; (n, n) }, 0.0, x).1 }",
     lambda x, a: (b := nn.sigmoid(a), lax.scan(lambda m, x: (b * m + (1 - b) * x,) * 2, 0.0, x)[1])[1])
case("fn viterbi_like(e: f32[5, 3], t: f32[3, 3]) -> f32 { let mut a = e[0]; for i in 1..5 { a = logsumexp(a[:, none] + t, axis=0) + e[i]; } logsumexp(a) }",
     lambda e, t: nn.logsumexp(lax.scan(lambda a, e: (nn.logsumexp(a[:, None] + t, axis=0) + e, None), e[0], e[1:])[0]))
case("fn soft_dtw(d: f32[3, 4]) -> f32 { let mut row = concat((zeros([1]), full([4], 1e3))); for i in 0..3 { let mut next = full([5], 1e3); for j in 0..4 { let m = -logsumexp(-stack((row[j], row[j + 1], next[j]))); next = set(next, j + 1, d[i, j] ** 2 + m); } row = next; } row[4] }",
     lambda d: repeat(3, lambda i, row: repeat(4, lambda j, n: n.at[j + 1].set(d[i, j] ** 2 - nn.logsumexp(-jnp.stack([row[j], row[j + 1], n[j]]))), jnp.full(5, 1e3)), jnp.concatenate([jnp.zeros(1), jnp.full(4, 1e3)]))[4])
case("fn horner(c: f32[5], x: f32[3]) -> f32[3] { let mut y = zeros([3]); for a in c { y = y * x + a; } y }",
     lambda c, x: jnp.polyval(c, x))
case("fn trees(w: f32[2, 2], b: f32[2]) -> f32 { let mut p = { w: w, n: { b: b } }; for i in 0..3 { p = { w: p.w @ p.w / 2, n: { b: tanh(p.w @ p.n.b) } }; } sum(p.w) * sum(p.n.b) }",
     lambda w, b: (p := repeat(3, lambda i, p: (p[0] @ p[0] / 2, jnp.tanh(p[0] @ p[1])), (w, b)), p[0].sum() * p[1].sum())[1])
