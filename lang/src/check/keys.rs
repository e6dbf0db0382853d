//! A key is used once: the flow of keys through a checked body.
//!
//! A key is used up by a random function, by a function that uses it up, and by being stored. Fields of records and
//! elements of key arrays at different constant positions are different keys. `let` gives a key another name.
//! Branches join; a loop's body is followed twice, so that what its second round meets is seen.

use super::problem::{Problem, Repeat};
use crate::source::Sources;
use crate::span::Span;
use crate::typed::{
    Block, Body, Builtin, Callee, Effect, Elem, ElemTy, Expr, ExprKind, FnDef, ForIter, IndexItem,
    Lambda, Local, LocalId, Pattern, PrintPiece, Static, Stmt, StmtKind, TransformKind, Ty,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Which parameters a function uses a key of up.
#[derive(Clone, Debug, Default)]
pub struct KeyFacts {
    pub consumes: Vec<bool>,
}

/// Loops nested deeper than this are followed once only.
const MAX_NESTING: u32 = 6;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Step {
    Field(usize),
    At(i64),
    /// At the value of a variable.
    AtLocal(LocalId),
}

/// A variable, and the way down to a key in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Place {
    local: LocalId,
    steps: Vec<Step>,
}

impl Place {
    fn of(local: LocalId) -> Place {
        Place {
            local,
            steps: Vec::new(),
        }
    }

    fn then(mut self, step: Step) -> Place {
        self.steps.push(step);
        self
    }

    /// Whether one holds the other.
    fn overlaps(&self, other: &Place) -> bool {
        self.local == other.local && self.steps.iter().zip(&other.steps).all(|(a, b)| a == b)
    }

    fn mentions_from(&self, floor: LocalId) -> bool {
        self.local >= floor
            || self
                .steps
                .iter()
                .any(|s| matches!(s, Step::AtLocal(id) if *id >= floor))
    }
}

/// The uses so far, each with the place in the source.
type Used = BTreeMap<Place, Span>;

struct Flow<'f> {
    locals: &'f [Local],
    known: &'f [KeyFacts],
    sources: &'f Sources,
    used: Used,
    alias: HashMap<LocalId, Place>,
    repeat: Option<Repeat>,
    nesting: u32,
    reported: HashSet<Span>,
    problems: Vec<Problem>,
}

/// Follows the keys of a function: what it uses up, and what is wrong.
pub fn of_fn(def: &FnDef, known: &[KeyFacts], sources: &Sources) -> (KeyFacts, Vec<Problem>) {
    let mut consumes = vec![false; def.params.len()];
    if !has_keys(&def.body) {
        return (KeyFacts { consumes }, Vec::new());
    }
    let mut flow = Flow::new(&def.body.locals, known, sources);
    flow.block(&def.body.block, true);
    for (i, param) in def.params.iter().enumerate() {
        consumes[i] = flow.used.keys().any(|p| p.local == param.local);
    }
    (KeyFacts { consumes }, flow.problems)
}

pub fn of_body(body: &Body, known: &[KeyFacts], sources: &Sources) -> Vec<Problem> {
    if !has_keys(body) {
        return Vec::new();
    }
    let mut flow = Flow::new(&body.locals, known, sources);
    flow.block(&body.block, false);
    flow.problems
}

/// Without a variable that holds a key no key can be used twice.
fn has_keys(body: &Body) -> bool {
    body.locals.iter().any(|l| holds_key(&l.ty))
}

fn holds_key(ty: &Ty) -> bool {
    match ty {
        Ty::Tensor(elem, _) => *elem == ElemTy::Known(Elem::Key),
        Ty::Tuple(parts) => parts.iter().any(holds_key),
        Ty::Record(fields) => fields.iter().any(|(_, t)| holds_key(t)),
        Ty::Tree { .. } | Ty::Fn(..) | Ty::Var(_) | Ty::Error => false,
    }
}

impl<'f> Flow<'f> {
    fn new(locals: &'f [Local], known: &'f [KeyFacts], sources: &'f Sources) -> Self {
        Flow {
            locals,
            known,
            sources,
            used: Used::new(),
            alias: HashMap::new(),
            repeat: None,
            nesting: 0,
            reported: HashSet::new(),
            problems: Vec::new(),
        }
    }

    fn place(&self, e: &Expr) -> Option<Place> {
        match &e.kind {
            ExprKind::Local(id) => Some(match self.alias.get(id) {
                Some(place) => place.clone(),
                None => Place::of(*id),
            }),
            ExprKind::Field(base, i) => Some(self.place(base)?.then(Step::Field(*i))),
            ExprKind::Builtin {
                builtin: Builtin::Index,
                args,
                attrs,
            } => {
                let base = self.place(args.first()?)?;
                let Some(Static::Index(items)) = attrs.first().map(|a| &a.value) else {
                    return None;
                };
                match (items.as_slice(), args.get(1).map(|a| &a.kind)) {
                    ([IndexItem::At(d)], _) => Some(base.then(Step::At(d.as_int()?))),
                    ([IndexItem::Tensor], Some(ExprKind::Local(id))) => {
                        Some(base.then(Step::AtLocal(*id)))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Uses the keys of an expression up.
    fn consume(&mut self, e: &Expr) {
        if !holds_key(&e.ty) {
            self.visit(e);
            return;
        }
        if let Some(place) = self.place(e) {
            self.visit_inside(e);
            self.use_up(place, e.span);
            return;
        }
        match &e.kind {
            // What a block or a branch gives is used up there.
            ExprKind::Block(block) => self.block(block, true),
            ExprKind::If {
                cond,
                then,
                otherwise,
                ..
            } => {
                self.visit(cond);
                self.branches(then, otherwise, true);
            }
            ExprKind::Fields(parts) => parts.iter().for_each(|p| self.consume(p)),
            _ => self.visit(e),
        }
    }

    /// The operands of a place: the positions in its brackets.
    fn visit_inside(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Field(base, _) => self.visit_inside(base),
            ExprKind::Builtin { args, .. } => {
                if let Some((base, positions)) = args.split_first() {
                    self.visit_inside(base);
                    positions.iter().for_each(|p| self.visit(p));
                }
            }
            _ => {}
        }
    }

    fn use_up(&mut self, place: Place, span: Span) {
        let earlier = self
            .used
            .iter()
            .find(|(p, _)| p.overlaps(&place))
            .map(|(_, at)| *at);
        if let Some(first) = earlier {
            if self.reported.insert(span) {
                self.problems.push(Problem::KeyReuse {
                    span,
                    key: self.sources.text(span).to_string(),
                    first,
                    repeats: self.repeat.filter(|_| first == span),
                });
            }
            return;
        }
        self.used.insert(place, span);
    }

    /// A variable that is assigned holds new keys.
    fn renew(&mut self, place: &Place) {
        self.used.retain(|p, _| !p.overlaps(place));
    }

    fn visit(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::Dim(_)
            | ExprKind::Local(_)
            | ExprKind::Host(_) => {}
            ExprKind::Fields(parts) => parts.iter().for_each(|p| self.consume(p)),
            ExprKind::Field(base, _) => self.visit(base),
            ExprKind::Builtin { builtin, args, .. } => {
                for (i, arg) in args.iter().enumerate() {
                    let stores = *builtin == Builtin::StackList || *builtin == Builtin::Stack;
                    if i == 0 && uses_key_up(*builtin) || stores {
                        self.consume(arg);
                    } else {
                        self.visit(arg);
                    }
                }
            }
            ExprKind::Call(callee, args) => {
                self.callee(callee, false);
                let consumes = self.consumed_by(callee);
                for (i, arg) in args.iter().enumerate() {
                    let used = consumes.as_ref().is_none_or(|c| c.get(i) != Some(&false));
                    if used {
                        self.consume(arg);
                    } else {
                        self.visit(arg);
                    }
                }
            }
            ExprKind::Function(callee) => self.callee(callee, true),
            ExprKind::Map { callees, trees } => {
                trees.iter().for_each(|t| self.consume(t));
                callees.iter().for_each(|c| self.callee(c, true));
            }
            ExprKind::Fold {
                callees,
                init,
                tree,
            } => {
                self.consume(init);
                self.consume(tree);
                callees.iter().for_each(|c| self.callee(c, true));
            }
            ExprKind::Scan { callee, init, xs } => {
                self.consume(init);
                self.consume(xs);
                self.callee(callee, true);
            }
            ExprKind::If {
                cond,
                then,
                otherwise,
                ..
            } => {
                self.visit(cond);
                self.branches(then, otherwise, false);
            }
            ExprKind::Block(block) => self.block(block, false),
        }
    }

    /// Which arguments a callee uses up; `None` for all.
    fn consumed_by(&self, callee: &Callee) -> Option<Vec<bool>> {
        match callee {
            Callee::Fn { id, .. } => self.known.get(id.0 as usize).map(|f| f.consumes.clone()),
            Callee::Lambda(_) | Callee::Local(_) => None,
            Callee::Transform(t) => match t.kind {
                // Their arguments come in tuples.
                TransformKind::Jvp { .. } | TransformKind::Vjp { .. } => None,
                TransformKind::Grad { .. }
                | TransformKind::Jacobian
                | TransformKind::Hessian
                | TransformKind::Vmap { .. }
                | TransformKind::Checkpoint => self.consumed_by(&t.callee),
            },
        }
    }

    /// The body of a function that stands here: called once, or any number of times.
    fn callee(&mut self, callee: &Callee, many: bool) {
        match callee {
            Callee::Fn { .. } | Callee::Local(_) => {}
            Callee::Lambda(lambda) => self.lambda(lambda, many),
            Callee::Transform(t) => {
                let many = many || matches!(t.kind, TransformKind::Vmap { .. });
                self.callee(&t.callee, many);
            }
        }
    }

    fn lambda(&mut self, lambda: &Lambda, many: bool) {
        let floor = lambda.params.iter().flat_map(locals_of).min();
        if many {
            self.repeatedly(Repeat::Lambda, floor, |flow| flow.consume(&lambda.body));
        } else {
            self.consume(&lambda.body);
        }
    }

    /// Follows `f` twice. What starts anew in each round is forgotten between.
    fn repeatedly(&mut self, repeat: Repeat, floor: Option<LocalId>, f: impl Fn(&mut Self)) {
        f(self);
        if self.nesting >= MAX_NESTING {
            return;
        }
        if let Some(floor) = floor {
            self.used.retain(|p, _| !p.mentions_from(floor));
        }
        let outer = self.repeat.replace(repeat);
        self.nesting += 1;
        f(self);
        self.nesting -= 1;
        self.repeat = outer;
    }

    fn branches(&mut self, then: &Block, otherwise: &Block, consumed: bool) {
        let before = self.used.clone();
        self.block(then, consumed);
        let after_then = std::mem::replace(&mut self.used, before);
        self.block(otherwise, consumed);
        for (place, span) in after_then {
            self.used.entry(place).or_insert(span);
        }
    }

    fn block(&mut self, block: &Block, consumed: bool) {
        block.stmts.iter().for_each(|s| self.stmt(s));
        if let Some(value) = &block.value {
            if consumed {
                self.consume(value);
            } else {
                self.visit(value);
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let { pattern, value } => self.bind(pattern, value),
            StmtKind::Assign { local, path, value } => {
                self.consume(value);
                let steps = path.iter().map(|i| Step::Field(*i)).collect();
                self.renew(&Place {
                    local: *local,
                    steps,
                });
            }
            StmtKind::For {
                pattern,
                iter,
                body,
                ..
            } => {
                match iter {
                    ForIter::Range(lo, hi) => {
                        self.visit(lo);
                        self.visit(hi);
                    }
                    ForIter::Over(e) => self.consume(e),
                }
                let floor = locals_of(pattern)
                    .into_iter()
                    .min()
                    .or_else(|| first_local(body));
                self.repeatedly(Repeat::Loop, floor, |flow| flow.block(body, false));
            }
            StmtKind::While { cond, body, .. } => {
                self.repeatedly(Repeat::Loop, first_local(body), |flow| {
                    flow.visit(cond);
                    flow.block(body, false);
                });
            }
            StmtKind::Expr(e) => self.visit(e),
            StmtKind::Effect(effect) => self.effect(effect),
        }
    }

    fn effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Print(pieces) => {
                for piece in pieces {
                    if let PrintPiece::Value { value, .. } = piece {
                        self.visit(value);
                    }
                }
            }
            Effect::Save { value, .. } => self.visit(value),
            Effect::Assert { cond, .. } => self.visit(cond),
            Effect::AssertClose {
                actual, expected, ..
            } => {
                self.visit(actual);
                self.visit(expected);
            }
        }
    }

    /// `let`: another name for the same keys, or new ones.
    fn bind(&mut self, pattern: &Pattern, value: &Expr) {
        let place = self.place(value).filter(|_| holds_key(&value.ty));
        let is_fixed = place
            .as_ref()
            .is_some_and(|p| !self.locals[p.local.0 as usize].mutable);
        let all_fixed = locals_of(pattern)
            .iter()
            .all(|id| !self.locals[id.0 as usize].mutable);
        match place {
            Some(place) if is_fixed && all_fixed => {
                self.visit_inside(value);
                let is_array = matches!(value.ty, Ty::Tensor(..));
                self.name(pattern, place, is_array);
            }
            _ => self.consume(value),
        }
        // A new round of a loop makes new keys.
        for id in locals_of(pattern) {
            if !self.alias.contains_key(&id) {
                self.renew(&Place::of(id));
            }
        }
    }

    fn name(&mut self, pattern: &Pattern, place: Place, is_array: bool) {
        match pattern {
            Pattern::Wild => {}
            Pattern::Local(id) => {
                self.alias.insert(*id, place);
            }
            Pattern::Fields(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    let step = match is_array {
                        true => Step::At(i as i64),
                        false => Step::Field(i),
                    };
                    self.name(part, place.clone().then(step), false);
                }
            }
        }
    }
}

fn uses_key_up(builtin: Builtin) -> bool {
    matches!(
        builtin,
        Builtin::Split
            | Builtin::Bits
            | Builtin::Uniform
            | Builtin::Normal
            | Builtin::Bernoulli
            | Builtin::RandInt
            | Builtin::Permutation
            | Builtin::Categorical
            | Builtin::TruncatedNormal
            | Builtin::Gumbel
            | Builtin::Dropout
    )
}

fn locals_of(pattern: &Pattern) -> Vec<LocalId> {
    match pattern {
        Pattern::Local(id) => vec![*id],
        Pattern::Wild => Vec::new(),
        Pattern::Fields(parts) => parts.iter().flat_map(locals_of).collect(),
    }
}

/// The first variable declared in a block: those declared later have higher numbers.
fn first_local(block: &Block) -> Option<LocalId> {
    block
        .stmts
        .iter()
        .flat_map(|s| match &s.kind {
            StmtKind::Let { pattern, .. } | StmtKind::For { pattern, .. } => locals_of(pattern),
            _ => Vec::new(),
        })
        .min()
}
