//! What moves elements: shapes, slices, gathers, updates.

use super::{Gen, Ty};

impl Gen {
    pub fn arrays(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        let rank = ty.rank();
        let s = &ty.shape;
        let text = match self.rng.below(22) {
            0..=1 => {
                let mask = self.operand_mask(ty, depth);
                format!(
                    "where({mask}, {}, {})",
                    self.expr(ty, depth),
                    self.expr(ty, depth)
                )
            }
            2 => {
                let n: usize = s.iter().product();
                let from = self.rng.pick(&[0, 1, 2]);
                let shape = match from {
                    0 => vec![n],
                    1 => vec![1, n],
                    _ if n.is_multiple_of(2) => vec![2, n / 2],
                    _ => vec![n, 1],
                };
                format!("reshape({}, {s:?})", self.expr(&ty.of(&shape), depth))
            }
            3 if rank >= 2 => {
                let axis = self.rng.below(rank - 1);
                let mut shape = s.clone();
                shape.swap(axis, axis + 1);
                format!(
                    "swapaxes({}, {axis}, {})",
                    self.expr(&ty.of(&shape), depth),
                    axis + 1
                )
            }
            4 if rank == 3 => {
                let from = ty.of(&[s[1], s[2], s[0]]);
                format!("transpose({}, (2, 0, 1))", self.expr(&from, depth))
            }
            5 if rank >= 1 => {
                let f = self.rng.pick(&["flip", "roll"]);
                let axis = self.rng.below(rank);
                let x = self.expr(ty, depth);
                match f {
                    "flip" => format!("flip({x}, axis={axis})"),
                    _ => format!("roll({x}, {}, axis={axis})", self.rng.below(5)),
                }
            }
            6 if rank >= 1 => {
                let (before, after) = (self.rng.below(3), self.rng.below(2));
                let mut shape = s.clone();
                shape[0] += before + after;
                let x = self.expr(&ty.of(&shape), depth);
                format!("({x})[{before}:{}]", before + s[0])
            }
            7 if rank >= 1 && s[0] > 0 => {
                let mut shape = s.clone();
                shape[0] = 2 * s[0];
                let x = self.expr(&ty.of(&shape), depth);
                let from = self.rng.below(2);
                format!("({x})[{from}:{}:2]", from + 2 * s[0] - 1)
            }
            8 if rank >= 1 => {
                let axis = self.rng.below(rank);
                let first = self.rng.below(s[axis] + 1);
                let (mut a, mut b) = (s.clone(), s.clone());
                a[axis] = first;
                b[axis] -= first;
                let (a, b) = (self.expr(&ty.of(&a), depth), self.expr(&ty.of(&b), depth));
                format!("concat(({a}, {b}), axis={axis})")
            }
            9 if rank >= 1 => {
                let mut shape = s.clone();
                match self.rng.below(2) {
                    0 => {
                        shape.remove(0);
                    }
                    _ => shape[rank - 1] = 1,
                }
                format!("broadcast_to({}, {s:?})", self.expr(&ty.of(&shape), depth))
            }
            10 => {
                let n = 1 + self.rng.below(3);
                let x = self.expr(&ty.of(&[&[n], &s[..]].concat()), depth);
                match self.rng.below(2) {
                    0 => format!("({x})[{}]", self.rng.below(n)),
                    _ => format!("({x})[{}]", self.index(&[])),
                }
            }
            11 if rank >= 1 => {
                let n = 1 + self.rng.below(4);
                let x = self.expr(&ty.of(&[&[n], &s[1..]].concat()), depth);
                format!("({x})[{}]", self.index(&s[..1]))
            }
            12 if rank == 2 => {
                let n = 1 + self.rng.below(3);
                let x = self.expr(&ty.of(&[s[0], n]), depth);
                format!("take({x}, {}, axis=1)", self.index(&s[1..]))
            }
            13 if rank >= 1 && s[0] == 2 => {
                let part = ty.of(&s[1..]);
                format!("[{}, {}]", self.expr(&part, depth), self.expr(&part, depth))
            }
            14 if rank >= 1 && s[0] > 0 && ty.elem != "bool" => {
                let low = self.rng.below(s[0] + 1);
                let mut shape = s.clone();
                shape[0] -= low;
                let x = self.expr(&ty.of(&shape), depth);
                let rest = ", (0, 0)".repeat(rank - 1);
                match rank {
                    1 => format!("pad({x}, ({low}, 0), 1)"),
                    _ => format!("pad({x}, (({low}, 0){rest}), 1)"),
                }
            }
            15..=16 if rank >= 1 => {
                let f = match ty.elem {
                    "bool" => "set",
                    _ => self.rng.pick(&["set", "add_at"]),
                };
                let x = self.expr(ty, depth);
                let i = self.index(&[]);
                format!("{f}({x}, {i}, {})", self.expr(&ty.of(&s[1..]), depth))
            }
            17 if rank >= 1 && ty.elem != "bool" => {
                let n = self.size();
                let (x, i) = (self.expr(ty, depth), self.index(&[n]));
                format!(
                    "add_at({x}, {i}, {})",
                    self.expr(&ty.of(&[&[n], &s[1..]].concat()), depth)
                )
            }
            18 if rank >= 1 => {
                let x = self.expr(&ty.of(&[&[s[0] + 2], &s[1..]].concat()), depth);
                format!("slice({x}, {}, {})", self.index(&[]), s[0])
            }
            19 if rank == 2 => {
                let update = ty.of(&[s[0].min(1), s[1].min(2)]);
                let (x, u) = (self.expr(ty, depth), self.expr(&update, depth));
                format!(
                    "dynamic_update_slice({x}, {u}, ({}, {}))",
                    self.index(&[]),
                    self.index(&[])
                )
            }
            20 if rank == 2 => {
                let f = self.rng.pick(&["tril", "triu"]);
                format!("{f}({})", self.expr(ty, depth))
            }
            21 if rank == 2 && s[0] > 0 => {
                let n = 1 + self.rng.below(3);
                let x = self.expr(&ty.of(&[s[0], n]), depth);
                format!("take_along_axis({x}, {}, axis=1)", self.index(s))
            }
            _ => return None,
        };
        Some(text)
    }

    fn operand_mask(&mut self, ty: &Ty, depth: usize) -> String {
        let shape = match self.rng.below(3) {
            0 => &[][..],
            _ => &ty.shape[..],
        };
        self.expr(&Ty::new("bool", shape), depth)
    }
}
