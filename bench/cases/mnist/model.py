"""The model that every JAX peer of this case trains: the same parameters, loss and optimiser as `examples/mnist.tl`."""

import jax
import jax.numpy as jnp
import optax
from jax import random

HID = 256
BATCH = 128
EPOCHS = 5
LR = 1e-3
SEED = 0

optimizer = optax.adam(LR)


def init(key):
    k1, k2 = random.split(key)
    return {
        "w1": random.normal(k1, (784, HID)) * jnp.sqrt(2.0 / 784),
        "b1": jnp.zeros(HID),
        "w2": random.normal(k2, (HID, 10)) * jnp.sqrt(2.0 / HID),
        "b2": jnp.zeros(10),
    }


def forward(params, x):
    h = jax.nn.relu(x @ params["w1"] + params["b1"])
    return h @ params["w2"] + params["b2"]


def loss(params, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(forward(params, x), y).mean()


def accuracy(params, x, y):
    return jnp.mean(jnp.argmax(forward(params, x), axis=-1) == y)


def step(params, opt_state, x, y, loss=loss):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, value
