"""Transforms inside: they are differentiated once more from outside."""

import jax
import jax.numpy as jnp
from jax import lax, nn

from .cases import REVERSE, below, case


f = lambda x: jnp.sum(jnp.sin(x) * x * x)
clipped_identity = jax.custom_vjp(lambda x: x)
clipped_identity.defvjp(lambda x: (x, None), lambda _, ct: (jnp.clip(ct, -0.5, 0.5),))
F = "|x| sum(sin(x) * x * x)"

case(f"fn inner_grad(x: f32[4]) -> f32[4] {{ grad({F})(x) }}", jax.grad(f))
case(f"fn inner_hessian(x: f32[3]) -> f32[3, 3] {{ hessian(|x| prod(x) * sum(exp(x)))(x) }}", jax.hessian(lambda x: jnp.prod(x) * jnp.sum(jnp.exp(x))))
case("fn inner_jacobian(x: f32[3]) -> f32[2, 3] { jacobian(|x| stack((sum(x * x), prod(x))))(x) }",
     jax.jacobian(lambda x: jnp.stack([jnp.sum(x * x), jnp.prod(x)])))
case("fn hessian_vector(x: f32[4], v: f32[4]) -> f32[4] { jvp(|x| grad(|x| sum(x ** 4) + prod(x))(x))(x, v).1 }",
     lambda x, v: jax.jvp(jax.grad(lambda x: jnp.sum(x ** 4) + jnp.prod(x)), (x,), (v,))[1])
case("fn reverse_over_forward(x: f32[4], v: f32[4]) -> f32[4] { grad(|x| jvp(|x| sum(exp(x) * x))(x, v).1)(x) }",
     lambda x, v: jax.grad(lambda x: jax.jvp(lambda x: jnp.sum(jnp.exp(x) * x), (x,), (v,))[1])(x))
case("fn per_example(w: f32[3], x: f32[5, 3], y: f32[5]) -> f32[5, 3] { vmap(grad(|w, x, y| square(tanh(w @ x) - y)), in=(none, 0, 0))(w, x, y) }",
     lambda w, x, y: jax.vmap(jax.grad(lambda w, x, y: (jnp.tanh(w @ x) - y) ** 2), (None, 0, 0))(w, x, y))
case("fn clipped_per_example(w: f32[3], x: f32[5, 3]) -> f32[3] { let g = vmap(grad(|w, x| sum(sin(w * x))), in=(none, 0))(w, x); let n = norm(g, axis=1, keepdims=true); mean(g * min(1.0, 0.5 / n), axis=0) }",
     lambda w, x: (g := jax.vmap(jax.grad(lambda w, x: jnp.sum(jnp.sin(w * x))), (None, 0))(w, x), jnp.mean(g * jnp.minimum(1, 0.5 / jnp.linalg.norm(g, axis=1, keepdims=True)), 0))[1])
case("fn grad_of_vmap(w: f32[3, 3], x: f32[4, 3]) -> f32[3, 3] { grad(|w| sum(vmap(|x| tanh(w @ x))(x)))(w) }",
     lambda w, x: jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w.T)))(w))
case("fn maml(w: f32[2, 3], x: f32[4, 3], y: f32[4, 2]) -> f32 { let loss = |w| mean(square(tanh(x @ transpose(w)) - y)); let mut p = w; for i in 0..3 { let g = grad(loss)(p); p = p - 0.1 * g; } loss(p) }",
     lambda w, x, y: (l := lambda w: jnp.mean((jnp.tanh(x @ w.T) - y) ** 2), l(lax.scan(lambda p, _: (p - 0.1 * jax.grad(l)(p), None), w, None, 3)[0]))[1])
case("fn maml_tasks(w: f32[3], x: f32[2, 4, 3], y: f32[2, 4]) -> f32 { mean(vmap(|x, y| { let loss = |w| mean(square(x @ w - y)); let p = w - 0.1 * grad(loss)(w); loss(p) })(x, y)) }",
     lambda w, x, y: jnp.mean(jax.vmap(lambda x, y: (l := lambda w: jnp.mean((x @ w - y) ** 2), l(w - 0.1 * jax.grad(l)(w)))[1])(x, y)))
case("fn learned_rate(r: f32, w: f32[3]) -> f32 { let mut p = w; let mut m = zeros([3]); for i in 0..4 { m = 0.9 * m + grad(|p| sum(cosh(p)))(p); p = p - r * m; } sum(p * p) }",
     lambda r, w: jnp.sum(lax.scan(lambda s, _: (m := 0.9 * s[1] + jnp.sinh(s[0]), (s[0] - r * m, m))[1:] + (None,), (w, jnp.zeros(3)), None, 4)[0][0] ** 2), r=0.05)
case("fn gradient_penalty(w: f32[3, 4], x: f32[2, 3]) -> f32 { let d = |x| sum(tanh(x @ w)); mean(square(norm(grad(|x| d(x))(x), axis=1) - 1)) }",
     lambda w, x: (g := jax.grad(lambda x: jnp.sum(jnp.tanh(x @ w)))(x), jnp.mean((jnp.linalg.norm(g, axis=1) - 1) ** 2))[1])
case("fn physics_informed(w: f32[1, 4], v: f32[4], t: f32[5]) -> f32 { let u = |t| tanh(t * w[0]) @ v; let r = vmap(|t| grad(grad(u))(t) + u(t))(t); mean(r * r) }",
     lambda w, v, t: (u := lambda t: jnp.tanh(t * w[0]) @ v, r := jax.vmap(lambda t: jax.grad(jax.grad(u))(t) + u(t))(t), jnp.mean(r * r))[-1])
case("fn checkpointed(x: f32[3], w: f32[3, 3]) -> f32[3] { let f = |h| tanh(w @ h) * h; checkpoint(f)(checkpoint(f)(x)) }",
     lambda x, w: (f := lambda h: jnp.tanh(w @ h) * h, f(f(x)))[1])
case("fn checkpointed_loop(x: f32[3], w: f32[3, 3]) -> f32[3] { let mut h = x; for i in 0..5 { h = checkpoint(|h| sin(w @ tanh(h)) + h)(h); } h }",
     lambda x, w: lax.scan(lambda h, _: (jnp.sin(w @ jnp.tanh(h)) + h, None), x, None, 5)[0])
case("fn own_derivative(x: f32[4]) -> f32[4] { clipped_identity(x * x) * x }\nfn clipped_identity(x: f32[4]) -> f32[4] { x } vjp(x, y, ct) { clamp(ct, -0.5, 0.5) }",
     lambda x: clipped_identity(x * x) * x, order=REVERSE)
case("fn own_linear(x: f32[4]) -> f32[4] { log_one_exp(x) * x }\nfn log_one_exp(x: f32[4]) -> f32[4] { log(1 + exp(x)) } vjp(x, y, ct) { ct * (1 - 1 / (1 + exp(x))) }",
     lambda x: nn.softplus(x) * x)
case("fn straight_through(x: f32[5]) -> f32[5] { let r = x + stop_gradient(round(2 * x) - x); r * r }",
     lambda x: (x + lax.stop_gradient(jnp.round(2 * x) - x)) ** 2)
case("fn stopped(x: f32[4]) -> f32[4] { x * stop_gradient(exp(x)) + stop_gradient(x) * sin(x) }",
     lambda x: x * lax.stop_gradient(jnp.exp(x)) + lax.stop_gradient(x) * jnp.sin(x))
case("fn vmap_shared(a: f32[3, 3], x: f32[4, 3]) -> f32[4] { vmap(|a, x| x @ a @ x, in=(none, 0))(a, x) }", lambda a, x: jnp.einsum("bi,ij,bj->b", x, a, x))
case("fn vmap_axes(a: f32[3, 4], b: f32[4, 2]) -> f32[2, 4] { vmap(|a, b| tanh(sum(a)) * b, in=(1, 0), out=1)(a, b) }", lambda a, b: (jnp.tanh(a.sum(0))[:, None] * b).T)
case("fn vmap_nested(x: f32[3, 2], y: f32[4, 2]) -> f32[3, 4] { vmap(|a| vmap(|b| exp(-sum(square(a - b))))(y))(x) }", lambda x, y: jnp.exp(-jnp.sum((x[:, None] - y[None]) ** 2, 2)))
case("fn vmap_solve(a: f32[2, 3, 3], b: f32[2, 3]) -> f32[2, 3] { vmap(|a, b| { let l = cholesky(a @ transpose(a) + 2 * eye(3)); triangular_solve(l, b[:, none], left_side=true, lower=true)[:, 0] })(a, b) }",
     lambda a, b: jax.vmap(lambda a, b: lax.linalg.triangular_solve(jnp.linalg.cholesky(a @ a.T + 2 * jnp.eye(3)), b[:, None], left_side=True, lower=True)[:, 0])(a, b))
case("fn vmap_gather(t: f32[3, 5], i: i32[3, 2]) -> f32[3, 2] { vmap(|t, i| t[i] * t[i])(t, i) }", lambda t, i: jnp.take_along_axis(t, i, 1) ** 2, i=below(5))
case("fn vmap_scatter(t: f32[3, 5], i: i32[3, 2], v: f32[3, 2]) -> f32[3, 5] { vmap(|t, i, v| square(add_at(t, i, v)))(t, i, v) }",
     lambda t, i, v: jax.vmap(lambda t, i, v: t.at[i].add(v) ** 2)(t, i, v), i=below(5))
case("fn vmap_sort(x: f32[3, 5]) -> f32[3, 5] { vmap(|x| sort(x) * x)(x) }", lambda x: jnp.sort(x, 1) * x)
case("fn vmap_loop(x: f32[3, 2]) -> f32[3, 2] { vmap(|x| { let mut h = x; for i in 0..3 { h = sin(h) * x; } h })(x) }",
     lambda x: (lambda g: g(g(g(x))))(lambda h: jnp.sin(h) * x))
case("fn vmap_if(x: f32[5]) -> f32[5] { vmap(|x| if x > 0 { x * x } else { exp(x) })(x) }", lambda x: jnp.where(x > 0, x * x, jnp.exp(x)))
case("fn vmap_conv(x: f32[2, 1, 5, 2], w: f32[2, 3, 2, 2]) -> f32[2, 1, 5, 2] { vmap(|x, w| conv(x, w))(x, w) }",
     lambda x, w: jax.vmap(lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC")))(x, w))
case("fn with_aux(x: f32[4]) -> f32[4] { let ((l, a), g) = value_and_grad(|x| (sum(x ** 3), exp(x)), aux=true)(x); l * a + g }",
     lambda x: jnp.sum(x ** 3) * jnp.exp(x) + 3 * x * x)
case("fn pulled_back(x: f32[3], y: f32[3], c: f32[3]) -> f32[3] { let (o, (a, b)) = vjp(|x, y| x * exp(y))((x, y), c); o * a + b }",
     lambda x, y, ct: x * jnp.exp(y) * ct * jnp.exp(y) + ct * x * jnp.exp(y))
case("fn over_trees(w: f32[2], b: f32[3]) -> f32 { let p = { w: w, b: b }; let g = grad(|p| sum(p.w ** 3) * sum(p.b ** 2))(p); let q = map(|p, g| p - 0.1 * g, p, g); fold(|s, x| s + sum(x * x), 0.0, q) }",
     lambda w, b: jnp.sum((w - 0.3 * w ** 2 * jnp.sum(b ** 2)) ** 2) + jnp.sum((b - 0.2 * b * jnp.sum(w ** 3)) ** 2))
case("fn third_derivative(x: f32[3]) -> f32[3] { vmap(grad(grad(grad(|x| sin(x) * x ** 3))))(x) }",
     jax.vmap(jax.grad(jax.grad(jax.grad(lambda x: jnp.sin(x) * x ** 3)))))
case("fn natural_gradient(w: f32[2], x: f32[5, 2]) -> f32[2] { let g = vmap(grad(|w, x| tanh(w @ x)), in=(none, 0))(w, x); let l = cholesky(transpose(g) @ g + 0.5 * eye(2)); let s = sum(g, axis=0)[:, none]; triangular_solve(l, triangular_solve(l, s, left_side=true, lower=true), left_side=true, lower=true, transpose_a=true)[:, 0] }",
     lambda w, x: (g := jax.vmap(jax.grad(lambda w, x: jnp.tanh(w @ x)), (None, 0))(w, x), jnp.linalg.solve(g.T @ g + 0.5 * jnp.eye(2), g.sum(0)))[1])
