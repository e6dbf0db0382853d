//! Drops what no result and no effect needs, in regions too: instructions, carries and slices of loops, results of branches.
//!
//! ```text
//! %1 = exp %0 : f32                                      %2 = scan[length = 8, carry = 1] %0 : f32 body(…, %3: f32) {
//! %2, %3 = scan[length = 8, carry = 2] %0, %0   →          %4 = add %3, %3 : f32
//!     : f32, f32 body(…) { … }                             yield %4
//! return %2                                              }
//!                                                        return %2
//! ```

use crate::ad::dce::eliminate;
use crate::ir::Func;

pub fn run(func: &Func) -> Func {
    eliminate(func)
}
