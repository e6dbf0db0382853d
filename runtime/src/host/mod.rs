//! Arrays in host memory: element types, shapes, bytes and single elements.
//!
//! Everything that enters or leaves a device, a data file or a checkpoint is a [`HostArray`]. There is
//! no arithmetic here: values are computed on devices.

mod array;
mod bytes;
mod dtype;
mod placement;
mod scalar;

pub use array::{Element, HostArray};
pub use bytes::Bytes;
pub use dtype::{DType, Kind, TensorSpec};
pub use placement::Placement;
pub use scalar::Scalar;
