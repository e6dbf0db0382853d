//! Products of matrices.

use super::Call;
use super::num::Num;
use crate::ir::{Builder, Value};

pub(super) fn matmul(b: &mut Builder, c: &Call) -> Value {
    b.matmul(c.args[0], c.args[1])
}
