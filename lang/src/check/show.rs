//! Types as the user would write them: with the names of their own types, dimensions and constants.

use super::subst::Subst;
use crate::ast::{GenericKind, Name};
use crate::typed::{Atom, Dim, Elem, ElemTy, Generic, GenericArg, GenericId, ShapeItem, Ty};
use std::collections::HashMap;

/// A named type that messages may use: as it is reached from the file, and what it stands for.
#[derive(Clone, Debug)]
pub struct Alias {
    pub shown: String,
    pub generics: Vec<Generic>,
    pub ty: Ty,
}

/// What printing types takes: the names of the rigid parameters, and the aliases in scope.
#[derive(Clone, Debug, Default)]
pub struct Names {
    pub generics: Vec<Name>,
    /// What the element variables of literals would become, by their numbers.
    pub literals: HashMap<u32, Elem>,
    pub aliases: std::rc::Rc<Vec<Alias>>,
}

impl Names {
    /// With where the sizes come from: `f32[HID=256, 10]`.
    pub fn ty(&self, ty: &Ty) -> String {
        Printer {
            names: self,
            origins: true,
        }
        .ty(ty)
    }

    /// Sizes only: `f32[256, 10]`.
    pub fn plain(&self, ty: &Ty) -> String {
        Printer {
            names: self,
            origins: false,
        }
        .ty(ty)
    }

    pub fn dim(&self, dim: &Dim) -> String {
        Printer {
            names: self,
            origins: true,
        }
        .dim(dim)
    }

    pub fn plain_dim(&self, dim: &Dim) -> String {
        Printer {
            names: self,
            origins: false,
        }
        .dim(dim)
    }

    pub fn item(&self, item: &ShapeItem) -> String {
        Printer {
            names: self,
            origins: true,
        }
        .item(item)
    }

    pub fn shape(&self, shape: &[ShapeItem]) -> String {
        Printer {
            names: self,
            origins: true,
        }
        .shape(shape)
    }

    /// As a shape may be written in source; `None` where it holds a size that has no name there.
    pub fn written_shape(&self, shape: &[ShapeItem]) -> Option<String> {
        let printer = Printer {
            names: self,
            origins: false,
        };
        let has_name = |item: &ShapeItem| match item {
            ShapeItem::Dim(d) => !super::poly::has_elements(d),
            ShapeItem::Spread(_) => true,
            ShapeItem::LeafOf(_) | ShapeItem::Var(_) => false,
        };
        shape.iter().all(has_name).then(|| printer.shape(shape))
    }

    pub fn elem(&self, elem: &ElemTy) -> String {
        Printer {
            names: self,
            origins: false,
        }
        .elem(elem)
    }
}

struct Printer<'n> {
    names: &'n Names,
    origins: bool,
}

impl Printer<'_> {
    fn ty(&self, ty: &Ty) -> String {
        if let Some(alias) = self.alias(ty) {
            return alias;
        }
        match ty {
            Ty::Tensor(elem, shape) if shape.is_empty() => self.elem(elem),
            Ty::Tensor(elem, shape) => format!("{}{}", self.elem(elem), self.shape(shape)),
            Ty::Tuple(fields) if fields.len() == 1 => format!("({},)", self.ty(&fields[0])),
            Ty::Tuple(fields) => format!("({})", self.list(fields)),
            Ty::Record(fields) => {
                let each: Vec<String> = fields
                    .iter()
                    .map(|(n, t)| format!("{n}: {}", self.ty(t)))
                    .collect();
                format!("{{ {} }}", each.join(", "))
            }
            Ty::Tree { param, leaf } => match leaf {
                None => self.param(*param),
                Some(leaf) => format!("{} with leaves {}", self.param(*param), self.ty(leaf)),
            },
            Ty::Fn(params, ret) => format!("fn({}) -> {}", self.list(params), self.ty(ret)),
            Ty::Var(_) | Ty::Error => "_".to_string(),
        }
    }

    fn list(&self, types: &[Ty]) -> String {
        let each: Vec<String> = types.iter().map(|t| self.ty(t)).collect();
        each.join(", ")
    }

    fn elem(&self, elem: &ElemTy) -> String {
        match elem {
            ElemTy::Known(e) => e.name().to_string(),
            ElemTy::Param(g) => self.param(*g),
            ElemTy::LeafOf(g) => format!("{}'s leaf", self.param(*g)),
            ElemTy::Var(v) => match self.names.literals.get(v) {
                Some(elem) => elem.name().to_string(),
                None => "_".to_string(),
            },
        }
    }

    fn shape(&self, shape: &[ShapeItem]) -> String {
        let each: Vec<String> = shape.iter().map(|i| self.item(i)).collect();
        format!("[{}]", each.join(", "))
    }

    fn item(&self, item: &ShapeItem) -> String {
        match item {
            ShapeItem::Dim(d) => self.dim(d),
            ShapeItem::Spread(g) => format!("..{}", self.param(*g)),
            ShapeItem::LeafOf(_) => "..".to_string(),
            ShapeItem::Var(_) => "..".to_string(),
        }
    }

    fn dim(&self, dim: &Dim) -> String {
        if let (Some(value), Some(origin), true) = (dim.as_int(), &dim.origin, self.origins) {
            return format!("{origin}={value}");
        }
        let mut out = String::new();
        // Products of parameters first, the constant last.
        let mut terms: Vec<(&[Atom], i64)> = dim.terms().collect();
        terms.sort_by_key(|(m, c)| (m.is_empty(), *c < 0));
        for (m, c) in terms {
            let sign = match (out.is_empty(), c < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            out.push_str(sign);
            let size = c.unsigned_abs();
            if m.is_empty() {
                out.push_str(&size.to_string());
                continue;
            }
            if size != 1 {
                out.push_str(&format!("{size}*"));
            }
            let atoms: Vec<String> = m.iter().map(|a| self.atom(a)).collect();
            out.push_str(&atoms.join("*"));
        }
        if out.is_empty() {
            out.push('0');
        }
        out
    }

    fn atom(&self, atom: &Atom) -> String {
        let operand = |d: &Dim| {
            let text = self.dim(d);
            if text.contains([' ', '*', '/']) {
                format!("({text})")
            } else {
                text
            }
        };
        match atom {
            Atom::Param(g) => self.param(*g),
            Atom::Elements(g) => format!("size(..{})", self.param(*g)),
            Atom::LeafElements(g) => format!("size({}'s leaf)", self.param(*g)),
            Atom::Var(_) => "_".to_string(),
            Atom::Quot(a, b) => format!("{}/{}", operand(a), operand(b)),
        }
    }

    fn param(&self, g: GenericId) -> String {
        match self.names.generics.get(g.0 as usize) {
            Some(name) => name.to_string(),
            None => "_".to_string(),
        }
    }

    /// The name of a record or tuple that one of the aliases stands for.
    fn alias(&self, ty: &Ty) -> Option<String> {
        if !matches!(ty, Ty::Record(_) | Ty::Tuple(_)) {
            return None;
        }
        self.names.aliases.iter().find_map(|alias| {
            let args = fit(alias, ty)?;
            if args.is_empty() {
                return Some(alias.shown.clone());
            }
            let args: Vec<String> = args.iter().map(|a| self.arg(a)).collect();
            Some(format!("{}[{}]", alias.shown, args.join(", ")))
        })
    }

    fn arg(&self, arg: &GenericArg) -> String {
        match arg {
            GenericArg::Dim(d) => self.dim(d),
            GenericArg::Spread(s) => {
                let each: Vec<String> = s.iter().map(|i| self.item(i)).collect();
                each.join(", ")
            }
            GenericArg::Tree(t) => self.ty(t),
            GenericArg::Elem(e) => self.elem(e),
        }
    }
}

/// The arguments with which the alias is exactly this type.
fn fit(alias: &Alias, ty: &Ty) -> Option<Vec<GenericArg>> {
    let mut found: Vec<Option<GenericArg>> = vec![None; alias.generics.len()];
    collect(&alias.ty, ty, alias, &mut found);
    let args: Vec<GenericArg> = found.into_iter().collect::<Option<_>>()?;
    (Subst::new(&args).ty(&alias.ty)? == *ty).then_some(args)
}

/// Reads arguments off wherever a parameter stands alone; [`fit`] checks the whole.
fn collect(template: &Ty, ty: &Ty, alias: &Alias, found: &mut Vec<Option<GenericArg>>) {
    match (template, ty) {
        (Ty::Tree { param, leaf: None }, t) => {
            found[param.0 as usize].get_or_insert(GenericArg::Tree(t.clone()));
        }
        (Ty::Tuple(x), Ty::Tuple(y)) => {
            x.iter()
                .zip(y)
                .for_each(|(x, y)| collect(x, y, alias, found));
        }
        (Ty::Record(x), Ty::Record(y)) => {
            let pairs = x.iter().zip(y);
            pairs.for_each(|((_, x), (_, y))| collect(x, y, alias, found));
        }
        (Ty::Tensor(d, s), Ty::Tensor(e, t)) => {
            if let ElemTy::Param(g) = d {
                found[g.0 as usize].get_or_insert(GenericArg::Elem(e.clone()));
            }
            collect_shape(s, t, alias, found);
        }
        _ => {}
    }
}

fn collect_shape(
    s: &[ShapeItem],
    t: &[ShapeItem],
    alias: &Alias,
    found: &mut [Option<GenericArg>],
) {
    let spread = s.iter().position(|i| {
        matches!(i, ShapeItem::Spread(g) if alias.generics[g.0 as usize].kind == GenericKind::Spread)
    });
    let (head, tail) = match spread {
        Some(at) if t.len() + 1 >= s.len() => {
            let end = t.len() - (s.len() - at - 1);
            if let ShapeItem::Spread(g) = s[at] {
                found[g.0 as usize].get_or_insert(GenericArg::Spread(t[at..end].to_vec()));
            }
            (
                s[..at].iter().zip(&t[..at]),
                s[at + 1..].iter().zip(&t[end..]),
            )
        }
        _ => (s.iter().zip(t), [].iter().zip(&[])),
    };
    for (x, y) in head.chain(tail) {
        if let (ShapeItem::Dim(x), ShapeItem::Dim(y)) = (x, y)
            && let Some(Atom::Param(g)) = super::poly::single_atom(x)
        {
            found[g.0 as usize].get_or_insert(GenericArg::Dim(y.clone()));
        }
    }
}
