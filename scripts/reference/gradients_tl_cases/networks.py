"""Layers and networks: dense, convolutions and pools in one to three dimensions, attention, recurrent cells."""

import jax
import jax.numpy as jnp
from jax import lax, nn

from .cases import below, case, positive

LAYOUT = {1: ("NHC", "HIO", "NHC"), 2: ("NHWC", "HWIO", "NHWC"), 3: ("NHWDC", "HWDIO", "NHWDC")}


def conv(x, w, stride=1, padding="SAME", dilation=1, groups=1):
    n = x.ndim - 2
    each = lambda v: v if isinstance(v, tuple) else (v,) * n
    return lax.conv_general_dilated(x, w, each(stride), padding, rhs_dilation=each(dilation), dimension_numbers=LAYOUT[n], feature_group_count=groups)


def pool(x, init, op, window, stride, padding):
    w = (1,) + (window,) * (x.ndim - 2) + (1,)
    s = (1,) + (stride,) * (x.ndim - 2) + (1,)
    return lax.reduce_window(x, init, op, w, s, padding)


case("fn mlp(x: f32[4, 6], w: f32[6, 5], b: f32[5], v: f32[5, 3], c: f32[3], y: i32[4]) -> f32 { mean(softmax_cross_entropy(relu(x @ w + b) @ v + c, y)) }",
     lambda x, w, b, v, c, y: -jnp.mean(jnp.take_along_axis(nn.log_softmax(nn.relu(x @ w + b) @ v + c), y[:, None], 1)), y=below(3))
case("fn deep(x: f32[3, 4], w: f32[3, 4, 4]) -> f32[3, 4] { let mut h = x; for l in w { h = h + tanh(h @ l); } h }",
     lambda x, w: (h := x, [h := h + jnp.tanh(h @ l) for l in w], h)[2])
case("fn autoencoder(x: f32[4, 6], w: f32[6, 2]) -> f32 { let z = sigmoid(x @ w); mean(square(z @ transpose(w) - x)) }",
     lambda x, w: jnp.mean((nn.sigmoid(x @ w) @ w.T - x) ** 2))
case("fn variational(x: f32[3, 4], w: f32[4, 4], v: f32[2, 4], e: f32[3, 2]) -> f32 { let h = x @ w; let m = h[:, 0:2]; let s = h[:, 2:4]; let z = m + exp(0.5 * s) * e; mean(sum(square(z @ v - x), axis=1)) - 0.5 * mean(1 + s - m * m - exp(s)) }",
     lambda x, w, v, e: (h := x @ w, m := h[:, :2], s := h[:, 2:], z := m + jnp.exp(0.5 * s) * e, jnp.mean(jnp.sum((z @ v - x) ** 2, 1)) - 0.5 * jnp.mean(1 + s - m * m - jnp.exp(s)))[-1])
case("fn layer_normed(x: f32[3, 6], g: f32[6], b: f32[6]) -> f32[3, 6] { (x - mean(x, axis=1, keepdims=true)) * rsqrt(var(x, axis=1, keepdims=true) + 1e-5) * g + b }",
     lambda x, g, b: (x - x.mean(1, keepdims=True)) * lax.rsqrt(x.var(1, keepdims=True) + 1e-5) * g + b)
case("fn rms_normed(x: f32[3, 6], g: f32[6]) -> f32[3, 6] { x * rsqrt(mean(square(x), axis=-1, keepdims=true) + 1e-6) * g }",
     lambda x, g: x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * g)
case("fn batch_normed(x: f32[6, 3], g: f32[3]) -> f32[6, 3] { tanh((x - mean(x, axis=0)) / sqrt(var(x, axis=0) + 1e-5) * g) }",
     lambda x, g: jnp.tanh((x - x.mean(0)) / jnp.sqrt(x.var(0) + 1e-5) * g))
case("fn group_normed(x: f32[2, 4, 6]) -> f32[2, 4, 6] { let y = reshape(x, [2, 4, 2, 3]); reshape((y - mean(y, axis=(1, 3), keepdims=true)) / sqrt(var(y, axis=(1, 3), keepdims=true) + 1e-5), [2, 4, 6]) }",
     lambda x: (y := x.reshape(2, 4, 2, 3), ((y - y.mean((1, 3), keepdims=True)) / jnp.sqrt(y.var((1, 3), keepdims=True) + 1e-5)).reshape(2, 4, 6))[1])
case("fn attention(x: f32[2, 4, 6], q: f32[6, 6], k: f32[6, 6], v: f32[6, 6]) -> f32[2, 4, 6] { softmax((x @ q) @ swapaxes(x @ k, 1, 2) / sqrt(6.0)) @ (x @ v) }",
     lambda x, q, k, v: nn.softmax((x @ q) @ (x @ k).swapaxes(1, 2) / jnp.sqrt(6.0)) @ (x @ v))
case('fn heads(x: f32[2, 4, 6], q: f32[6, 2, 3], k: f32[6, 2, 3], v: f32[6, 2, 3], o: f32[2, 3, 6]) -> f32[2, 4, 6] { let s = einsum("bqhd,bkhd->bhqk", einsum("btc,chd->bthd", x, q), einsum("btc,chd->bthd", x, k)); let m = tril(ones([4, 4])) > 0; let p = softmax(where(m, s / sqrt(3.0), -1e9)); einsum("bqhd,hdc->bqc", einsum("bhqk,bkhd->bqhd", p, einsum("btc,chd->bthd", x, v)), o) }',
     lambda x, q, k, v, o: jnp.einsum("bqhd,hdc->bqc", jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(jnp.where(jnp.tril(jnp.ones((4, 4))) > 0, jnp.einsum("bqhd,bkhd->bhqk", jnp.einsum("btc,chd->bthd", x, q), jnp.einsum("btc,chd->bthd", x, k)) / jnp.sqrt(3.0), -1e9)), jnp.einsum("btc,chd->bthd", x, v)), o))
case("fn rotary(x: f32[4, 6]) -> f32[4, 6] { let t = arange(4, dtype=f32)[:, none] * (0.1 ** (arange(3, dtype=f32) / 3))[none, :]; let a = x[:, 0:3]; let b = x[:, 3:6]; concat((a * cos(t) - b * sin(t), a * sin(t) + b * cos(t)), axis=1) ** 2 }",
     lambda x: (t := jnp.arange(4.0)[:, None] * 0.1 ** (jnp.arange(3.0) / 3), jnp.concatenate([x[:, :3] * jnp.cos(t) - x[:, 3:] * jnp.sin(t), x[:, :3] * jnp.sin(t) + x[:, 3:] * jnp.cos(t)], 1) ** 2)[1])
case("fn transformer(x: f32[3, 8], w: f32[8, 24], o: f32[8, 8], u: f32[8, 16], d: f32[16, 8]) -> f32[3, 8] { let n = x * rsqrt(mean(square(x), axis=1, keepdims=true) + 1e-6); let (q, k, v) = split_at(n @ w, (8, 16), axis=1); let h = x + softmax(q @ transpose(k) / sqrt(8.0)) @ v @ o; h + gelu(h @ u) @ d }",
     lambda x, w, o, u, d: (n := x * lax.rsqrt(jnp.mean(x * x, 1, keepdims=True) + 1e-6), p := jnp.split(n @ w, 3, 1), h := x + nn.softmax(p[0] @ p[1].T / jnp.sqrt(8.0)) @ p[2] @ o, h + nn.gelu(h @ u, approximate=False) @ d)[-1])
case("fn mixture(x: f32[5, 4], g: f32[4, 3], w: f32[3, 4, 4]) -> f32[5, 4] { let p = softmax(x @ g); sum(p[:, :, none] * moveaxis(tanh(x @ w), 0, 1), axis=1) }",
     lambda x, g, w: jnp.einsum("be,ebd->bd", nn.softmax(x @ g), jnp.tanh(x @ w)))
case("fn embedded(t: f32[7, 4], w: f32[4, 7], i: i32[5]) -> f32 { mean(softmax_cross_entropy(t[i] @ w, i)) }",
     lambda t, w, i: -jnp.mean(jnp.take_along_axis(nn.log_softmax(t[i] @ w), i[:, None], 1)), i=below(7))
case("fn gated_cell(h: f32[3], w: f32[3, 9], u: f32[2, 9], xs: f32[4, 2]) -> f32[3] { let (last, ys) = scan(|h, x| { let a = x @ u; let b = h @ w; let r = sigmoid(a[0:3] + b[0:3]); let z = sigmoid(a[3:6] + b[3:6]); let n = tanh(a[6:9] + r * b[6:9]); let y = (1 - z) * n + z * h; (y, y) }, h, xs); last + sum(ys, axis=0) }",
     lambda h, w, u, xs: (out := lax.scan(lambda h, x: (a := x @ u, b := h @ w, r := nn.sigmoid(a[:3] + b[:3]), z := nn.sigmoid(a[3:6] + b[3:6]), y := (1 - z) * jnp.tanh(a[6:] + r * b[6:]) + z * h, (y, y))[-1], h, xs), out[0] + out[1].sum(0))[1])
case("fn long_short(h: f32[3], c: f32[3], w: f32[5, 12], xs: f32[4, 2]) -> f32[4, 3] { scan(|s, x| { let (h, c) = s; let g = concat((h, x)) @ w; let k = sigmoid(g[3:6]) * c + sigmoid(g[0:3]) * tanh(g[6:9]); let y = sigmoid(g[9:12]) * tanh(k); ((y, k), y) }, (h, c), xs).1 }",
     lambda h, c, w, xs: lax.scan(lambda s, x: (g := jnp.concatenate([s[0], x]) @ w, k := nn.sigmoid(g[3:6]) * s[1] + nn.sigmoid(g[:3]) * jnp.tanh(g[6:9]), y := nn.sigmoid(g[9:]) * jnp.tanh(k), ((y, k), y))[-1], (h, c), xs)[1])

# Convolutions.

case("fn conv1(x: f32[2, 7, 2], w: f32[3, 2, 3]) -> f32[2, 7, 3] { conv(x, w) }", conv)
case("fn conv1_causal(x: f32[1, 6, 2], w: f32[3, 2, 2]) -> f32[1, 6, 2] { conv(x, w, padding=((4, 0)), dilation=2) }",
     lambda x, w: conv(x, w, padding=((4, 0),), dilation=2))
case("fn conv2(x: f32[2, 5, 4, 2], w: f32[3, 3, 2, 3]) -> f32[2, 5, 4, 3] { tanh(conv(x, w)) }", lambda x, w: jnp.tanh(conv(x, w)))
case("fn conv2_valid(x: f32[1, 5, 6, 2], w: f32[2, 3, 2, 2]) -> f32[1, 4, 4, 2] { conv(x, w, padding=\"valid\") }", lambda x, w: conv(x, w, padding="VALID"))
case("fn conv2_strided(x: f32[1, 7, 6, 2], w: f32[3, 3, 2, 2]) -> f32[1, 4, 3, 2] { conv(x, w, stride=2) }", lambda x, w: conv(x, w, stride=2))
case("fn conv2_uneven(x: f32[1, 7, 6, 1], w: f32[3, 2, 1, 2]) -> f32[1, 3, 6, 2] { conv(x, w, stride=(3, 1)) }", lambda x, w: conv(x, w, stride=(3, 1)))
case("fn conv2_grouped(x: f32[1, 4, 4, 4], w: f32[3, 3, 2, 6]) -> f32[1, 4, 4, 6] { conv(x, w, groups=2) }", lambda x, w: conv(x, w, groups=2))
case("fn conv2_depthwise(x: f32[1, 4, 4, 3], w: f32[3, 3, 1, 3]) -> f32[1, 4, 4, 3] { conv(x, w, groups=3) ** 2 }", lambda x, w: conv(x, w, groups=3) ** 2)
case("fn conv3(x: f32[1, 3, 4, 3, 2], w: f32[2, 3, 2, 2, 2]) -> f32[1, 3, 4, 3, 2] { conv(x, w) }", conv)
case("fn residual_block(x: f32[1, 4, 4, 2], w: f32[3, 3, 2, 2], v: f32[3, 3, 2, 2]) -> f32[1, 4, 4, 2] { relu(x + conv(relu(conv(x, w)), v)) }",
     lambda x, w, v: nn.relu(x + conv(nn.relu(conv(x, w)), v)))
case("fn small_cnn(x: f32[2, 6, 6, 1], w: f32[3, 3, 1, 2], v: f32[18, 3], y: i32[2]) -> f32 { let h = max_pool(relu(conv(x, w)), (2, 2), stride=(2, 2)); mean(softmax_cross_entropy(reshape(h, [2, 18]) @ v, y)) }",
     lambda x, w, v, y: -jnp.mean(jnp.take_along_axis(nn.log_softmax(pool(nn.relu(conv(x, w)), -jnp.inf, lax.max, 2, 2, "VALID").reshape(2, 18) @ v), y[:, None], 1)), y=below(3))

# Pools.

case("fn max_pool1(x: f32[2, 8, 2]) -> f32[2, 4, 2] { max_pool(x, 2, stride=2) ** 2 }", lambda x: pool(x, -jnp.inf, lax.max, 2, 2, "VALID") ** 2)
case("fn max_pool2(x: f32[1, 5, 5, 2]) -> f32[1, 3, 3, 2] { max_pool(x, (3, 3), stride=(2, 2), padding=\"same\") ** 2 }", lambda x: pool(x, -jnp.inf, lax.max, 3, 2, "SAME") ** 2)
case("fn max_pool3(x: f32[1, 4, 4, 4, 1]) -> f32[1, 3, 3, 3, 1] { max_pool(x, 2, stride=1) }", lambda x: pool(x, -jnp.inf, lax.max, 2, 1, "VALID"))
case("fn avg_pool1(x: f32[2, 7, 2]) -> f32[2, 3, 2] { avg_pool(x, 3, stride=2) ** 2 }", lambda x: (pool(x, 0.0, lax.add, 3, 2, "VALID") / 3) ** 2)
case("fn avg_pool2(x: f32[1, 5, 5, 2]) -> f32[1, 3, 3, 2] { exp(avg_pool(x, (2, 2), stride=(2, 2), padding=\"same\")) }", lambda x: jnp.exp(pool(x, 0.0, lax.add, 2, 2, "SAME") / 4))
case("fn avg_pool3(x: f32[1, 3, 4, 3, 1]) -> f32[1, 2, 3, 2, 1] { avg_pool(x * x, 2, stride=1) }", lambda x: pool(x * x, 0.0, lax.add, 2, 1, "VALID") / 8)
