"""Composite functions, by subject: each is (`.tl` text, the same in JAX, how its inputs are drawn, highest order)."""

from . import arrays, edges, linear_algebra, loops, mixes, nested, networks, numbers, reported, transforms
from .cases import CASES, REVERSE

__all__ = ["CASES", "REVERSE", "arrays", "edges", "linear_algebra", "loops", "mixes", "nested", "networks", "numbers", "reported", "transforms"]
