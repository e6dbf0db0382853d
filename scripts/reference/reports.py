#!/usr/bin/env python3
"""Edge cases that users of JAX, NumPy, Optax and XLA have reported, with JAX's values, as cases in tests/cases/reports/.

Run in the root of the repository with jax and numpy installed:

    python scripts/reference/reports.py && tpuc fmt tests/cases/reports/*.tl

Each row is an expression of the language and what JAX computes for it; the rows of one subject become one program.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import grad, lax, nn, vmap

FOLDER = Path("tests/cases/reports")
f32, i32 = np.float32, np.int32
nan, inf = np.nan, np.inf


def A(*xs, dtype=f32):
    return jnp.array(xs, dtype)


def I(*xs, dtype=i32):
    return jnp.array(xs, dtype)


def key(n):
    return jax.random.key(n)


def chain(f, n):
    for _ in range(n):
        f = grad(f)
    return f


def relu_guarded(x):
    return jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1.0)), 0.0)


def conv(x, w, stride=1, padding="SAME", dilation=1, groups=1):
    n = x.ndim - 2
    each = lambda v: (v,) * n if isinstance(v, int) else v
    spatial = "DHW"[3 - n :]
    return lax.conv_general_dilated(
        x, w, each(stride), padding, rhs_dilation=each(dilation), feature_group_count=groups,
        dimension_numbers=(f"N{spatial}C", f"{spatial}IO", f"N{spatial}C"),
    )


def ramp(*shape):
    return jnp.arange(np.prod(shape), dtype=f32).reshape(shape)


RAMP = "reshape(f32(arange({n})), [{s}])"


def ramp_tl(*shape):
    return RAMP.format(n=int(np.prod(shape)), s=", ".join(map(str, shape)))


def max_pool(x, w, stride, pad):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, w, 1), (1, stride, 1), ((0, 0), pad, (0, 0)))




SUBJECTS = {
    "gradients": [
        # norm and sqrt at 0; the language says 0 where JAX says NaN for norm, so only guarded forms are compared
        ("grad(|x| sum(x ** 2.0))([0.0, -1.0])", lambda: grad(lambda x: jnp.sum(x**2.0))(A(0, -1))),
        ("grad(|x| sum(x ** 0))([0.0, 2.0])", lambda: grad(lambda x: jnp.sum(x**0))(A(0, 2))),
        ("grad(|x| sum(x ** 1))([0.0, 2.0])", lambda: grad(lambda x: jnp.sum(x**1))(A(0, 2))),
        ("grad(|x| sum(x ** 3))([0.0, -2.0])", lambda: grad(lambda x: jnp.sum(x**3))(A(0, -2))),
        ("grad(|y| pow(0.0, y))(2.0)", lambda: grad(lambda y: jnp.power(0.0, y))(2.0)),
        ("grad(|x| pow(x, 2.0))(-3.0)", lambda: grad(lambda x: jnp.power(x, 2.0))(-3.0)),
        ("grad(|x| sum(where(x > 0, log(where(x > 0, x, 1)), 0)))([0.0, -1.0, 2.0])", lambda: grad(lambda x: jnp.sum(relu_guarded(x)))(A(0, -1, 2))),
        ("grad(|x| sum(where(x > 1, sqrt(x), x)))([0.0, 4.0])", lambda: grad(lambda x: jnp.sum(jnp.where(x > 1, jnp.sqrt(x), x)))(A(0, 4))),
        ("grad(|x| prod(x))([0.0, 3.0, 0.0])", lambda: grad(jnp.prod)(A(0, 3, 0))),
        ("grad(|x| prod(x))([0.0, 3.0, 5.0])", lambda: grad(jnp.prod)(A(0, 3, 5))),
        ("grad(|x| sum(cumprod(x)))([2.0, 0.0, 3.0, 4.0])", lambda: grad(lambda x: jnp.sum(jnp.cumprod(x)))(A(2, 0, 3, 4))),
        ("grad(|x| sum(square(cumsum(x, reverse=true))))([1.0, 2.0, 3.0])", lambda: grad(lambda x: jnp.sum(lax.cumsum(x, reverse=True) ** 2))(A(1, 2, 3))),
        ("grad(|x| sum(cummax(x) * [1.0, 2.0, 3.0, 4.0]))([1.0, 3.0, 2.0, 5.0])", lambda: grad(lambda x: jnp.sum(lax.cummax(x) * A(1, 2, 3, 4)))(A(1, 3, 2, 5))),
        ("grad(|x| max(x))([2.0, 5.0, 5.0])", lambda: grad(jnp.max)(A(2, 5, 5))),
        ("grad(|x| min(x))([5.0, 5.0, 5.0])", lambda: grad(jnp.min)(A(5, 5, 5))),
        ("grad(|x| sum(max(x, 1.0)))([0.0, 1.0, 2.0])", lambda: grad(lambda x: jnp.sum(jnp.maximum(x, 1.0)))(A(0, 1, 2))),
        ("grad(|x| sum(clamp(x, 0.0, 1.0)))([-1.0, 0.5, 2.0])", lambda: grad(lambda x: jnp.sum(jnp.clip(x, 0.0, 1.0)))(A(-1, 0.5, 2))),
        ("grad(|x| sum(relu(x)))([-0.0, 0.0, 1.0])", lambda: grad(lambda x: jnp.sum(nn.relu(x)))(A(-0.0, 0, 1))),
        ("grad(|x| sum(relu6(x)))([0.0, 3.0, 6.0])", lambda: grad(lambda x: jnp.sum(nn.relu6(x)))(A(0, 3, 6))),
        ("grad(|x| sum(leaky_relu(x)))([-1.0, 1.0])", lambda: grad(lambda x: jnp.sum(nn.leaky_relu(x)))(A(-1, 1))),
        ("grad(|x| sum(elu(x)))([-200.0, -1.0, 200.0])", lambda: grad(lambda x: jnp.sum(nn.elu(x)))(A(-200, -1, 200))),
        ("grad(|x| sum(softplus(x)))([-200.0, 0.0, 200.0])", lambda: grad(lambda x: jnp.sum(nn.softplus(x)))(A(-200, 0, 200))),
        ("grad(|x| sum(sigmoid(x)))([-200.0, 0.0, 200.0])", lambda: grad(lambda x: jnp.sum(nn.sigmoid(x)))(A(-200, 0, 200))),
        ("grad(|x| sum(log_sigmoid(x)))([-200.0, 0.0, 200.0])", lambda: grad(lambda x: jnp.sum(nn.log_sigmoid(x)))(A(-200, 0, 200))),
        ("grad(|x| sum(silu(x)))([-200.0, 0.0, 200.0])", lambda: grad(lambda x: jnp.sum(nn.silu(x)))(A(-200, 0, 200))),
        ("grad(|x| sum(gelu(x)))([-200.0, 0.0, 200.0])", lambda: grad(lambda x: jnp.sum(nn.gelu(x, approximate=False)))(A(-200, 0, 200))),
        ("grad(|x| logsumexp(x))([-inf, 0.0, 1.0])", lambda: grad(nn.logsumexp)(A(-inf, 0, 1))),
        ("grad(|x| logsumexp(x))([1000.0, 1000.0])", lambda: grad(nn.logsumexp)(A(1000, 1000))),
        ("grad(|x| log_softmax(x)[0])([-1000.0, 0.0, 1000.0])", lambda: grad(lambda x: nn.log_softmax(x)[0])(A(-1000, 0, 1000))),
        ("grad(|x| softmax(x)[1])([-inf, 0.0, 1.0])", lambda: grad(lambda x: nn.softmax(x)[1])(A(-inf, 0, 1))),
        ("grad(|x| softmax_cross_entropy(x, 0))([-1e4, 1e4])", lambda: grad(lambda x: -nn.log_softmax(x)[0])(A(-1e4, 1e4))),
        ("grad(|x| var(x))([3.0])", lambda: grad(jnp.var)(A(3))),
        ("grad(|x| var(x, ddof=1))([1.0, 2.0, 6.0])", lambda: grad(lambda x: jnp.var(x, ddof=1))(A(1, 2, 6))),
        ("grad(|x| sum(sort(x) * [1.0, 10.0, 100.0]))([3.0, 1.0, 2.0])", lambda: grad(lambda x: jnp.sum(jnp.sort(x) * A(1, 10, 100)))(A(3, 1, 2))),
        ("grad(|x| sum(top_k(x, 2).0 * [1.0, 10.0]))([3.0, 1.0, 3.0, 2.0])", lambda: grad(lambda x: jnp.sum(lax.top_k(x, 2)[0] * A(1, 10)))(A(3, 1, 3, 2))),
        ("grad(|x| sum(x[[0, 0, 2]]))([1.0, 2.0, 3.0])", lambda: grad(lambda x: jnp.sum(x[I(0, 0, 2)]))(A(1, 2, 3))),
        ("grad(|x| sum(x[::2] * [1.0, 2.0]))([1.0, 2.0, 3.0])", lambda: grad(lambda x: jnp.sum(x[::2] * A(1, 2)))(A(1, 2, 3))),
        ("grad(|z| sum(z[0:1:2] * [[1.0, 2.0]]) + sum(z[1:2:2] * [[10.0, 20.0]]))(zeros([2, 2]))", lambda: grad(lambda z: jnp.sum(z[0::2] * A([1, 2])) + jnp.sum(z[1::2] * A([10, 20])))(jnp.zeros((2, 2)))),
        ("grad(|x| sum(set(x, 1, x[0] * 3)))([1.0, 2.0])", lambda: grad(lambda x: jnp.sum(x.at[1].set(x[0] * 3)))(A(1, 2))),
        ("grad(|x| sum(square(add_at(x, [0, 0], x))))([1.0, 2.0])", lambda: grad(lambda x: jnp.sum(x.at[I(0, 0)].add(x) ** 2))(A(1, 2))),
        ("grad(|x| atan2(x, 2.0))(0.0)", lambda: grad(lambda x: jnp.arctan2(x, 2.0))(0.0)),
        ("grad(|x| sum(sign(x) + floor(x) + round(x)))([0.5, -0.5])", lambda: grad(lambda x: jnp.sum(jnp.sign(x) + jnp.floor(x) + jnp.round(x)))(A(0.5, -0.5))),
        ("grad(|x| x % 3.0)(7.5)", lambda: grad(lambda x: lax.rem(x, 3.0))(7.5)),
        ("grad(|y| 7.5 % y)(2.0)", lambda: grad(lambda y: lax.rem(7.5, y))(2.0)),
        ("grad(grad(|x| tanh(x) * x))(0.0)", lambda: chain(lambda x: jnp.tanh(x) * x, 2)(0.0)),
        ("grad(grad(grad(grad(|x| exp(x) * sin(x)))))(0.5)", lambda: chain(lambda x: jnp.exp(x) * jnp.sin(x), 4)(0.5)),
        ("grad(|x| lgamma(x))(0.5)", lambda: grad(lax.lgamma)(0.5)),
        ("grad(|x| erf_inv(x))(0.5)", lambda: grad(lax.erf_inv)(0.5)),
        ("grad(|x| sum(huber_loss(x, zeros_like(x))))([-3.0, 0.5, 1.0])", lambda: grad(lambda x: jnp.sum(jnp.where(jnp.abs(x) <= 1, 0.5 * x**2, jnp.abs(x) - 0.5)))(A(-3, 0.5, 1))),
        ("hessian(|x| x[0] ** 2 * x[1] + exp(x[1]))([1.0, 2.0])", lambda: jax.hessian(lambda x: x[0] ** 2 * x[1] + jnp.exp(x[1]))(A(1, 2))),
        ("jacobian(|x| x * sum(x))([1.0, 2.0])", lambda: jax.jacobian(lambda x: x * jnp.sum(x))(A(1, 2))),
        ("grad(|a| sum(cholesky(a)))([[4.0, 2.0], [2.0, 3.0]])", lambda: grad(lambda a: jnp.sum(jnp.linalg.cholesky(a)))(A([4, 2], [2, 3]))),
        # Digits that cancel in the derivative: near the ends of a domain, and far below 0.
        ("vmap(grad(|x| asin(x)))([0.9999, -0.99999, 0.25, 1.0])", lambda: vmap(grad(jnp.arcsin))(A(0.9999, -0.99999, 0.25, 1))),
        ("vmap(grad(|x| acos(x)))([0.9999, -0.99999, 0.25, 1.0])", lambda: vmap(grad(jnp.arccos))(A(0.9999, -0.99999, 0.25, 1))),
        ("1e4 * vmap(grad(grad(|x| asin(x))))([1e-4, -1e-6, 0.75])", lambda: 1e4 * vmap(chain(jnp.arcsin, 2))(A(1e-4, -1e-6, 0.75))),
        ("1e4 * vmap(grad(grad(|x| atanh(x))))([1e-4, -1e-6, 0.75])", lambda: 1e4 * vmap(chain(jnp.arctanh, 2))(A(1e-4, -1e-6, 0.75))),
        ("1e9 * vmap(grad(|x| expm1(x)))([-20.0, -25.0])", lambda: 1e9 * vmap(grad(jnp.expm1))(A(-20, -25))),
        ("1e9 * vmap(grad(|x| elu(x)))([-20.0, -25.0])", lambda: 1e9 * vmap(grad(nn.elu))(A(-20, -25))),
        ("1e20 * vmap(grad(|x| asinh(x)))([1e20, -1e25, inf])", lambda: 1e20 * vmap(grad(jnp.arcsinh))(A(1e20, -1e25, inf))),
        ("vmap(grad(grad(|x| cbrt(x))))([0.0, 8.0, -8.0])", lambda: vmap(chain(jnp.cbrt, 2))(A(0, 8, -8))),
        ("grad(|x, y| x * y, wrt=(0, 1))(2.0, 3.0)", lambda: grad(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0)),
        ("grad(|x, _| x * 2.0, wrt=1)(2.0, 3.0)", lambda: grad(lambda x, y: x * 2.0, argnums=1)(2.0, 3.0)),
        ("grad(|x| x * stop_gradient(x))(3.0)", lambda: grad(lambda x: x * lax.stop_gradient(x))(3.0)),
        ("grad(|x| sum(abs(x) ** 1.5))([-4.0, 1.0])", lambda: grad(lambda x: jnp.sum(jnp.abs(x) ** 1.5))(A(-4, 1))),
        ("grad(|x| mean(x, axis=0)[1])([[1.0, 2.0], [3.0, 4.0]])", lambda: grad(lambda x: jnp.mean(x, axis=0)[1])(A([1, 2], [3, 4]))),
        ("grad(|x| sum(square(pad(x, ((1, 2),)))))([1.0, 2.0])", lambda: grad(lambda x: jnp.sum(jnp.pad(x, (1, 2)) ** 2))(A(1, 2))),
        ("grad(|x| sum(concat((x, 2.0 * x)) * [1.0, 2.0, 3.0, 4.0]))([1.0, 2.0])", lambda: grad(lambda x: jnp.sum(jnp.concatenate((x, 2.0 * x)) * A(1, 2, 3, 4)))(A(1, 2))),
        ("grad(|x| sum(roll(x, 1) * [1.0, 2.0, 3.0]))([1.0, 2.0, 3.0])", lambda: grad(lambda x: jnp.sum(jnp.roll(x, 1) * A(1, 2, 3)))(A(1, 2, 3))),
        ("grad(|x| sum(take_along_axis(x, [[1, 1], [0, 0]], axis=1)))([[1.0, 2.0], [3.0, 4.0]])", lambda: grad(lambda x: jnp.sum(jnp.take_along_axis(x, I([1, 1], [0, 0]), axis=1)))(A([1, 2], [3, 4]))),
    ],
    "reductions": [
        ("sum(zeros([0]))", lambda: jnp.sum(A())),
        ("prod(zeros([0]))", lambda: jnp.prod(A())),
        ("mean(zeros([0]))", lambda: jnp.mean(A())),
        ("sum(zeros([0, 3]), axis=0)", lambda: jnp.sum(jnp.zeros((0, 3)), axis=0)),
        ("sum(zeros([3, 0]), axis=1)", lambda: jnp.sum(jnp.zeros((3, 0)), axis=1)),
        ("any(zeros([0]) > 0)", lambda: jnp.any(A() > 0)),
        ("all(zeros([0]) > 0)", lambda: jnp.all(A() > 0)),
        ("max(zeros([2, 3]), axis=1)", lambda: jnp.max(jnp.zeros((2, 3)), axis=1)),
        ("zeros([2, 0]) @ zeros([0, 3])", lambda: jnp.zeros((2, 0)) @ jnp.zeros((0, 3))),
        ("max([1.0, nan, 2.0])", lambda: jnp.max(A(1, nan, 2))),
        ("min([nan, -inf])", lambda: jnp.min(A(nan, -inf))),
        ("argmax([1.0, nan, 5.0, nan])", lambda: jnp.argmax(A(1, nan, 5, nan))),
        ("argmin([1.0, nan, -5.0])", lambda: jnp.argmin(A(1, nan, -5))),
        ("argmax([2.0, 7.0, 7.0])", lambda: jnp.argmax(A(2, 7, 7))),
        ("argmin([3, 1, 1])", lambda: jnp.argmin(I(3, 1, 1))),
        ("argmax([[1, 9], [9, 1]])", lambda: jnp.argmax(I([1, 9], [9, 1]))),
        ("argmax([[1, 9], [9, 1]], axis=0)", lambda: jnp.argmax(I([1, 9], [9, 1]), axis=0)),
        ("argmax([-inf, -inf])", lambda: jnp.argmax(A(-inf, -inf))),
        ("argmax([false, true, true])", lambda: jnp.argmax(jnp.array([False, True, True]))),
        ("argmax([-0.0, 0.0])", lambda: jnp.argmax(A(-0.0, 0.0))),
        ("logsumexp([-inf, -inf])", lambda: nn.logsumexp(A(-inf, -inf))),
        ("logsumexp([inf, 0.0])", lambda: nn.logsumexp(A(inf, 0))),
        ("logsumexp([1000.0, 1000.0])", lambda: nn.logsumexp(A(1000, 1000))),
        ("softmax([1000.0, 0.0, -inf])", lambda: nn.softmax(A(1000, 0, -inf))),
        ("log_softmax([1e30, 0.0])", lambda: nn.log_softmax(A(1e30, 0))),
        ("var([5.0])", lambda: jnp.var(A(5))),
        ("std([1.0, 3.0], ddof=1)", lambda: jnp.std(A(1, 3), ddof=1)),
        ("var([1e4, 10001.0, 10002.0])", lambda: jnp.var(A(1e4, 10001, 10002))),
        ("mean([1, 2, 4])", lambda: jnp.mean(I(1, 2, 4))),
        ("sum([true, true, false])", lambda: jnp.sum(jnp.array([True, True, False]))),
        ("sum(i8([100, 100]))", lambda: jnp.sum(I(100, 100, dtype=np.int8))),
        ("prod(u8([20, 20]))", lambda: jnp.prod(I(20, 20, dtype=np.uint8))),
        ("sum([2147483647, 1])", lambda: jnp.sum(I(2147483647, 1))),
        ("cumsum([1, 2, 3])", lambda: jnp.cumsum(I(1, 2, 3))),
        ("cumsum([[1.0, 2.0], [3.0, 4.0]], axis=0)", lambda: jnp.cumsum(A([1, 2], [3, 4]), axis=0)),
        ("cumsum([[1.0, 2.0], [3.0, 4.0]], axis=-1)", lambda: jnp.cumsum(A([1, 2], [3, 4]), axis=-1)),
        ("cumprod([2.0, 0.0, 5.0])", lambda: jnp.cumprod(A(2, 0, 5))),
        ("cummax([1.0, nan, 3.0])", lambda: lax.cummax(A(1, nan, 3))),
        ("cummin([3, 1, 2])", lambda: lax.cummin(I(3, 1, 2))),
        ("norm([3.0, 4.0])", lambda: jnp.linalg.norm(A(3, 4))),
        ("mean(ones([2, 3, 4]), axis=(0, 2))", lambda: jnp.mean(jnp.ones((2, 3, 4)), axis=(0, 2))),
        ("sum(reshape(arange(24), [2, 3, 4]), axis=(-1, 0), keepdims=true)", lambda: jnp.sum(jnp.arange(24).reshape(2, 3, 4), axis=(-1, 0), keepdims=True)),
        ("max(bf16([1.0, 3.0, 2.0]))", lambda: jnp.max(A(1, 3, 2, dtype=jnp.bfloat16))),
        ("sum(full([1000], bf16(0.1)))", lambda: jnp.sum(jnp.full(1000, 0.1, jnp.bfloat16))),
        ("mean(full([70000], f16(1.0)))", lambda: jnp.mean(jnp.full(70000, 1.0, jnp.float16))),
    ],
    "integers": [
        ("i8(127) + i8(1)", lambda: np.int8(-128)),
        ("u8(0) - u8(1)", lambda: np.uint8(255)),
        ("i32(2147483647) + i32(1)", lambda: lax.add(i32(2147483647), i32(1))),
        ("abs(i32(-2147483647) - 1)", lambda: jnp.abs(i32(-2147483648))),
        ("-(i8(-127) - i8(1))", lambda: lax.neg(jnp.int8(-128))),
        ("[7, -7, 7, -7] / [2, 2, -2, -2]", lambda: lax.div(I(7, -7, 7, -7), I(2, 2, -2, -2))),
        ("[7, -7, 7, -7] % [2, 2, -2, -2]", lambda: lax.rem(I(7, -7, 7, -7), I(2, 2, -2, -2))),
        ("[1, -1, 0] / zeros_like([1, 2, 3])", lambda: lax.div(I(1, -1, 0), I(0, 0, 0))),
        ("[5, -5, 0] % zeros_like([1, 2, 3])", lambda: lax.rem(I(5, -5, 0), I(0, 0, 0))),
        ("(i32(-2147483647) - [1, 1]) / [-1, 1]", lambda: lax.div(I(-2147483648, -2147483648), I(-1, 1))),
        ("(i32(-2147483647) - [1, 1]) % [-1, 1]", lambda: lax.rem(I(-2147483648, -2147483648), I(-1, 1))),
        ("u32([7, 0]) / u32([2, 2]) + u32([0, 0]) - u32([0, 1])", lambda: I(3, 4294967295, dtype=np.uint32)),
        ("[5.5, -5.5, 5.5, -5.5] % [2.0, 2.0, -2.0, -2.0]", lambda: lax.rem(A(5.5, -5.5, 5.5, -5.5), A(2, 2, -2, -2))),
        ("[5.0, inf, 5.0] % [0.0, 2.0, inf]", lambda: lax.rem(A(5, inf, 5), A(0, 2, inf))),
        ("[2, -2, 0] ** 3", lambda: jnp.power(I(2, -2, 0), 3)),
        ("[2, 3] ** 0", lambda: jnp.power(I(2, 3), 0)),
        ("i32([2.9, -2.9, 0.5])", lambda: A(2.9, -2.9, 0.5).astype(i32)),
        ("i32([1e20, -1e20, inf, -inf])", lambda: I(2147483647, -2147483648, 2147483647, -2147483648)),
        ("i32([nan])", lambda: I(0)),
        ("u8([300.0, -3.0, 255.5])", lambda: I(255, 0, 255, dtype=np.uint8)),
        ("u8(arange(3) * 300 - 1)", lambda: (jnp.arange(3) * 300 - 1).astype(np.uint8)),
        ("i8(arange(2) * 400 - 200)", lambda: (jnp.arange(2) * 400 - 200).astype(np.int8)),
        ("f32([16777217, 2147483647])", lambda: I(16777217, 2147483647).astype(f32)),
        ("bool([0.0, -0.0, nan, 0.5])", lambda: A(0, -0.0, nan, 0.5).astype(bool)),
        ("f32(bf16([1.00390625, 1.01171875]))", lambda: A(1.00390625, 1.01171875).astype(jnp.bfloat16).astype(f32)),
        ("f16([65519.0, 65520.0])", lambda: A(65519, 65520).astype(np.float16)),
        ("f64([0.1, 0.2])", lambda: np.array([0.1, 0.2])),
        ("i64([5000000000])", lambda: np.array([5000000000])),
        ("sign([-3, 0, 5])", lambda: jnp.sign(I(-3, 0, 5))),
        ("sign([-0.0, nan, -inf])", lambda: jnp.sign(A(-0.0, nan, -inf))),
        ("round([0.5, 1.5, 2.5, -0.5, -1.5])", lambda: jnp.round(A(0.5, 1.5, 2.5, -0.5, -1.5))),
        ("trunc([-1.7, 1.7])", lambda: jnp.trunc(A(-1.7, 1.7))),
        ("floor([-0.5, -0.0])", lambda: jnp.floor(A(-0.5, -0.0))),
        ("clamp([5, -5], 0, 3)", lambda: jnp.clip(I(5, -5), 0, 3)),
        ("clamp([1.0, nan], 2.0, 0.0)", lambda: jnp.clip(A(1, nan), 2.0, 0.0)),
        ("max([1, 5], [3, 3])", lambda: jnp.maximum(I(1, 5), I(3, 3))),
        ("min([nan, 1.0], [1.0, nan])", lambda: jnp.minimum(A(nan, 1), A(1, nan))),
        ("[nan, 1.0] == nan", lambda: A(nan, 1) == nan),
        ("[nan, 1.0] != 1.0", lambda: A(nan, 1) != 1.0),
        ("[nan, 1.0] >= [nan, 1.0]", lambda: A(nan, 1) >= A(nan, 1)),
        ("bitcast([1.0, -0.0, inf], i32)", lambda: lax.bitcast_convert_type(A(1, -0.0, inf), i32)),
        ("isclose([1.0, nan, inf, 1e-9], [1.000001, nan, inf, 0.0])", lambda: jnp.isclose(A(1, nan, inf, 1e-9), A(1.000001, nan, inf, 0))),
    ],
    "sorting": [
        ("sort([3.0, nan, -inf, inf, 1.0])", lambda: jnp.sort(A(3, nan, -inf, inf, 1))),
        ("argsort([0.0, -0.0])", lambda: jnp.argsort(A(0.0, -0.0))),
        ("argsort([nan, 1.0, nan, 0.0])", lambda: jnp.argsort(A(nan, 1, nan, 0))),
        ("argsort([2, 1, 2, 1])", lambda: jnp.argsort(I(2, 1, 2, 1))),
        ("sort([2, 3, 1], descending=true)", lambda: jnp.sort(I(2, 3, 1), descending=True)),
        ("argsort([2, 1, 2, 1], descending=true)", lambda: jnp.argsort(I(2, 1, 2, 1), descending=True)),
        ("sort([1.0, nan, 2.0], descending=true)", lambda: jnp.sort(A(1, nan, 2), descending=True)),
        ("sort([[3, 1], [2, 4]], axis=0)", lambda: jnp.sort(I([3, 1], [2, 4]), axis=0)),
        ("sort([true, false, true])", lambda: jnp.sort(jnp.array([True, False, True]))),
        ("sort(u8([200, 3, 100]))", lambda: jnp.sort(I(200, 3, 100, dtype=np.uint8))),
        ("top_k([1.0, 3.0, 3.0, 2.0], 2)", lambda: tuple(lax.top_k(A(1, 3, 3, 2), 2))),
        ("top_k([nan, -inf, inf, 0.0], 3)", lambda: tuple(lax.top_k(A(nan, -inf, inf, 0), 3))),
        ("top_k([5, 5, 5], 3)", lambda: tuple(lax.top_k(I(5, 5, 5), 3))),
        ("top_k([[1, 2], [4, 3]], 1)", lambda: tuple(lax.top_k(I([1, 2], [4, 3]), 1))),
        ("searchsorted([1.0, 2.0, 2.0, 3.0], [0.0, 2.0, 5.0])", lambda: jnp.searchsorted(A(1, 2, 2, 3), A(0, 2, 5))),
        ("searchsorted([1, 3, 5], [3])", lambda: jnp.searchsorted(I(1, 3, 5), I(3))),
        ("searchsorted([1.0, 2.0], [nan, -inf, inf])", lambda: jnp.searchsorted(A(1, 2), A(nan, -inf, inf))),
        ("nonzero([0, 3, 0, 5], size=3).0", lambda: jnp.nonzero(I(0, 3, 0, 5), size=3)[0]),
        ("nonzero([0.0, nan, -0.0, 1.0], size=2).0", lambda: jnp.nonzero(A(0, nan, -0.0, 1), size=2)[0]),
    ],
    "einsum": [
        ('einsum("ii", [[1.0, 2.0], [3.0, 4.0]])', lambda: jnp.einsum("ii", A([1, 2], [3, 4]))),
        ('einsum("ii->i", [[1.0, 2.0], [3.0, 4.0]])', lambda: jnp.einsum("ii->i", A([1, 2], [3, 4]))),
        ('einsum("ba", [[1.0, 2.0], [3.0, 4.0]])', lambda: jnp.einsum("ba", A([1, 2], [3, 4]))),
        ('einsum("ij->", [[1.0, 2.0], [3.0, 4.0]])', lambda: jnp.einsum("ij->", A([1, 2], [3, 4]))),
        ('einsum("ij,ij->i", [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]])', lambda: jnp.einsum("ij,ij->i", A([1, 2], [3, 4]), A([5, 6], [7, 8]))),
        ('einsum("i,j->ji", [1.0, 2.0], [3.0, 4.0, 5.0])', lambda: jnp.einsum("i,j->ji", A(1, 2), A(3, 4, 5))),
        ('einsum("i,i,i", [1.0, 2.0], [3.0, 4.0], [5.0, 6.0])', lambda: jnp.einsum("i,i,i", A(1, 2), A(3, 4), A(5, 6))),
        (f'einsum("...ij,...jk", {ramp_tl(2, 2, 3)}, {ramp_tl(3, 2)})', lambda: jnp.einsum("...ij,...jk", ramp(2, 2, 3), ramp(3, 2))),
        (f'einsum("i...->...", {ramp_tl(2, 3)})', lambda: jnp.einsum("i...->...", ramp(2, 3))),
        (f'einsum("...i,i...->...", {ramp_tl(2, 3)}, {ramp_tl(3, 2)})', lambda: jnp.einsum("...i,i...->...", ramp(2, 3), ramp(3, 2))),
        (f'einsum("bij,bjk->bik", {ramp_tl(2, 1, 3)}, {ramp_tl(2, 3, 2)})', lambda: jnp.einsum("bij,bjk->bik", ramp(2, 1, 3), ramp(2, 3, 2))),
        (f'einsum("abca,c->b", {ramp_tl(2, 2, 3, 2)}, [1.0, 2.0, 3.0])', lambda: jnp.einsum("abca,c->b", ramp(2, 2, 3, 2), A(1, 2, 3))),
        ('einsum("ij,jk", [[1, 2], [3, 4]], [[1, 0], [0, 1]])', lambda: jnp.einsum("ij,jk", I([1, 2], [3, 4]), I([1, 0], [0, 1]))),
        # A dimension of 1 is stretched, under a named index too.
        ('einsum("ij,j->i", [[1.0], [2.0]], [3.0, 4.0, 5.0])', lambda: jnp.einsum("ij,j->i", A([1], [2]), A(3, 4, 5))),
        ('einsum("ij,ij->ij", [[1.0], [2.0]], [[3.0, 4.0], [5.0, 6.0]])', lambda: jnp.einsum("ij,ij->ij", A([1], [2]), A([3, 4], [5, 6]))),
        ('einsum("ij,jk,ki->", [[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]], [[1.0, 2.0, 3.0]])', lambda: jnp.einsum("ij,jk,ki->", A([1, 2]), A([3, 4], [5, 6]), A([1, 2, 3]))),
        ('grad(|x, y| sum(einsum("ij,ij->i", x, y) ** 2), wrt=(0, 1))([[1.0], [2.0]], [[3.0, 4.0], [5.0, 6.0]])', lambda: grad(lambda x, y: jnp.sum(jnp.einsum("ij,ij->i", x, y) ** 2), argnums=(0, 1))(A([1], [2]), A([3, 4], [5, 6]))),
        ('einsum(" i j , j -> i ", [[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0])', lambda: jnp.einsum(" i j , j -> i ", A([1, 2], [3, 4]), A(1, 1))),
        ('einsum("ij,k->", [[1.0, 2.0]], [3.0, 4.0])', lambda: jnp.einsum("ij,k->", A([1, 2]), A(3, 4))),
        ('einsum(",i->i", 2.0, [1.0, 2.0])', lambda: jnp.einsum(",i->i", f32(2), A(1, 2))),
        ('grad(|a| einsum("ii", a @ a))([[1.0, 2.0], [3.0, 4.0]])', lambda: grad(lambda a: jnp.einsum("ii", a @ a))(A([1, 2], [3, 4]))),
        ('grad(|a| sum(einsum("ii->i", a) ** 2))([[1.0, 2.0], [3.0, 4.0]])', lambda: grad(lambda a: jnp.sum(jnp.einsum("ii->i", a) ** 2))(A([1, 2], [3, 4]))),
        (f"{ramp_tl(2, 1, 2, 3)}[:, 0] @ {ramp_tl(3, 2)}", lambda: ramp(2, 1, 2, 3)[:, 0] @ ramp(3, 2)),
        (f"{ramp_tl(2, 1, 1, 3)} @ {ramp_tl(2, 3, 1)}", lambda: ramp(2, 1, 1, 3) @ ramp(2, 3, 1)),
        (f"{ramp_tl(3)} @ {ramp_tl(2, 3, 2)}", lambda: ramp(3) @ ramp(2, 3, 2)),
        (f"dot({ramp_tl(2, 3)}, {ramp_tl(2, 3, 2)})", lambda: jnp.dot(ramp(2, 3), ramp(2, 3, 2))),
        ("i8([100, 100]) @ i8([100, 100])", lambda: jnp.matmul(I(100, 100, dtype=np.int8), I(100, 100, dtype=np.int8))),
        ("outer([1, 2], [3, 4, 5])", lambda: jnp.outer(I(1, 2), I(3, 4, 5))),
        ("trace([[1.0, 2.0, 9.0], [3.0, 4.0, 9.0]])", lambda: jnp.trace(A([1, 2, 9], [3, 4, 9]))),
        ("cholesky([[1.0, 2.0], [2.0, 1.0]])", lambda: jnp.linalg.cholesky(A([1, 2], [2, 1]))),
        ("[[inf, 0.0]] @ [[0.0], [1.0]]", lambda: A([inf, 0]) @ A([0], [1])),
    ],
    "convolution": [
        (f"conv({ramp_tl(1, 5, 1)}, [[[1.0]], [[10.0]]])", lambda: conv(ramp(1, 5, 1), A([[1]], [[10]]))),
        (f"conv({ramp_tl(1, 5, 1)}, [[[1.0]], [[10.0]]], stride=2)", lambda: conv(ramp(1, 5, 1), A([[1]], [[10]]), stride=2)),
        (f"conv({ramp_tl(1, 6, 1)}, [[[1.0]], [[10.0]], [[100.0]]], stride=2)", lambda: conv(ramp(1, 6, 1), A([[1]], [[10]], [[100]]), stride=2)),
        (f"conv({ramp_tl(1, 6, 1)}, [[[1.0]], [[10.0]]], stride=3, padding=\"valid\")", lambda: conv(ramp(1, 6, 1), A([[1]], [[10]]), stride=3, padding="VALID")),
        (f"conv({ramp_tl(1, 7, 1)}, [[[1.0]], [[10.0]]], dilation=3)", lambda: conv(ramp(1, 7, 1), A([[1]], [[10]]), dilation=3)),
        (f"conv({ramp_tl(1, 3, 1)}, [[[1.0]], [[10.0]]], padding=((3, 0),))", lambda: conv(ramp(1, 3, 1), A([[1]], [[10]]), padding=((3, 0),))),
        (f"conv({ramp_tl(1, 4, 4, 2)}, {ramp_tl(2, 2, 1, 4)}, groups=2, padding=\"valid\", stride=2)", lambda: conv(ramp(1, 4, 4, 2), ramp(2, 2, 1, 4), groups=2, padding="VALID", stride=2)),
        (f"conv({ramp_tl(1, 3, 4, 1)}, {ramp_tl(3, 2, 1, 1)}, stride=(2, 1), padding=\"same\")", lambda: conv(ramp(1, 3, 4, 1), ramp(3, 2, 1, 1), stride=(2, 1))),
        (f"sum(conv({ramp_tl(1, 2, 3, 4, 1)}, {ramp_tl(2, 2, 2, 1, 2)}), axis=(0, 1, 2, 3))", lambda: jnp.sum(conv(ramp(1, 2, 3, 4, 1), ramp(2, 2, 2, 1, 2)), axis=(0, 1, 2, 3))),
        # The transpose of padding beyond the kernel crops.
        (f"grad(|x| sum(square(conv(x, {ramp_tl(1, 1, 2)} + 1.0, padding=((5, 1),)))))({ramp_tl(1, 4, 1)})", lambda: grad(lambda x: jnp.sum(conv(x, ramp(1, 1, 2) + 1.0, padding=((5, 1),)) ** 2))(ramp(1, 4, 1))),
        (f"grad(|w| sum(square(conv({ramp_tl(1, 4, 1)}, w, padding=((5, 1),)))))({ramp_tl(1, 1, 2)})", lambda: grad(lambda w: jnp.sum(conv(ramp(1, 4, 1), w, padding=((5, 1),)) ** 2))(ramp(1, 1, 2))),
        (f"grad(|x| sum(square(conv(x, {ramp_tl(3, 1, 1)}, stride=3))))({ramp_tl(1, 7, 1)})", lambda: grad(lambda x: jnp.sum(conv(x, ramp(3, 1, 1), stride=3) ** 2))(ramp(1, 7, 1))),
        (f"grad(|w| sum(square(conv({ramp_tl(1, 7, 1)}, w, stride=3))))({ramp_tl(3, 1, 1)})", lambda: grad(lambda w: jnp.sum(conv(ramp(1, 7, 1), w, stride=3) ** 2))(ramp(3, 1, 1))),
        (f"grad(|x| sum(square(conv(x, {ramp_tl(2, 2, 1, 2)}, groups=2, stride=2))))({ramp_tl(1, 3, 3, 2)})", lambda: grad(lambda x: jnp.sum(conv(x, ramp(2, 2, 1, 2), groups=2, stride=2) ** 2))(ramp(1, 3, 3, 2))),
        (f"grad(|w| sum(square(conv({ramp_tl(1, 5, 1)}, w, dilation=2, stride=2))))({ramp_tl(2, 1, 1)})", lambda: grad(lambda w: jnp.sum(conv(ramp(1, 5, 1), w, dilation=2, stride=2) ** 2))(ramp(2, 1, 1))),
        (f"vmap(|x| conv(x, {ramp_tl(2, 1, 1)}))({ramp_tl(2, 1, 3, 1)})", lambda: vmap(lambda x: conv(x, ramp(2, 1, 1)))(ramp(2, 1, 3, 1))),
        (f"vmap(|x, w| conv(x, w))({ramp_tl(2, 1, 3, 1)}, {ramp_tl(2, 2, 1, 1)})", lambda: vmap(lambda x, w: conv(x, w))(ramp(2, 1, 3, 1), ramp(2, 2, 1, 1))),
        ("max_pool(-ones([1, 3, 1]), 2, padding=\"same\")", lambda: max_pool(-jnp.ones((1, 3, 1)), 2, 2, (0, 1))),
        (f"max_pool({ramp_tl(1, 5, 1)}, 3, stride=1, padding=\"valid\")", lambda: max_pool(ramp(1, 5, 1), 3, 1, (0, 0))),
        (f"avg_pool({ramp_tl(1, 5, 1)}, 2, padding=\"valid\")", lambda: lax.reduce_window(ramp(1, 5, 1), 0.0, lax.add, (1, 2, 1), (1, 2, 1), "VALID") / 2),
        ("grad(|x| sum(max_pool(x, 2)))([[[1.0], [1.0], [3.0], [2.0]]])", lambda: grad(lambda x: jnp.sum(max_pool(x, 2, 2, (0, 0))))(A([[1], [1], [3], [2]]))),
        # Of equal elements in a padded window the first one has the gradient.
        ("grad(|x| sum(max_pool(x, 2, stride=1, padding=\"same\") ** 2))(reshape(f32(arange(24) * 37 % 7 - 3), [1, 2, 3, 4, 1]))", lambda: grad(lambda x: jnp.sum(lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 2, 1), (1, 1, 1, 1, 1), "SAME") ** 2))(jnp.array(np.arange(24) * 37 % 7 - 3, f32).reshape(1, 2, 3, 4, 1))),
        ("grad(|x| sum(max_pool(x, 3, stride=1, padding=\"valid\") * [[[1.0], [10.0]]]))([[[1.0], [4.0], [3.0], [2.0]]])", lambda: grad(lambda x: jnp.sum(max_pool(x, 3, 1, (0, 0)) * A([[1], [10]])))(A([[1], [4], [3], [2]]))),
    ],
    "control": [
        ("vmap(|x| if x > 0.0 { log(x) } else { 0.0 })([0.0, 1.0, -1.0])", lambda: A(0, 0, 0)),
        ("vmap(grad(|x| if x > 0.0 { log(x) } else { 0.0 }))([0.0, 1.0, 2.0])", lambda: vmap(grad(lambda x: lax.cond(x > 0, jnp.log, lambda x: 0.0, x)))(A(0, 1, 2))),
        ("grad(|v| sum(vmap(|x| if x > 0.0 { log(x) } else { 0.0 })(v)))([0.0, 2.0])", lambda: grad(lambda v: jnp.sum(vmap(lambda x: lax.cond(x > 0, jnp.log, lambda x: 0.0, x))(v)))(A(0, 2))),
        ("vmap(grad(|x| if x > 0.0 { x ** 2 } else { x ** 3 }))([-1.0, 0.0, 1.0])", lambda: vmap(grad(lambda x: lax.cond(x > 0, lambda x: x**2, lambda x: x**3, x)))(A(-1, 0, 1))),
        ("grad(|v| sum(vmap(|x| if x > 0.0 { sqrt(x) } else { 2.0 * x })(v)))([0.0, 4.0])", lambda: grad(lambda v: jnp.sum(vmap(lambda x: lax.cond(x > 0, jnp.sqrt, lambda x: 2.0 * x, x))(v)))(A(0, 4))),
        ("vmap(steps)([1.0, 5.0, 100.0, 0.5])", lambda: I(1, 3, 7, 0)),
        ("jvp(halve)((9.0,), (1.0,))", lambda: jax.jvp(lambda x: lax.while_loop(lambda y: y > 1, lambda y: y / 2, x), (9.0,), (1.0,))),
        ("vmap(halve)([9.0, 0.25, 3.0])", lambda: A(0.5625, 0.25, 0.75)),
        ("scan(|c, x| (c + x, c * x), 1.0, zeros([0]))", lambda: tuple(lax.scan(lambda c, x: (c + x, c * x), 1.0, A()))),
        ("grad(|c| scan(|c, x| (c * x, c), c, [2.0, 3.0, 4.0]).0)(1.0)", lambda: grad(lambda c: lax.scan(lambda c, x: (c * x, c), c, A(2, 3, 4))[0])(1.0)),
        ("grad(|xs| sum(scan(|c, x| (c * x, c + x), 1.0, xs).1))([2.0, 3.0, 4.0])", lambda: grad(lambda xs: jnp.sum(lax.scan(lambda c, x: (c * x, c + x), 1.0, xs)[1]))(A(2, 3, 4))),
        ("vmap(|c| scan(|c, x| (c + x, c), c, [1.0, 2.0]).0)([0.0, 10.0])", lambda: A(3, 13)),
        ("vmap(|xs| scan(|c, x| (c + x, c), 0.0, xs).1)([[1.0, 2.0], [3.0, 4.0]])", lambda: vmap(lambda xs: lax.scan(lambda c, x: (c + x, c), 0.0, xs)[1])(A([1, 2], [3, 4]))),
        ("grad(looped)(1.1)", lambda: grad(lambda x: x ** 16.0)(1.1)),
        ("grad(grad(looped))(1.1)", lambda: chain(lambda x: x ** 16.0, 2)(1.1)),
        ("jacobian(|x| scan(|c, _| (c * x, c), [1.0, 1.0], arange(3)).0)([2.0, 3.0])", lambda: jnp.diag(3 * A(2, 3) ** 2)),
        ("vmap(vmap(|x, y| x * y, in=(none, 0)), in=(0, none))([1.0, 2.0], [3.0, 4.0, 5.0])", lambda: jnp.outer(A(1, 2), A(3, 4, 5))),
        ("vmap(|x| x, in=1, out=1)([[1, 2, 3], [4, 5, 6]])", lambda: I([1, 2, 3], [4, 5, 6])),
        ("vmap(|x, i| x[i])([[1.0, 2.0], [3.0, 4.0]], [1, 0])", lambda: A(2, 3)),
        ("vmap(|x, i| slice(x, i, 2))([[1, 2, 3], [4, 5, 6]], [1, 5])", lambda: I([2, 3], [5, 6])),
        ("vmap(|x, i| set(x, i, 9))([[1, 2], [3, 4]], [0, 1])", lambda: I([9, 2], [3, 9])),
        ("vmap(|x| sort(x))([[3, 1], [2, 4]])", lambda: I([1, 3], [2, 4])),
        ("vmap(|a| cholesky(a))([[[4.0]], [[9.0]]])", lambda: A([[2]], [[3]])),
        ("vmap(grad(|w, x| tanh(dot(w, x))), in=(none, 0))([0.5, -0.5], [[1.0, 2.0], [3.0, 4.0]])", lambda: vmap(grad(lambda w, x: jnp.tanh(w @ x)), in_axes=(None, 0))(A(0.5, -0.5), A([1, 2], [3, 4]))),
        ("hessian(|x| sum(vmap(|v| v ** 3)(x)))([1.0, 2.0])", lambda: jnp.diag(A(6, 12))),
        ("vjp(|x, y| (x * y, x + y))((2.0, 3.0), (1.0, 10.0))", lambda: ((f32(6), f32(5)), (f32(13), f32(12)))),
        ("grad(checkpoint(|x| sin(sin(x))))(1.0)", lambda: grad(lambda x: jnp.sin(jnp.sin(x)))(1.0)),
        ("maml(0.5)", lambda: grad(lambda w: (w - 0.1 * grad(lambda v: (v - 3.0) ** 4)(w) - 1.0) ** 2)(0.5)),
    ],
    "indexing": [
        ("[1, 2, 3][i32(f32(7.0))]", lambda: I(1, 2, 3)[2]),
        ("slice([1, 2, 3, 4], argmax([0, 0, 0, 1]), 2)", lambda: I(3, 4)),
        ("take([1.0, 2.0, 3.0], [[2, 0], [1, 1]])", lambda: jnp.take(A(1, 2, 3), I([2, 0], [1, 1]))),
        ("take([[1, 2], [3, 4]], [1], axis=1)", lambda: jnp.take(I([1, 2], [3, 4]), I(1), axis=1)),
        ("[[1, 2, 3], [4, 5, 6]][:, [2, 0]]", lambda: I([3, 1], [6, 4])),
        ("[[1, 2, 3], [4, 5, 6]][[0, 1], [2, 1]]", lambda: I([1, 2, 3], [4, 5, 6])[I(0, 1), I(2, 1)]),
        ("[1, 2, 3, 4, 5][-2]", lambda: i32(4)),
        ("[1, 2, 3, 4, 5][1:5:2]", lambda: I(2, 4)),
        ("[1, 2, 3, 4, 5][-3:-1]", lambda: I(3, 4)),
        ("[1, 2, 3][2:2]", lambda: I()),
        ("set([1, 2, 3], [0, 2], 9)", lambda: I(1, 2, 3).at[I(0, 2)].set(9)),
        ("set(zeros([2, 2]), (0, 1), 5.0)", lambda: A([0, 5], [0, 0])),
        ("add_at([0.0, 0.0], [1, 1, 1], [1.0, 2.0, 3.0])", lambda: A(0, 6)),
        ("one_hot([1, -1, 5], 3)", lambda: nn.one_hot(I(1, -1, 5), 3)),
        ("arange(0)", lambda: jnp.arange(0)),
        ("arange(5, 0, -2)", lambda: jnp.arange(5, 0, -2)),
        ("arange(3.0)", lambda: jnp.arange(3.0)),
        ("arange(5.5)", lambda: jnp.arange(5.5)),
        ("arange(0.0, 1.0, 0.1)", lambda: jnp.arange(0.0, 1.0, 0.1)),
        ("arange(1, 2, 0.25)", lambda: jnp.arange(1, 2, 0.25)),
        ("arange(1.0, -1.0, -0.3)", lambda: jnp.arange(1.0, -1.0, -0.3)),
        ("arange(3.0, 1.0)", lambda: jnp.arange(3.0, 1.0)),
        ("arange(0.0, 1.0, 0.25, dtype=bf16)", lambda: jnp.arange(0.0, 1.0, 0.25, dtype=jnp.bfloat16)),
        ("linspace(0.0, 1.0, 1)", lambda: jnp.linspace(0.0, 1.0, 1)),
        ("linspace(0.0, 1.0, 5)", lambda: jnp.linspace(0.0, 1.0, 5)),
        ("linspace(3.0, 3.0, 3)", lambda: jnp.linspace(3.0, 3.0, 3)),
        ("tril(ones([2, 3]))", lambda: jnp.tril(jnp.ones((2, 3)))),
        ("triu(ones([3, 2]), 1)", lambda: jnp.triu(jnp.ones((3, 2)), 1)),
        ("tril(ones([2, 2]), -1)", lambda: jnp.tril(jnp.ones((2, 2)), -1)),
        ("diag([1.0, 2.0])", lambda: jnp.diag(A(1, 2))),
        ("diag([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])", lambda: jnp.diag(A([1, 2, 3], [4, 5, 6]))),
        ("eye(2)", lambda: jnp.eye(2)),
        ("roll([1, 2, 3], 5)", lambda: jnp.roll(I(1, 2, 3), 5)),
        ("roll([1, 2, 3], -1)", lambda: jnp.roll(I(1, 2, 3), -1)),
        ("roll([[1, 2], [3, 4]], 1, axis=1)", lambda: jnp.roll(I([1, 2], [3, 4]), 1, axis=1)),
        ("roll([[1, 2, 3], [4, 5, 6]], (1, 3), axis=(1, 1))", lambda: jnp.roll(I([1, 2, 3], [4, 5, 6]), (1, 3), axis=(1, 1))),
        ("roll([[1, 2, 3], [4, 5, 6]], 1, axis=(0, -1))", lambda: jnp.roll(I([1, 2, 3], [4, 5, 6]), 1, axis=(0, -1))),
        ("roll([[1, 2, 3], [4, 5, 6]], (1, -2), axis=1)", lambda: jnp.roll(I([1, 2, 3], [4, 5, 6]), (1, -2), axis=1)),
        ("roll([[1, 2, 3], [4, 5, 6]], (1, -2))", lambda: jnp.roll(I([1, 2, 3], [4, 5, 6]), (1, -2))),
        ("roll([[1, 2, 3], [4, 5, 6]], argmax([0, 0, 1]), axis=1)", lambda: jnp.roll(I([1, 2, 3], [4, 5, 6]), 2, axis=1)),
        ("roll([[1, 2, 3], [4, 5, 6]], argmin([-7, 1]) - 7)", lambda: jnp.roll(I([1, 2, 3], [4, 5, 6]), -7)),
        ("roll([[1, 2, 3], [4, 5, 6]], abs([-1, 5]), axis=(0, 1))", lambda: jnp.roll(I([1, 2, 3], [4, 5, 6]), I(1, 5), axis=(0, 1))),
        ("roll([[1, 2, 3], [4, 5, 6]], (argmax([0, 1]), 1), axis=(1, 1))", lambda: jnp.roll(I([1, 2, 3], [4, 5, 6]), 2, axis=1)),
        ("vmap(|x, i| roll(x, i))([[1, 2, 3], [4, 5, 6]], [1, -1])", lambda: I([3, 1, 2], [5, 6, 4])),
        ("grad(|x| sum(roll(x, argmax(x), axis=0) * [1.0, 2.0, 4.0]))([1.0, 3.0, 2.0])", lambda: A(2, 4, 1)),
        ("roll(zeros([0, 2]), argmax([0, 1]), axis=0)", lambda: jnp.zeros((0, 2))),
        ("dynamic_slice([[1, 2, 3], [4, 5, 6]], abs([-1, 7]), [1, 2])", lambda: lax.dynamic_slice(I([1, 2, 3], [4, 5, 6]), I(1, 7), (1, 2))),
        ("dynamic_slice([1, 2, 3], u8([9]), [2])", lambda: I(2, 3)),
        ("dynamic_update_slice([[1, 2], [3, 4]], [[9]], i64([0, 1]))", lambda: I([1, 9], [3, 4])),
        ("vmap(|x, at| dynamic_slice(x, at, [1]))([[1, 2, 3], [4, 5, 6]], [[2], [0]])", lambda: I([3], [4])),
        ("flip([[1, 2], [3, 4]], axis=1)", lambda: jnp.flip(I([1, 2], [3, 4]), axis=1)),
        ("repeat([1, 2], 2, axis=0)", lambda: jnp.repeat(I(1, 2), 2, axis=0)),
        ("tile([[1, 2]], (2, 2))", lambda: jnp.tile(I([1, 2]), (2, 2))),
        ("pad([1, 2], ((1, 2),), mode=\"edge\")", lambda: jnp.pad(I(1, 2), (1, 2), mode="edge")),
        ("split_at([1, 2, 3, 4], (1, 3))", lambda: tuple(jnp.split(I(1, 2, 3, 4), (1, 3)))),
        ("concat(([1], zeros([0], dtype=i32), [2]))", lambda: I(1, 2)),
        ("stack(([1, 2], [3, 4]), axis=-1)", lambda: jnp.stack((I(1, 2), I(3, 4)), axis=-1)),
        ("dynamic_slice([[1, 2, 3], [4, 5, 6]], (1, 7), [1, 2])", lambda: lax.dynamic_slice(I([1, 2, 3], [4, 5, 6]), (1, 7), (1, 2))),
        ("dynamic_update_slice([1, 2, 3], [8, 9], (2,))", lambda: lax.dynamic_update_slice(I(1, 2, 3), I(8, 9), (2,))),
        ("moveaxis(zeros([2, 3, 4]), 0, -1)[0, 0]", lambda: A(0, 0)),
        ("squeeze([[[1], [2]]])", lambda: I(1, 2)),
        ("take_along_axis([[1, 2], [3, 4]], [[0], [1]], axis=1)", lambda: jnp.take_along_axis(I([1, 2], [3, 4]), I([0], [1]), axis=1)),
    ],
    "functions": [
        ("erf_inv([-1.0, 0.0, 1.0, 2.0])", lambda: lax.erf_inv(A(-1, 0, 1, 2))),
        ("lgamma([0.0, -1.0, 0.5, 171.0])", lambda: lax.lgamma(A(0, -1, 0.5, 171))),
        ("digamma([1.0, 0.5, -0.5])", lambda: lax.digamma(A(1, 0.5, -0.5))),
        ("erf([-inf, inf, nan, 0.5])", lambda: lax.erf(A(-inf, inf, nan, 0.5))),
        ("erfc([30.0, -30.0])", lambda: lax.erfc(A(30, -30))),
        ("exp([-inf, 89.0, nan])", lambda: jnp.exp(A(-inf, 89, nan))),
        ("log([0.0, -1.0, inf])", lambda: jnp.log(A(0, -1, inf))),
        ("log1p([-1.0, 1e-10, -2.0])", lambda: jnp.log1p(A(-1, 1e-10, -2))),
        ("expm1([1e-10, -inf, 100.0])", lambda: jnp.expm1(A(1e-10, -inf, 100))),
        ("sqrt([-0.0, -1.0, inf])", lambda: jnp.sqrt(A(-0.0, -1, inf))),
        ("rsqrt([0.0, 4.0, inf])", lambda: lax.rsqrt(A(0, 4, inf))),
        ("cbrt([-8.0, 0.0, 27.0])", lambda: jnp.cbrt(A(-8, 0, 27))),
        ("pow([-8.0, 0.0, 0.0, -2.0], [0.5, 0.0, -1.0, 3.0])", lambda: jnp.power(A(-8, 0, 0, -2), A(0.5, 0, -1, 3))),
        ("pow([1.0, inf, 0.5, -1.0], [nan, 0.0, inf, inf])", lambda: jnp.power(A(1, inf, 0.5, -1), A(nan, 0, inf, inf))),
        ("[2.0, -2.0, 0.0] ** -2", lambda: A(2, -2, 0) ** -2),
        ("atan2([0.0, -0.0, 0.0, -0.0], [1.0, 1.0, -1.0, -1.0])", lambda: jnp.arctan2(A(0, -0.0, 0, -0.0), A(1, 1, -1, -1))),
        ("atan2([inf, 1.0], [inf, 0.0])", lambda: jnp.arctan2(A(inf, 1), A(inf, 0))),
        ("tanh([-inf, 1e-8, 50.0])", lambda: jnp.tanh(A(-inf, 1e-8, 50))),
        ("sinh([0.001, 89.0, -100.0])", lambda: jnp.sinh(A(0.001, 89, -100))),
        ("asinh([1e30, -1e30, 1e-20, -inf])", lambda: jnp.arcsinh(A(1e30, -1e30, 1e-20, -inf))),
        ("acosh([1.0, 1e30, 0.5])", lambda: jnp.arccosh(A(1, 1e30, 0.5))),
        ("atanh([1.0, -1.0, 2.0, 1e-8])", lambda: jnp.arctanh(A(1, -1, 2, 1e-8))),
        ("asin([1.0, -1.0, 1.5])", lambda: jnp.arcsin(A(1, -1, 1.5))),
        ("acos([-1.0, 1.0, 0.0])", lambda: jnp.arccos(A(-1, 1, 0))),
        ("sin([1e6, inf, -0.0])", lambda: jnp.sin(A(1e6, inf, -0.0))),
        ("sigmoid([-1000.0, 0.0, 1000.0, nan])", lambda: nn.sigmoid(A(-1000, 0, 1000, nan))),
        ("softplus([-1000.0, 0.0, 1000.0, inf])", lambda: nn.softplus(A(-1000, 0, 1000, inf))),
        ("log_sigmoid([-1000.0, 1000.0])", lambda: nn.log_sigmoid(A(-1000, 1000))),
        ("gelu([-10.0, -1.0, 10.0])", lambda: nn.gelu(A(-10, -1, 10), approximate=False)),
        ("gelu_tanh([-10.0, -1.0, 10.0])", lambda: nn.gelu(A(-10, -1, 10))),
        ("selu([-1000.0, 0.0, 1.0])", lambda: nn.selu(A(-1000, 0, 1))),
        ("elu([-1000.0, 0.0, 1.0])", lambda: nn.elu(A(-1000, 0, 1))),
        ("sigmoid_binary_cross_entropy([1000.0, -1000.0, 0.0], [1.0, 1.0, 0.5])", lambda: jnp.maximum(A(1000, -1000, 0), 0) - A(1000, -1000, 0) * A(1, 1, 0.5) + jnp.log1p(jnp.exp(-jnp.abs(A(1000, -1000, 0))))),
        ("softmax_cross_entropy([[0.0, 1000.0], [1000.0, 0.0]], [0, 0])", lambda: -nn.log_softmax(A([0, 1000], [1000, 0]))[:, 0]),
        ("exp2([10.0, -1.0])", lambda: jnp.exp2(A(10, -1))),
        ("log2([8.0, 0.5])", lambda: jnp.log2(A(8, 0.5))),
        ("reciprocal([0.0, -0.0, 4.0])", lambda: jnp.reciprocal(A(0, -0.0, 4))),
        ("square([-3, 4])", lambda: jnp.square(I(-3, 4))),
        ("is_finite([inf, nan, 1.0])", lambda: jnp.isfinite(A(inf, nan, 1))),
        ("uniform(key(0), [3])", lambda: jax.random.uniform(key(0), (3,))),
        ("bernoulli(key(1), 0.0, [4])", lambda: jax.random.bernoulli(key(1), 0.0, (4,))),
        ("bernoulli(key(1), 1.0, [4])", lambda: jax.random.bernoulli(key(1), 1.0, (4,))),
        ("categorical(key(2), [[-inf, 0.0, -inf], [0.0, -inf, -inf]])", lambda: jax.random.categorical(key(2), A([-inf, 0, -inf], [0, -inf, -inf]))),
        ("randint(key(3), [5], 10, 10)", lambda: jax.random.randint(key(3), (5,), 10, 10)),
        ("randint(key(3), [5], -3, 4)", lambda: jax.random.randint(key(3), (5,), -3, 4)),
        ("permutation(key(4), 7)", lambda: jax.random.permutation(key(4), 7)),
        ("normal(key(5), [0])", lambda: jax.random.normal(key(5), (0,))),
        # Keys made of keys, a batch at a time, which XLA would compute once for each element drawn.
        ("vmap(|k| uniform(k, [2]))(split(key(3), 3))", lambda: vmap(lambda k: jax.random.uniform(k, (2,)))(jax.random.split(key(3), 3))),
        ("vmap(|i| normal(split(fold_in(key(1), i))[1], [2]))(arange(3))", lambda: vmap(lambda i: jax.random.normal(jax.random.split(jax.random.fold_in(key(1), i))[1], (2,)))(jnp.arange(3))),
        ("uniform(fold_in(key(6), 12), [2])", lambda: jax.random.uniform(jax.random.fold_in(key(6), 12), (2,))),
        ("vmap(|k| uniform(k, [2]))(split(key(7), 3))", lambda: vmap(lambda k: jax.random.uniform(k, (2,)))(jax.random.split(key(7), 3))),
    ],
}

HELPERS = {
    "control": """
fn steps(x: f32) -> i32 {
    let mut y = x;
    let mut n = 0;
    while y >= 1.0 {
        y = y / 2.0;
        n = n + 1;
    }
    n
}

fn halve(x: f32) -> f32 {
    let mut y = x;
    while y > 1.0 { y = y / 2.0; }
    y
}

fn looped(x: f32) -> f32 {
    let mut y = x;
    for _ in 0..4 { y = y * y; }
    y
}

fn maml(w: f32) -> f32 {
    let inner = |v| (v - 3.0) ** 4;
    grad(|w| (w - 0.1 * grad(inner)(w) - 1.0) ** 2)(w)
}
""",
}


def text(a):
    if isinstance(a, tuple):
        return "(" + ", ".join(text(x) for x in a) + ")"
    a = np.asarray(a)
    if a.ndim:
        return "[" + ", ".join(text(row) for row in a) + "]"
    if a.dtype == bool:
        return str(bool(a)).lower()
    if a.dtype == jnp.bfloat16:
        return str(float(a))
    return str(a[()])


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, rows in SUBJECTS.items():
        with open(FOLDER / f"{name}.tl", "w") as out:
            print("#! run", file=out)
            for _, value in rows:
                print("#! out", text(value()), file=out)
            print("# Reported edge cases; written by scripts/reference/reports.py, with JAX's values.", file=out)
            print(HELPERS.get(name, ""), file=out, end="")
            print("\nmain {", file=out)
            for code, _ in rows:
                print(f"    print({code});", file=out)
            print("}", file=out)


main()
