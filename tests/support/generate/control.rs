//! Blocks, branches, loops, and transforms.

use super::{Gen, Ty};

impl Gen {
    pub fn control(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        let float = ty.is_float();
        let text = match self.rng.below(13) {
            0..=1 => {
                let other = self.any_type();
                let e = self.expr(&other, depth);
                self.with(&[(&other, false)], |g, v| {
                    format!("{{ let {} = {e}; {} }}", v[0], g.expr(ty, depth))
                })
            }
            2 => {
                let c = self.expr(&Ty::new("bool", &[]), depth);
                format!(
                    "(if {c} {{ {} }} else {{ {} }})",
                    self.expr(ty, depth),
                    self.expr(ty, depth)
                )
            }
            3..=4 => {
                let init = self.expr(ty, depth);
                let n = self.rng.below(4);
                let index = Ty::new("i32", &[]);
                self.with(&[(ty, false), (&index, false)], |g, v| {
                    let body = g.expr(ty, depth);
                    format!(
                        "{{ let mut {0} = {init}; for {1} in 0..{n} {{ {0} = {body}; }} {0} }}",
                        v[0], v[1]
                    )
                })
            }
            5 => {
                let row = self.any_type();
                let n = self.size();
                let rows = self.expr(&row.of(&[&[n], &row.shape[..]].concat()), depth);
                let init = self.expr(ty, depth);
                self.with(&[(ty, false), (&row, false)], |g, v| {
                    let body = g.expr(ty, depth);
                    format!(
                        "{{ let mut {0} = {init}; for {1} in {rows} {{ {0} = {body}; }} {0} }}",
                        v[0], v[1]
                    )
                })
            }
            6 if !self.reverse => {
                let init = self.expr(ty, depth);
                let limit = self.index(&[]);
                let index = Ty::new("i32", &[]);
                self.with(&[(ty, false), (&index, false)], |g, v| {
                    let body = g.expr(ty, depth);
                    let (x, i) = (&v[0], &v[1]);
                    format!("{{ let mut {x} = {init}; let mut {i} = 0; while {i} < min({limit}, 3) {{ {x} = {body}; {i} = {i} + 1; }} {x} }}")
                })
            }
            7 => {
                let (carry, row) = (self.any_type(), self.any_type());
                let stacked = self.rng.below(2) == 0 && ty.rank() > 0;
                let n = if stacked { ty.shape[0] } else { self.size() };
                let (carry, y) = match stacked {
                    true => (carry, ty.of(&ty.shape[1..])),
                    false => (ty.clone(), row.clone()),
                };
                let init = self.expr(&carry, depth);
                let rows = self.expr(&row.of(&[&[n], &row.shape[..]].concat()), depth);
                self.with(&[(&carry, false), (&row, false)], |g, v| {
                    let body = format!("({}, {})", g.expr(&carry, depth), g.expr(&y, depth));
                    let which = usize::from(stacked);
                    format!("scan(|{}, {}| {body}, {init}, {rows}).{which}", v[0], v[1])
                })
            }
            8..=9 if ty.rank() > 0 => {
                let row = self.any_type();
                let rows = self.expr(&row.of(&[&ty.shape[..1], &row.shape[..]].concat()), depth);
                let out = ty.of(&ty.shape[1..]);
                self.with(&[(&row, false)], |g, v| {
                    format!("vmap(|{}| {})({rows})", v[0], g.expr(&out, depth))
                })
            }
            10..=11 if float => {
                let at = self.expr(ty, depth);
                let before = std::mem::replace(&mut self.reverse, true);
                let text = self.with(&[(ty, false)], |g, v| {
                    format!("grad(|{}| {})({at})", v[0], g.expr(&ty.of(&[]), depth + 1))
                });
                self.reverse = before;
                text
            }
            12 if float => {
                let from = ty.of(&self.shape());
                let (at, along) = (self.expr(&from, depth), self.expr(&from, depth));
                self.with(&[(&from, false)], |g, v| {
                    format!("jvp(|{}| {})({at}, {along}).1", v[0], g.expr(ty, depth))
                })
            }
            _ => return None,
        };
        Some(text)
    }
}
