//! The walk over a checked body that follows its keys.

use super::known::{
    derives_keys, first_local, from_start, has_rigid_tree, known_int, shares, slice_of, uses_key_up,
};
use super::place::{Place, Ranges, Step};
use super::{KeyFacts, Path, holds_key, locals_of};
use crate::check::problem::{Problem, Repeat};
use crate::source::Sources;
use crate::span::Span;
use crate::typed::{
    Block, Body, Builtin, Callee, Effect, Expr, ExprKind, ForIter, IndexItem, Lambda, Local,
    LocalId, Param, Pattern, PrintPiece, Static, Stmt, StmtKind, TransformKind, Ty,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Loops nested deeper than this are followed once only.
const MAX_NESTING: u32 = 6;

/// The uses so far, each with the place in the source.
type Used = BTreeMap<Place, Span>;

pub struct Flow<'f> {
    locals: &'f [Local],
    known: &'f [KeyFacts],
    sources: &'f Sources,
    /// Whether tree parameters count as keys.
    trees: bool,
    used: Used,
    alias: HashMap<LocalId, Place>,
    ranges: Ranges,
    /// Function parameters that are called more than once.
    many: HashSet<LocalId>,
    repeat: Option<Repeat>,
    nesting: u32,
    reported: HashSet<Span>,
    pub problems: Vec<Problem>,
}

impl<'f> Flow<'f> {
    pub fn new(
        locals: &'f [Local],
        known: &'f [KeyFacts],
        sources: &'f Sources,
        trees: bool,
    ) -> Self {
        Flow {
            locals,
            known,
            sources,
            trees,
            used: Used::new(),
            alias: HashMap::new(),
            ranges: Ranges::new(),
            many: HashSet::new(),
            repeat: None,
            nesting: 0,
            reported: HashSet::new(),
            problems: Vec::new(),
        }
    }

    /// `returns`: whether the value of the body goes somewhere.
    pub fn body(&mut self, body: &Body, returns: bool) {
        self.block(&body.block, returns);
    }

    /// What a body that has been followed did with its parameters.
    pub fn facts(&self, params: &[Param]) -> KeyFacts {
        KeyFacts {
            uses: params.iter().map(|p| self.paths(p.local)).collect(),
            many: params
                .iter()
                .map(|p| self.many.contains(&p.local))
                .collect(),
        }
    }

    /// The keys used up in a variable. Of what is known here only, all that holds it counts.
    fn paths(&self, local: LocalId) -> Vec<Path> {
        let fixed = |step: &&Step| matches!(step, Step::Field(_) | Step::At(_));
        let mut out: Vec<Path> = self
            .used
            .keys()
            .filter(|p| p.local == local)
            .map(|p| p.steps.iter().take_while(fixed).cloned().collect())
            .collect();
        out.dedup();
        out
    }

    fn holds_key(&self, ty: &Ty) -> bool {
        holds_key(ty, self.trees)
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
                let array = args.first()?;
                let base = self.place(array)?;
                let Some(Static::Index(items)) = attrs.first().map(|a| &a.value) else {
                    return None;
                };
                match (items.as_slice(), args.get(1).map(|a| &a.kind)) {
                    ([IndexItem::At(d)], _) => {
                        let at = d.as_int()?;
                        Some(base.then(Step::At(from_start(at, &array.ty))))
                    }
                    ([IndexItem::Range { lo, hi, step: None }], _) => {
                        let (lo, hi) = slice_of(lo.as_ref(), hi.as_ref(), &array.ty)?;
                        Some(base.then(Step::Span(lo, hi)))
                    }
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
        self.pass(e, &[Path::new()]);
    }

    /// Uses up those keys of an expression that the paths lead to.
    fn pass(&mut self, e: &Expr, paths: &[Path]) {
        if paths.is_empty() || !self.holds_key(&e.ty) {
            self.visit(e);
            return;
        }
        if let Some(place) = self.place(e) {
            self.visit_inside(e);
            for path in paths {
                let mut inner = place.clone();
                inner.steps.extend(path.iter().cloned());
                self.use_up(inner, e.span);
            }
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
            ExprKind::Fields(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    let inner: Vec<Path> = paths
                        .iter()
                        .filter_map(|path| match path.split_first() {
                            None => Some(Path::new()),
                            Some((Step::Field(n), rest)) if *n == i => Some(rest.to_vec()),
                            Some(_) => None,
                        })
                        .collect();
                    self.pass(part, &inner);
                }
            }
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
            .find(|(p, _)| p.overlaps(&place, &self.ranges))
            .map(|(_, at)| *at);
        if let Some(first) = earlier {
            // Without a loop only a lambda can come by the same place again.
            let repeats = (first == span).then(|| self.repeat.unwrap_or(Repeat::Lambda));
            self.reuse(span, first, repeats);
            return;
        }
        self.used.insert(place, span);
    }

    fn reuse(&mut self, span: Span, first: Span, repeats: Option<Repeat>) {
        if self.reported.insert(span) {
            let key = self.sources.text(span).to_string();
            self.problems.push(Problem::KeyReuse {
                span,
                key,
                first,
                repeats,
            });
        }
    }

    /// A variable that is assigned holds new keys.
    fn renew(&mut self, place: &Place) {
        let ranges = &self.ranges;
        self.used.retain(|p, _| !p.overlaps(place, ranges));
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
                let stores = self.holds_key(&e.ty) && !derives_keys(*builtin);
                for (i, arg) in args.iter().enumerate() {
                    if i == 0 && uses_key_up(*builtin) || stores {
                        self.consume(arg);
                    } else {
                        self.visit(arg);
                    }
                }
            }
            ExprKind::Call(callee, args) => self.call(callee, args),
            ExprKind::Function(callee) => self.callee(callee, true),
            ExprKind::Map { callees, trees } => {
                trees.iter().for_each(|t| self.consume(t));
                let many = trees.iter().any(|t| has_rigid_tree(&t.ty));
                callees.iter().for_each(|c| self.callee(c, many));
            }
            ExprKind::Fold {
                callees,
                init,
                tree,
            } => {
                self.consume(init);
                self.consume(tree);
                let many = has_rigid_tree(&tree.ty);
                callees.iter().for_each(|c| self.callee(c, many));
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

    fn call(&mut self, callee: &Callee, args: &[Expr]) {
        if let Callee::Lambda(lambda) = callee {
            for (param, arg) in lambda.params.iter().zip(args) {
                self.bind(param, arg);
            }
            self.consume(&lambda.body);
            return;
        }
        self.callee(callee, false);
        let uses = self.uses_of(callee);
        for (i, arg) in args.iter().enumerate() {
            let is_used = uses
                .as_ref()
                .is_none_or(|u| u.get(i).is_some_and(|p| !p.is_empty()));
            if is_used && shares(callee, i) && self.holds_key(&arg.ty) {
                self.reuse(arg.span, arg.span, Some(Repeat::Map));
            }
            match (&arg.kind, &uses) {
                (ExprKind::Function(f), _) => {
                    let many = self.calls_many(callee, i);
                    self.callee(f, many);
                }
                (_, Some(uses)) => self.pass(arg, uses.get(i).map_or(&[], Vec::as_slice)),
                (_, None) => self.consume(arg),
            }
        }
    }

    /// The keys of its arguments that a callee uses up; `None` for all. A lambda has been followed already.
    fn uses_of(&self, callee: &Callee) -> Option<Vec<Vec<Path>>> {
        match callee {
            Callee::Fn { id, .. } => self.known.get(id.0 as usize).map(|f| f.uses.clone()),
            Callee::Local(_) => None,
            Callee::Lambda(lambda) => Some(
                lambda
                    .params
                    .iter()
                    .map(|param| match param {
                        Pattern::Local(id) => self.paths(*id),
                        param => {
                            let mut parts = locals_of(param).into_iter();
                            let used = parts.any(|id| !self.paths(id).is_empty());
                            used.then(Path::new).into_iter().collect()
                        }
                    })
                    .collect(),
            ),
            Callee::Transform(t) => {
                let uses = self.uses_of(&t.callee)?;
                Some(match t.kind {
                    TransformKind::Jvp { tuple: true } | TransformKind::Vjp { tuple: true } => {
                        let fields = uses.iter().enumerate().flat_map(|(i, paths)| {
                            paths.iter().map(move |path| {
                                let mut whole = vec![Step::Field(i)];
                                whole.extend(path.iter().cloned());
                                whole
                            })
                        });
                        vec![fields.collect()]
                    }
                    // A position in a row is one in every row.
                    TransformKind::Vmap { .. } => uses
                        .into_iter()
                        .map(|paths| match paths.is_empty() {
                            true => paths,
                            false => vec![Path::new()],
                        })
                        .collect(),
                    TransformKind::Jvp { tuple: false }
                    | TransformKind::Vjp { tuple: false }
                    | TransformKind::Grad { .. }
                    | TransformKind::Jacobian
                    | TransformKind::Hessian
                    | TransformKind::Checkpoint => uses,
                })
            }
        }
    }

    /// Whether a callee may call the function it is given as an argument more than once.
    fn calls_many(&self, callee: &Callee, i: usize) -> bool {
        match callee {
            Callee::Fn { id, .. } => {
                let facts = self.known.get(id.0 as usize);
                facts.is_none_or(|f| f.many.get(i) != Some(&false))
            }
            Callee::Lambda(_) | Callee::Local(_) | Callee::Transform(_) => true,
        }
    }

    /// The body of a function that stands here: called once, or any number of times.
    pub fn callee(&mut self, callee: &Callee, many: bool) {
        match callee {
            Callee::Fn { .. } => {}
            Callee::Local(id) => {
                let again = self
                    .used
                    .insert(Place::of(*id), self.locals[id.0 as usize].span);
                if many || again.is_some() {
                    self.many.insert(*id);
                }
            }
            Callee::Lambda(lambda) => self.lambda(lambda, many),
            Callee::Transform(t) => {
                let many = many || matches!(t.kind, TransformKind::Vmap { .. });
                self.callee(&t.callee, many);
            }
        }
    }

    fn lambda(&mut self, lambda: &Lambda, many: bool) {
        if many {
            let params = lambda.params.iter().flat_map(locals_of).collect();
            self.repeatedly(Repeat::Lambda, params, |flow| flow.consume(&lambda.body));
        } else {
            self.consume(&lambda.body);
        }
    }

    /// Follows `f` twice. `fresh` are the variables that start anew in each round; they are numbered before all that
    /// `f` declares.
    fn repeatedly(&mut self, repeat: Repeat, fresh: Vec<LocalId>, f: impl Fn(&mut Self)) {
        for id in &fresh {
            self.renew(&Place::of(*id));
        }
        f(self);
        if self.nesting >= MAX_NESTING {
            return;
        }
        let Some(floor) = fresh.iter().min().copied() else {
            self.again(repeat, f);
            return;
        };
        let first = self.used.clone();
        self.used.retain(|p, _| !p.mentions_from(floor));
        self.again(repeat, f);
        // What each round has used of an array is now used of it as a whole.
        // What a function has used of its parameters, its call uses of the arguments.
        let of_call = |id: LocalId| matches!(repeat, Repeat::Lambda) && fresh.contains(&id);
        for (place, span) in first.into_iter().chain(std::mem::take(&mut self.used)) {
            if place.local < floor || of_call(place.local) {
                let place = place.after_loop(floor, &self.ranges);
                self.used.entry(place).or_insert(span);
            }
        }
    }

    fn again(&mut self, repeat: Repeat, f: impl Fn(&mut Self)) {
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
                        if let (Pattern::Local(id), Some(lo), Some(hi)) =
                            (pattern, known_int(lo), known_int(hi))
                        {
                            self.ranges.insert(*id, (lo, hi));
                        }
                    }
                    ForIter::Over(e) => self.consume(e),
                    ForIter::Batches(b) => self.consume(&b.key),
                }
                let mut fresh = locals_of(pattern);
                if fresh.is_empty() {
                    fresh.extend(first_local(body));
                }
                self.repeatedly(Repeat::Loop, fresh, |flow| flow.block(body, false));
            }
            StmtKind::While { cond, body, .. } => {
                let fresh = first_local(body).into_iter().collect();
                self.repeatedly(Repeat::Loop, fresh, |flow| {
                    flow.visit(cond);
                    flow.block(body, false);
                });
            }
            StmtKind::Expr(e) => self.visit(e),
            StmtKind::Effect(effect) => self.effect(effect),
        }
    }

    fn pieces(&mut self, pieces: &[PrintPiece]) {
        for piece in pieces {
            if let PrintPiece::Value { value, .. } = piece {
                self.visit(value);
            }
        }
    }

    fn effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Print(pieces) | Effect::Debug(pieces) => self.pieces(pieces),
            Effect::Save { value, .. } => self.visit(value),
            Effect::Assert { cond, message } => {
                self.visit(cond);
                self.pieces(message);
            }
            Effect::Log { step, values } => {
                self.visit(step);
                values.iter().for_each(|(_, value)| self.visit(value));
            }
            Effect::AssertClose {
                actual, expected, ..
            } => {
                self.visit(actual);
                self.visit(expected);
            }
        }
    }

    /// `let`, or an argument of a lambda: another name for the same keys, or new ones.
    fn bind(&mut self, pattern: &Pattern, value: &Expr) {
        let names = locals_of(pattern);
        // Each round of a loop has new ones.
        for id in &names {
            self.alias.remove(id);
            self.renew(&Place::of(*id));
        }
        let fixed = |local: LocalId| !self.locals[local.0 as usize].mutable;
        let place = self
            .place(value)
            .filter(|p| self.holds_key(&value.ty) && fixed(p.local));
        match place {
            Some(place) if names.iter().all(|id| fixed(*id)) => {
                self.visit_inside(value);
                let is_array = matches!(value.ty, Ty::Tensor(..));
                self.name(pattern, place, is_array);
            }
            _ => self.consume(value),
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
