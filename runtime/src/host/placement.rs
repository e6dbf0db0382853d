//! How an array lies on several devices: whole on each, or cut into equal parts.

use super::{Bytes, TensorSpec};

/// Which part of an array each device holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Sizes of the axes of the mesh, the slowest first, and the axis that each dimension is cut along, if any.
    mesh: Vec<usize>,
    axes: Vec<Option<usize>>,
    /// Into how many parts each dimension is cut; empty: the array is whole wherever it is.
    parts: Vec<usize>,
    /// For each device, which part it holds, along each dimension. Empty: one device.
    indices: Vec<Vec<usize>>,
}

impl Placement {
    /// On the devices of a mesh, whose axes have these sizes, the slowest first: each dimension is cut along an axis,
    /// or not. Dimensions left out are not.
    pub fn on_mesh(mesh: &[usize], axes: &[Option<usize>]) -> Placement {
        let cut = axes.iter().any(Option::is_some);
        let axes = if cut { axes } else { &[] };
        let devices: usize = mesh.iter().product();
        let place = |device: usize, axis: usize| {
            let faster: usize = mesh[axis + 1..].iter().product();
            device / faster % mesh[axis]
        };
        Placement {
            mesh: mesh.to_vec(),
            axes: axes.to_vec(),
            parts: axes.iter().map(|a| a.map_or(1, |a| mesh[a])).collect(),
            indices: (0..devices)
                .map(|d| axes.iter().map(|a| a.map_or(0, |a| place(d, a))).collect())
                .collect(),
        }
    }

    /// How many devices hold it.
    pub fn devices(&self) -> usize {
        self.indices.len().max(1)
    }

    /// Whether it is that of an array on one device.
    pub fn is_of_one_device(&self) -> bool {
        self.mesh.is_empty() && self.indices.is_empty()
    }

    pub fn is_whole(&self) -> bool {
        self.parts.iter().all(|&n| n == 1)
    }

    /// The type of a part. `None` where a dimension cannot be cut evenly.
    pub fn part_spec(&self, whole: &TensorSpec) -> Option<TensorSpec> {
        if self.parts.len() > whole.shape.len() {
            return None;
        }
        let mut shape = whole.shape.clone();
        for (dim, &parts) in shape.iter_mut().zip(&self.parts) {
            if !dim.is_multiple_of(parts) {
                return None;
            }
            *dim /= parts;
        }
        Some(TensorSpec::new(whole.dtype, shape))
    }

    /// The devices that hold different parts, one for each part.
    pub(crate) fn distinct(&self) -> Vec<usize> {
        let first = |&d: &usize| !self.indices[..d].contains(&self.indices[d]);
        (0..self.indices.len()).filter(first).collect()
    }

    /// Whether one of the others holds the same part as a device.
    pub(crate) fn holds_the_same(&self, device: usize, others: &[usize]) -> bool {
        others
            .iter()
            .any(|&d| self.indices[d] == self.indices[device])
    }

    /// The sizes of the axes of the mesh.
    pub(crate) fn mesh(&self) -> &[usize] {
        &self.mesh
    }

    /// For each dimension that is spoken of, the axis of the mesh that it is cut along, if any.
    pub(crate) fn axes(&self) -> &[Option<usize>] {
        &self.axes
    }

    /// On the same devices, whole on each.
    pub(crate) fn whole(&self) -> Placement {
        Placement::on_mesh(&self.mesh, &[])
    }

    /// The part of a device, taken out of the whole.
    pub(crate) fn take(&self, whole: &TensorSpec, bytes: &[u8], device: usize) -> Option<Bytes> {
        let part = self.part_spec(whole)?;
        let mut out = Bytes::zeroed(part.byte_len()?);
        self.runs(whole, &part, device, |at, from, len| {
            out.as_mut_slice()[at..at + len].copy_from_slice(&bytes[from..from + len]);
        });
        Some(out)
    }

    /// The part of a device, put where it belongs in the whole.
    pub(crate) fn put(&self, whole: &TensorSpec, bytes: &mut [u8], device: usize, part: &[u8]) {
        if let Some(spec) = self.part_spec(whole) {
            self.runs(whole, &spec, device, |at, to, len| {
                bytes[to..to + len].copy_from_slice(&part[at..at + len]);
            });
        }
    }

    /// Calls with (offset in the part, offset in the whole, length) of each stretch of bytes that lies together in
    /// both.
    fn runs(
        &self,
        whole: &TensorSpec,
        part: &TensorSpec,
        device: usize,
        mut run: impl FnMut(usize, usize, usize),
    ) {
        let cut = self.parts.iter().rposition(|&n| n > 1).unwrap_or(0);
        let rank = whole.shape.len();
        if rank == 0 || part.shape.contains(&0) {
            return run(0, 0, part.byte_len().unwrap_or(0));
        }
        let inner: usize = part.shape[cut + 1..].iter().product::<usize>() * whole.dtype.size();
        let len = part.shape[cut] * inner;
        let index = |dim: usize| self.indices[device].get(dim).copied().unwrap_or(0);
        let rows: usize = part.shape[..cut].iter().product();
        for row in 0..rows {
            // The row's place in the whole, from its place in the part, dimension by dimension.
            let (mut rest, mut place, mut stride) = (row, 0, whole.shape[cut]);
            for dim in (0..cut).rev() {
                let here = rest % part.shape[dim] + index(dim) * part.shape[dim];
                place += here * stride;
                (rest, stride) = (rest / part.shape[dim], stride * whole.shape[dim]);
            }
            place += index(cut) * part.shape[cut];
            run(row * len, place * inner, len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::DType;
    use super::*;

    /// Every device's part of 0, 1, 2, … of this shape.
    fn parts(shape: &[usize], mesh: &[usize], axes: &[Option<usize>]) -> Vec<Vec<u8>> {
        let spec = TensorSpec::new(DType::U8, shape);
        let bytes: Vec<u8> = (0..shape.iter().product::<usize>() as u8).collect();
        let placement = Placement::on_mesh(mesh, axes);
        let parts: Vec<Vec<u8>> = (0..placement.devices())
            .map(|d| {
                placement
                    .take(&spec, &bytes, d)
                    .unwrap()
                    .as_slice()
                    .to_vec()
            })
            .collect();
        let mut back = vec![0; bytes.len()];
        for d in placement.distinct() {
            placement.put(&spec, &mut back, d, &parts[d]);
        }
        assert_eq!(back, bytes, "the parts make the whole");
        parts
    }

    #[test]
    fn rows_and_columns_are_cut_and_put_together() {
        let rows = parts(&[4, 2], &[2], &[Some(0), None]);
        assert_eq!(rows, [[0, 1, 2, 3], [4, 5, 6, 7]]);
        let columns = parts(&[2, 4], &[2], &[None, Some(0)]);
        assert_eq!(columns, [[0, 1, 4, 5], [2, 3, 6, 7]]);
        let both = parts(&[2, 4], &[2, 2], &[Some(0), Some(1)]);
        assert_eq!(both, [[0, 1], [2, 3], [4, 5], [6, 7]]);
        let crossed = parts(&[2, 4], &[2, 2], &[Some(1), Some(0)]);
        assert_eq!(crossed, [[0, 1], [4, 5], [2, 3], [6, 7]]);
    }

    #[test]
    fn what_is_not_cut_is_whole_on_every_device() {
        assert_eq!(parts(&[3], &[2, 2], &[None]), [[0, 1, 2]; 4]);
        assert_eq!(parts(&[], &[2], &[]), [[0]; 2]);
        let half = parts(&[2, 1, 3], &[2, 2], &[Some(1)]);
        assert_eq!(half, [[0, 1, 2], [3, 4, 5], [0, 1, 2], [3, 4, 5]]);
        let middle = parts(&[2, 2, 2], &[2], &[None, Some(0), None]);
        assert_eq!(middle, [[0, 1, 4, 5], [2, 3, 6, 7]]);
        assert_eq!(parts(&[0, 4], &[2], &[None, Some(0)]), [[0u8; 0]; 2]);
    }

    #[test]
    fn what_does_not_divide_has_no_parts() {
        let placement = Placement::on_mesh(&[4], &[Some(0)]);
        assert_eq!(placement.part_spec(&TensorSpec::new(DType::F32, [6])), None);
        assert_eq!(placement.part_spec(&TensorSpec::new(DType::F32, [])), None);
    }
}
