#!/usr/bin/env python3
"""Reference values of every builtin of the language, from JAX (with Optax for the losses).

Run with jax 0.12.0.1, optax 0.2.8, numpy and ml_dtypes installed, for all subjects or some:

    python scripts/reference/builtins.py [SUBJECT…]

It writes tests/data/builtins, which `builtins_table.py` describes and `tests/builtins.rs` reads.
"""

import sys
import warnings

import builtins_arithmetic
import builtins_casts
import builtins_elementwise
import builtins_indexing
import builtins_linalg
import builtins_neural
import builtins_random
import builtins_reduce
import builtins_shape
from builtins_table import Table

SUBJECTS = {
    "elementwise": builtins_elementwise.unary,
    "subnormal": builtins_elementwise.subnormal,
    "activations": builtins_elementwise.activations,
    "arithmetic": builtins_arithmetic.cases,
    "casts": builtins_casts.cases,
    "reduce": builtins_reduce.cases,
    "cumulate": builtins_reduce.running,
    "normalise": builtins_reduce.normalise,
    "shape": builtins_shape.cases,
    "indexing": builtins_indexing.cases,
    "order": builtins_indexing.order,
    "linalg": builtins_linalg.cases,
    "einsum": builtins_linalg.einsum,
    "neural": builtins_neural.cases,
    "losses": builtins_neural.losses,
    "random": builtins_random.cases,
}


def main():
    # Division by zero and the like is what many cases are about.
    warnings.simplefilter("ignore")
    for subject in sys.argv[1:] or SUBJECTS:
        table = Table(subject)
        SUBJECTS[subject](table)
        table.write()


if __name__ == "__main__":
    main()
