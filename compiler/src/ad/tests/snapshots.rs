//! What the emitted code looks like: source and result together.

use super::programs::{MLP_LOSS, checked, func};
use crate::transform;

#[test]
fn mlp_gradient() {
    let f = func(MLP_LOSS);
    let active = [true, true, true, true, false, false];
    let g = checked(transform::value_and_grad(&f, &active).expect("differentiable"));
    insta::assert_snapshot!(format!("{f}\n{g}"));
}
