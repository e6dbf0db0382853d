"""JAX functions as IR text: traces a function and writes each of its operations as the IR's primitive.

Used by gradients.py. Only what JAX emits for ordinary code is here; anything else stops with the name of the
operation. `relu` and other functions that carry their own derivative in JAX are traced into, except relu, whose
derivative at the kink is 0 there and so is written as a select.
"""

import jax
import numpy as np
from jax.extend.core import Literal

ELEMS = {
    "float32": "f32", "float64": "f64", "bfloat16": "bf16", "float16": "f16", "int32": "i32",
    "int64": "i64", "uint32": "u32", "bool": "bool", "int8": "i8", "uint8": "u8",
}

UNARY = {
    "neg": "neg", "not": "not", "abs": "abs", "sign": "sign", "floor": "floor", "ceil": "ceil", "exp": "exp",
    "expm1": "expm1", "log": "log", "log1p": "log1p", "sqrt": "sqrt", "rsqrt": "rsqrt", "cbrt": "cbrt",
    "sin": "sin", "cos": "cos", "tan": "tan", "tanh": "tanh", "logistic": "logistic",
    "is_finite": "is_finite", "erf": "erf", "erfc": "erfc", "erf_inv": "erf_inv", "lgamma": "lgamma",
    "stop_gradient": "stop_gradient",
}

BINARY = {
    "add": "add", "add_any": "add", "sub": "sub", "mul": "mul", "div": "div", "rem": "rem", "pow": "pow",
    "max": "max", "min": "min", "atan2": "atan2", "and": "and", "or": "or", "xor": "xor", "eq": "eq",
    "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
}

INLINED = {"jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call", "remat2", "checkpoint"}


def type_of(aval):
    elem = ELEMS[str(aval.dtype)]
    return elem + (str(list(aval.shape)) if aval.shape else "")


def to_ir(fn, *args):
    """The text of `fn` at arguments like `args`; its leaves in order are inputs and outputs."""
    closed = jax.make_jaxpr(fn)(*args)
    return Writer().func(closed)


class Writer:
    def __init__(self):
        self.lines = []
        self.count = 0

    def fresh(self):
        self.count += 1
        return f"%{self.count}"

    def emit(self, text, aval):
        name = self.fresh()
        self.lines.append(f"{name} = {text} : {type_of(aval)}")
        return name

    def func(self, closed):
        jaxpr = closed.jaxpr
        env = {}
        params = []
        for var in jaxpr.invars:
            env[var] = self.fresh()
            params.append(f"{env[var]}: {type_of(var.aval)}")
        self.consts(closed, env)
        results = self.body(jaxpr, env)
        outs = ", ".join(type_of(v.aval) for v in jaxpr.outvars)
        body = "\n".join(self.lines)
        return f"func f({', '.join(params)}) -> ({outs}) {{\n{body}\nreturn {', '.join(results)}\n}}"

    def consts(self, closed, env):
        for var, value in zip(closed.jaxpr.constvars, closed.consts):
            env[var] = self.constant(np.asarray(value), var.aval)

    def constant(self, value, aval):
        value = np.asarray(value, dtype=aval.dtype)
        words = [self.number(x, value.dtype) for x in value.ravel()]
        if value.shape and len(set(words)) > 1:
            return self.emit(f"constant [{', '.join(words)}]", aval)
        return self.emit(f"constant {words[0]}", aval)

    @staticmethod
    def number(x, dtype):
        if dtype == bool:
            return "true" if x else "false"
        if dtype.kind == "f":
            bits = np.asarray(x).view(f"u{dtype.itemsize}")
            return hex(int(bits))
        return str(int(x))

    def read(self, env, atom):
        if isinstance(atom, Literal):
            return self.constant(atom.val, atom.aval)
        return env[atom]

    def body(self, jaxpr, env):
        for eqn in jaxpr.eqns:
            args = [self.read(env, v) for v in eqn.invars]
            results = self.eqn(eqn, args)
            env.update(zip(eqn.outvars, results))
        return [self.read(env, v) for v in jaxpr.outvars]

    def inline(self, closed, args):
        env = dict(zip(closed.jaxpr.invars, args))
        self.consts(closed, env)
        return self.body(closed.jaxpr, env)

    def region(self, closed, params, prefix=(), suffix=None):
        """Text of a region; `prefix` are outer values for the first inputs, the others are parameters."""
        outer, self.lines = self.lines, []
        env = dict(zip(closed.jaxpr.invars, prefix))
        names = []
        for var in closed.jaxpr.invars[len(prefix):]:
            env[var] = self.fresh()
            names.append(f"{env[var]}: {type_of(var.aval)}")
        self.consts(closed, env)
        results = self.body(closed.jaxpr, env)
        if suffix:
            results = suffix(results)
        self.lines.append(f"yield {', '.join(results)}" if results else "yield")
        text = "\n".join(self.lines)
        self.lines = outer
        return f"({', '.join(params + names)}) {{\n{text}\n}}" if params is not None else f"{{\n{text}\n}}"

    def spread(self, eqn, args):
        """The operands of an elementwise operation, scalars and dimensions of 1 broadcast."""
        shape = eqn.outvars[0].aval.shape
        out = []
        for arg, var in zip(args, eqn.invars):
            if var.aval.shape != shape:
                dims = list(range(len(var.aval.shape)))
                arg = self.emit(f"broadcast[dims = {dims}] {arg}", var.aval.update(shape=shape))
            out.append(arg)
        return out

    def eqn(self, eqn, args):
        name = eqn.primitive.name
        p = eqn.params
        out = eqn.outvars[0].aval if eqn.outvars else None
        x = eqn.invars[0].aval if eqn.invars else None
        one = lambda text: [self.emit(text, out)]
        if name in INLINED:
            callee = p.get("jaxpr") or p.get("call_jaxpr") or p.get("fun_jaxpr")
            if p.get("name") == "relu":
                zero = self.constant(np.zeros(x.shape), x)
                mask = self.emit(f"gt {args[0]}, {zero}", x.update(dtype=np.dtype(bool)))
                return one(f"select {mask}, {args[0]}, {zero}")
            if not hasattr(callee, "consts"):
                callee = jax.extend.core.ClosedJaxpr(callee, ())
            return self.inline(callee, args)
        if name in UNARY:
            return one(f"{UNARY[name]} {args[0]}")
        if name in BINARY:
            args = self.spread(eqn, args)
            return one(f"{BINARY[name]} {args[0]}, {args[1]}")
        method = getattr(self, "op_" + name.replace("-", "_"), None)
        if method is None:
            raise NotImplementedError(f"{name}: {eqn}")
        return method(eqn, args, one)

    # One method for each operation with attributes.

    def op_digamma(self, eqn, args, one):
        return one(f"polygamma[order = 0] {args[0]}")

    def op_square(self, eqn, args, one):
        return one(f"mul {args[0]}, {args[0]}")

    def op_one_minus_square(self, eqn, args, one):
        aval = eqn.outvars[0].aval
        square = self.emit(f"mul {args[0]}, {args[0]}", aval)
        return one(f"sub {self.constant(np.ones(aval.shape), aval)}, {square}")

    def op_exp2(self, eqn, args, one):
        aval = eqn.outvars[0].aval
        scaled = self.emit(f"mul {args[0]}, {self.constant(np.full(aval.shape, np.log(2)), aval)}", aval)
        return one(f"exp {scaled}")

    def op_integer_pow(self, eqn, args, one):
        aval = eqn.outvars[0].aval
        return one(f"pow {args[0]}, {self.constant(np.full(aval.shape, eqn.params['y']), aval)}")

    def op_copy(self, eqn, args, one):
        return args

    op_copy_p = op_copy
    op_optimization_barrier = op_copy

    def op_select_n(self, eqn, args, one):
        pred, off, on = self.spread(eqn, args)
        return one(f"select {pred}, {on}, {off}")

    def op_clamp(self, eqn, args, one):
        args = self.spread(eqn, args)
        return one(f"clamp {', '.join(args)}")

    def op_convert_element_type(self, eqn, args, one):
        return one(f"convert {args[0]}")

    def op_iota(self, eqn, args, one):
        return one(f"iota[axis = {eqn.params['dimension']}]")

    def op_broadcast_in_dim(self, eqn, args, one):
        return one(f"broadcast[dims = {list(eqn.params['broadcast_dimensions'])}] {args[0]}")

    def op_reshape(self, eqn, args, one):
        return one(f"reshape {args[0]}")

    op_squeeze = op_reshape
    op_expand_dims = op_reshape

    def op_transpose(self, eqn, args, one):
        return one(f"transpose[perm = {list(eqn.params['permutation'])}] {args[0]}")

    def op_slice(self, eqn, args, one):
        p = eqn.params
        stride = p["strides"] or [1] * len(p["start_indices"])
        return one(
            f"slice[start = {list(p['start_indices'])}, limit = {list(p['limit_indices'])}, "
            f"stride = {list(stride)}] {args[0]}"
        )

    def op_split(self, eqn, args, one):
        axis, shape = eqn.params["axis"], list(eqn.invars[0].aval.shape)
        results, at = [], 0
        for var, size in zip(eqn.outvars, eqn.params["sizes"]):
            start, limit = [0] * len(shape), list(shape)
            start[axis], limit[axis] = at, at + size
            at += size
            text = f"slice[start = {start}, limit = {limit}, stride = {[1] * len(shape)}] {args[0]}"
            results.append(self.emit(text, var.aval))
        return results

    def op_pad(self, eqn, args, one):
        low, high, interior = ([int(edge[k]) for edge in eqn.params["padding_config"]] for k in range(3))
        return one(f"pad[low = {low}, high = {high}, interior = {interior}] {args[0]}, {args[1]}")

    def op_concatenate(self, eqn, args, one):
        return one(f"concat[axis = {eqn.params['dimension']}] {', '.join(args)}")

    def op_stack(self, eqn, args, one):
        axis = eqn.params["axis"]
        avals = [v.aval for v in eqn.invars]
        wide = avals[0].update(shape=(*avals[0].shape[:axis], 1, *avals[0].shape[axis:]))
        rows = [self.emit(f"reshape {a}", wide) for a in args]
        return one(f"concat[axis = {axis}] {', '.join(rows)}")

    def op_rev(self, eqn, args, one):
        return one(f"reverse[axes = {list(eqn.params['dimensions'])}] {args[0]}")

    def op_dynamic_slice(self, eqn, args, one):
        return one(f"dynamic_slice[sizes = {list(eqn.params['slice_sizes'])}] {', '.join(args)}")

    def op_dynamic_update_slice(self, eqn, args, one):
        return one(f"dynamic_update_slice {', '.join(args)}")

    def op_gather(self, eqn, args, one):
        d = eqn.params["dimension_numbers"]
        rank = len(eqn.invars[1].aval.shape) - 1
        return one(
            f"gather[offset_dims = {list(d.offset_dims)}, collapsed_slice_dims = {list(d.collapsed_slice_dims)}, "
            f"operand_batching_dims = {list(d.operand_batching_dims)}, "
            f"start_indices_batching_dims = {list(d.start_indices_batching_dims)}, "
            f"start_index_map = {list(d.start_index_map)}, index_vector_dim = {rank}, "
            f"slice_sizes = {list(eqn.params['slice_sizes'])}] {args[0]}, {args[1]}"
        )

    def scatter(self, kind, eqn, args, one):
        d = eqn.params["dimension_numbers"]
        rank = len(eqn.invars[1].aval.shape) - 1
        return one(
            f"scatter_{kind}[update_window_dims = {list(d.update_window_dims)}, "
            f"inserted_window_dims = {list(d.inserted_window_dims)}, "
            f"input_batching_dims = {list(d.operand_batching_dims)}, "
            f"scatter_indices_batching_dims = {list(d.scatter_indices_batching_dims)}, "
            f"scatter_dims_to_operand_dims = {list(d.scatter_dims_to_operand_dims)}, "
            f"index_vector_dim = {rank}] {', '.join(args)}"
        )

    def op_scatter(self, eqn, args, one):
        return self.scatter("set", eqn, args, one)

    def op_scatter_add(self, eqn, args, one):
        return self.scatter("add", eqn, args, one)

    def reduction(self, name, eqn, args, one):
        return one(f"reduce_{name}[axes = {sorted(eqn.params['axes'])}] {args[0]}")

    def op_reduce_sum(self, eqn, args, one):
        return self.reduction("sum", eqn, args, one)

    def op_reduce_prod(self, eqn, args, one):
        return self.reduction("prod", eqn, args, one)

    def op_reduce_max(self, eqn, args, one):
        return self.reduction("max", eqn, args, one)

    def op_reduce_min(self, eqn, args, one):
        return self.reduction("min", eqn, args, one)

    op_reduce_or = op_reduce_max
    op_reduce_and = op_reduce_min

    def op_argmax(self, eqn, args, one):
        return one(f"argmax[axis = {eqn.params['axes'][0]}] {args[0]}")

    def op_argmin(self, eqn, args, one):
        return one(f"argmin[axis = {eqn.params['axes'][0]}] {args[0]}")

    def cumulative(self, name, eqn, args, one):
        reverse = ", reverse" if eqn.params["reverse"] else ""
        return one(f"{name}[axis = {eqn.params['axis']}{reverse}] {args[0]}")

    def op_cumsum(self, eqn, args, one):
        return self.cumulative("cumsum", eqn, args, one)

    def op_cumprod(self, eqn, args, one):
        return self.cumulative("cumprod", eqn, args, one)

    def op_cummax(self, eqn, args, one):
        return self.cumulative("cummax", eqn, args, one)

    def op_cummin(self, eqn, args, one):
        return self.cumulative("cummin", eqn, args, one)

    def window(self, name, eqn, args, one):
        p = eqn.params
        pairs = ", ".join(f"({a}, {b})" for a, b in p["padding"])
        return one(
            f"reduce_window_{name}[size = {list(p['window_dimensions'])}, stride = {list(p['window_strides'])}, "
            f"padding = [{pairs}], base_dilation = {list(p['base_dilation'])}, "
            f"window_dilation = {list(p['window_dilation'])}] {args[0]}"
        )

    def op_reduce_window_sum(self, eqn, args, one):
        return self.window("sum", eqn, args, one)

    def op_reduce_window_max(self, eqn, args, one):
        return self.window("max", eqn, args, one)

    def op_reduce_window_min(self, eqn, args, one):
        return self.window("min", eqn, args, one)

    def op_dot_general(self, eqn, args, one):
        (lc, rc), (lb, rb) = eqn.params["dimension_numbers"]
        batch = f"batch = {list(lb)} x {list(rb)}, " if lb else ""
        return one(f"dot_general[{batch}contract = {list(lc)} x {list(rc)}] {args[0]}, {args[1]}")

    def op_conv_general_dilated(self, eqn, args, one):
        p = eqn.params
        d = p["dimension_numbers"]
        pairs = ", ".join(f"({a}, {b})" for a, b in p["padding"])
        # JAX names batch (output), feature (input), then spatial.
        n = len(p["window_strides"])
        return one(
            f"conv[stride = {list(p['window_strides'])}, padding = [{pairs}], lhs_dilation = {list(p['lhs_dilation'])}, "
            f"rhs_dilation = {list(p['rhs_dilation'])}, reverse = [{', '.join(['false'] * n)}], "
            f"input = {list(d.lhs_spec)}, kernel = {[d.rhs_spec[1], d.rhs_spec[0], *d.rhs_spec[2:]]}, "
            f"output = {list(d.out_spec)}, feature_groups = {p['feature_group_count']}, "
            f"batch_groups = {p['batch_group_count']}] {args[0]}, {args[1]}"
        )

    def op_cholesky(self, eqn, args, one):
        return one(f"cholesky {args[0]}")

    def op_triangular_solve(self, eqn, args, one):
        p = eqn.params
        flags = [("left_side", "left"), ("lower", "lower"), ("transpose_a", "transpose"), ("unit_diagonal", "unit_diagonal")]
        flags = ", ".join(ours for theirs, ours in flags if p[theirs])
        return one(f"triangular_solve{f'[{flags}]' if flags else ''} {args[0]}, {args[1]}")

    def op_sort(self, eqn, args, one):
        types = ", ".join(type_of(v.aval) for v in eqn.outvars)
        names = [self.fresh() for _ in eqn.outvars]
        attributes = f"axis = {eqn.params['dimension']}, keys = {eqn.params['num_keys']}"
        self.lines.append(f"{', '.join(names)} = sort[{attributes}] {', '.join(args)} : {types}")
        return names

    # Control.

    def results(self, eqn):
        names = [self.fresh() for _ in eqn.outvars]
        types = ", ".join(type_of(v.aval) for v in eqn.outvars)
        return names, types

    def op_scan(self, eqn, args, one):
        p = eqn.params
        consts, carry, _ = [len(tree) for tree in p["ft_in"].unpack()]
        index = self.fresh()
        body = self.region(p["jaxpr"], [f"{index}: i32"], args[:consts])
        names, types = self.results(eqn)
        reverse = ", reverse" if p["reverse"] else ""
        operands = ", ".join(args[consts:])
        self.lines.append(
            f"{', '.join(names)} = scan[length = {p['length']}, carry = {carry}{reverse}] {operands} : {types} body{body}"
        )
        return names

    def op_while(self, eqn, args, one):
        p = eqn.params
        nc, nb = p["cond_nconsts"], p["body_nconsts"]
        cond = self.region(p["cond_jaxpr"], [], args[:nc])
        body = self.region(p["body_jaxpr"], [], args[nc:nc + nb])
        names, types = self.results(eqn)
        operands = ", ".join(args[nc + nb:])
        self.lines.append(f"{', '.join(names)} = while {operands} : {types} cond{cond} body{body}")
        return names

    def op_cond(self, eqn, args, one):
        branches = eqn.params["branches"]
        assert len(branches) == 2
        index = self.emit(f"convert {args[0]}", eqn.invars[0].aval.update(dtype=np.dtype(bool)))
        otherwise = self.region(branches[0], None, args[1:])
        then = self.region(branches[1], None, args[1:])
        names, types = self.results(eqn)
        self.lines.append(f"{', '.join(names)} = if {index} : {types} then {then} else {otherwise}")
        return names
