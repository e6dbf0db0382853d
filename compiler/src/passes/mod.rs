//! Passes, IR → IR: clean-ups around differentiation and before the optimiser. One pass a file, each with a before and an
//! after at its head; all but `distribute`, `row_blocks`, `leading_dot`, `small_products` and `spread_conv`, and `short_reduce`,
//! `small_windows` and `sort_keys` for the sign of a zero, are exact (bit for bit the same results), all are deterministic, and are
//! verified after each run in debug builds.
//!
//! Nothing algebraic is done here: that is the e-graph's.

mod arg_keys;
mod canonical_conv;
pub(crate) mod copy;
pub(crate) mod cse;
mod dce;
mod distribute;
mod draw_blocks;
mod erase;
mod float_products;
mod fold;
mod hold_draws;
mod hold_keys;
mod leading_dot;
mod licm;
mod members;
mod order;
mod places;
pub mod row_blocks;
mod scan_xs;
mod short_reduce;
mod silence;
mod simplify_regions;
mod small_products;
mod small_windows;
mod sort_keys;
mod spread_conv;
mod spread_pool;

#[cfg(test)]
mod tests;

use crate::ir::Func;
#[cfg(debug_assertions)]
use crate::ir::verify::verify;

/// When a pass runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// On a function that will be differentiated.
    BeforeDerivatives,
    /// When all transforms are done.
    AfterDerivatives,
    /// On a program that is about to be optimised; no longer bit for bit, where sums come in another order.
    BeforeOptimiser,
    /// Then, on one that XLA's CPU compiler will get for one device and that runs once.
    OnceOnCpu,
    /// On an optimised program that XLA will get.
    ForXla,
    /// The same, where it is XLA's CPU compiler.
    ForCpu,
    /// The same, where no array is laid over several devices.
    ForOneCpu,
    /// Then, on a program that runs more than once, or that has loops: what takes longer to compile than one run of it
    /// saves.
    Repeated,
}

/// A named function from functions to functions.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    pub name: &'static str,
    pub stage: Stage,
    pub run: fn(&Func) -> Func,
}

/// All passes, in the order in which they run.
pub const REGISTRY: [Pass; 28] = [
    Pass {
        name: "scan_xs",
        stage: Stage::BeforeDerivatives,
        run: scan_xs::run,
    },
    // What a loop computes anew in every turn is differentiated once when it stands before it.
    Pass {
        name: "licm_before",
        stage: Stage::BeforeDerivatives,
        run: licm::run,
    },
    Pass {
        name: "dce_before",
        stage: Stage::BeforeDerivatives,
        run: dce::run,
    },
    Pass {
        name: "members_before",
        stage: Stage::BeforeDerivatives,
        run: members::run,
    },
    Pass {
        name: "order_before",
        stage: Stage::BeforeDerivatives,
        run: order::run,
    },
    Pass {
        name: "erase",
        stage: Stage::AfterDerivatives,
        run: erase::run,
    },
    Pass {
        name: "fold",
        stage: Stage::AfterDerivatives,
        run: fold::run,
    },
    Pass {
        name: "simplify_regions",
        stage: Stage::AfterDerivatives,
        run: simplify_regions::run,
    },
    Pass {
        name: "cse",
        stage: Stage::AfterDerivatives,
        run: cse::run,
    },
    Pass {
        name: "licm",
        stage: Stage::AfterDerivatives,
        run: licm::run,
    },
    Pass {
        name: "dce",
        stage: Stage::AfterDerivatives,
        run: dce::run,
    },
    Pass {
        name: "members",
        stage: Stage::AfterDerivatives,
        run: members::run,
    },
    Pass {
        name: "order",
        stage: Stage::AfterDerivatives,
        run: order::run,
    },
    Pass {
        name: "distribute",
        stage: Stage::BeforeOptimiser,
        run: distribute::run,
    },
    Pass {
        name: "draw_blocks",
        stage: Stage::OnceOnCpu,
        run: draw_blocks::run,
    },
    Pass {
        name: "hold_keys",
        stage: Stage::ForXla,
        run: hold_keys::run,
    },
    Pass {
        name: "hold_draws",
        stage: Stage::ForCpu,
        run: hold_draws::run,
    },
    Pass {
        name: "float_products",
        stage: Stage::ForCpu,
        run: float_products::run,
    },
    Pass {
        name: "spread_conv",
        stage: Stage::ForCpu,
        run: spread_conv::run,
    },
    Pass {
        name: "canonical_conv",
        stage: Stage::ForCpu,
        run: canonical_conv::run,
    },
    Pass {
        name: "spread_pool",
        stage: Stage::ForCpu,
        run: spread_pool::run,
    },
    Pass {
        name: "row_blocks",
        stage: Stage::ForOneCpu,
        run: row_blocks::run,
    },
    Pass {
        name: "sort_keys",
        stage: Stage::Repeated,
        run: sort_keys::run,
    },
    Pass {
        name: "arg_keys",
        stage: Stage::Repeated,
        run: arg_keys::run,
    },
    // Last, since a block has fewer rows.
    Pass {
        name: "short_reduce",
        stage: Stage::Repeated,
        run: short_reduce::run,
    },
    Pass {
        name: "leading_dot",
        stage: Stage::Repeated,
        run: leading_dot::run,
    },
    Pass {
        name: "small_windows",
        stage: Stage::Repeated,
        run: small_windows::run,
    },
    Pass {
        name: "small_products",
        stage: Stage::Repeated,
        run: small_products::run,
    },
];

/// The function without what it prints for debugging.
pub fn silent(func: &Func) -> Func {
    silence::run(func)
}

/// The passes of a stage, one after the other.
pub fn run(stage: Stage, func: &Func) -> Func {
    of_stage(stage).fold(func.clone(), |func, pass| run_one(pass, &func))
}

/// The passes of the stage of `last`, up to it.
pub fn run_to(last: &Pass, func: &Func) -> Func {
    let earlier = of_stage(last.stage).take_while(|pass| pass.name != last.name);
    let func = earlier.fold(func.clone(), |func, pass| run_one(pass, &func));
    run_one(last, &func)
}

fn of_stage(stage: Stage) -> impl Iterator<Item = &'static Pass> {
    REGISTRY.iter().filter(move |pass| pass.stage == stage)
}

/// One pass, its result verified in debug builds.
///
/// # Panics
/// In debug builds, when the result is not valid IR: a bug of the pass.
pub fn run_one(pass: &Pass, func: &Func) -> Func {
    let result = (pass.run)(func);
    #[cfg(debug_assertions)]
    if let Err(e) = verify(&result) {
        panic!("after {}: {e}\n{result}", pass.name);
    }
    result
}
