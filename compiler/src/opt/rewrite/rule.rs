//! What a rule is, and the compiled set of rules of a level. `rules/README.md` says what makes a rule legal.

use super::build::Rw;
use super::matcher::{Match, Matcher};
use super::pattern::Pattern;
use crate::ir::literal::decode_f64;
use crate::ir::types::Elem;
use crate::opt::Level;
use crate::opt::graph::{Facts, Graph};
use egg::Id;
use std::sync::LazyLock;

/// How much a rule may change results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Bit-identical for every input, NaN, infinities and signed zero included.
    Exact,
    /// Rounding, or the sign of a zero, may move, harmlessly enough for the default level; each such rule is listed
    /// in `docs/optimiser.md`.
    Harmless,
    /// Rounding may move.
    Reassoc,
    /// Assumes finite values without overflow.
    Fast,
}

impl Class {
    pub fn name(self) -> &'static str {
        match self {
            Class::Exact => "exact",
            Class::Harmless => "harmless",
            Class::Reassoc => "reassoc",
            Class::Fast => "fast",
        }
    }

    /// The lowest level that applies it.
    pub fn level(self) -> Level {
        match self {
            Class::Exact | Class::Harmless => Level::Default,
            Class::Reassoc | Class::Fast => Level::Aggressive,
        }
    }
}

/// A directed rewrite.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub name: &'static str,
    pub class: Class,
    pub left: &'static str,
    pub right: Right,
    /// Conditions on the letters: `int x, pow2 C`.
    pub when: &'static str,
}

/// What the left side becomes.
#[derive(Clone, Copy, Debug)]
pub enum Right {
    /// A pattern over the letters of the left side.
    Pattern(&'static str),
    /// What attributes have to be computed for: said in words, and built. `None` where the rule does not apply.
    Build(&'static str, fn(&mut Rw) -> Option<Id>),
}

impl Rule {
    pub const fn new(
        name: &'static str,
        class: Class,
        left: &'static str,
        right: &'static str,
    ) -> Rule {
        Rule {
            name,
            class,
            left,
            right: Right::Pattern(right),
            when: "",
        }
    }

    pub const fn build(
        name: &'static str,
        class: Class,
        left: &'static str,
        says: &'static str,
        build: fn(&mut Rw) -> Option<Id>,
    ) -> Rule {
        Rule {
            name,
            class,
            left,
            right: Right::Build(says, build),
            when: "",
        }
    }

    /// The rule, only where these conditions hold.
    pub const fn when(self, when: &'static str) -> Rule {
        Rule { when, ..self }
    }

    /// The right side in words.
    pub fn says(&self) -> &'static str {
        match self.right {
            Right::Pattern(text) | Right::Build(text, _) => text,
        }
    }
}

/// A property of one value.
type Condition = fn(&Graph, Id) -> bool;

/// The conditions that rules may name.
pub const CONDITIONS: &[(&str, Condition)] = &[
    ("int", |g, x| g.data(x).ty().elem.is_int()),
    ("float", |g, x| g.data(x).ty().elem.is_float()),
    // XLA leaves out roundings to narrower floats between operations that it knows, so that such stay as they are.
    ("wide", |g, x| {
        let elem = g.data(x).ty().elem;
        elem.is_float() && elem.bits() >= 32
    }),
    ("bool", |g, x| g.data(x).ty().elem == Elem::Bool),
    ("signed", |g, x| g.data(x).ty().elem.is_signed_int()),
    ("unsigned", |g, x| g.data(x).ty().elem.is_unsigned_int()),
    ("const", |g, x| g.data(x).constant.is_some()),
    ("nonneg", |g, x| g.data(x).facts.has(Facts::NONNEG)),
    ("finite", |g, x| g.data(x).facts.has(Facts::FINITE)),
    ("no_nan", |g, x| g.data(x).facts.has(Facts::NO_NAN)),
    ("not_neg_zero", |g, x| {
        g.data(x).facts.has(Facts::NOT_NEG_ZERO)
    }),
    ("pow2", is_power_of_two),
    ("positive", |g, x| value(g, x).is_some_and(|v| v > 0.0)),
    ("nonzero", |g, x| value(g, x).is_some_and(|v| v != 0.0)),
];

fn value(graph: &Graph, id: Id) -> Option<f64> {
    let data = graph.data(id);
    data.splat().map(|bits| decode_f64(data.ty().elem, bits))
}

/// A constant whose reciprocal is exact and normal, as is the constant itself.
fn is_power_of_two(graph: &Graph, id: Id) -> bool {
    let limit = match graph.data(id).ty().elem {
        Elem::F64 => 1020,
        Elem::F32 | Elem::BF16 => 124,
        Elem::F16 => 12,
        _ => return false,
    };
    value(graph, id).is_some_and(|v| {
        let exponent = v.abs().log2();
        v.abs() == exponent.exp2() && exponent == exponent.trunc() && exponent.abs() <= limit as f64
    })
}

/// A rule with its patterns parsed.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub rule: &'static Rule,
    pub left: Pattern,
    pub matcher: Matcher,
    right: Option<Pattern>,
    pub when: Vec<(Condition, char)>,
}

impl Compiled {
    pub fn new(rule: &'static Rule) -> Result<Compiled, String> {
        let left = Pattern::parse(rule.left)?;
        let right = match rule.right {
            Right::Pattern(text) => Some(Pattern::parse(text)?),
            Right::Build(..) => None,
        };
        if let Some(right) = &right {
            binds_what_it_says(&left, right)?;
        }
        Ok(Compiled {
            rule,
            matcher: Matcher::new(&left)?,
            left,
            right,
            when: conditions(rule.when)?,
        })
    }

    /// Whether the conditions hold for a match.
    pub fn holds(&self, graph: &Graph, found: &Match) -> bool {
        self.when
            .iter()
            .all(|(condition, name)| found.var(*name).is_some_and(|id| condition(graph, id)))
    }

    /// Builds the right side for a match whose conditions hold; the class that the left side equals.
    pub fn apply(&self, graph: &mut Graph, found: &Match) -> Option<Id> {
        let mut rw = Rw::new(graph, found);
        match (&self.rule.right, &self.right) {
            (Right::Build(_, build), _) => build(&mut rw),
            (Right::Pattern(_), Some(pattern)) => rw.instantiate(pattern),
            (Right::Pattern(_), None) => None,
        }
    }
}

/// A letter bound to a primitive on the left stands for the same primitive, by the same name, on the right.
fn binds_what_it_says(left: &Pattern, right: &Pattern) -> Result<(), String> {
    let names = |side: &Pattern| {
        let mut all = Vec::new();
        side.visit(&mut |p| {
            if let Pattern::Apply {
                kinds,
                bind: Some(name),
                ..
            } = p
            {
                all.push((*name, kinds.clone()));
            }
        });
        all
    };
    let bound = names(left);
    match names(right).into_iter().find(|r| !bound.contains(r)) {
        Some((name, _)) => Err(format!("`{name}` is not that on the left")),
        None => Ok(()),
    }
}

/// `int x, pow2 C`.
fn conditions(text: &str) -> Result<Vec<(Condition, char)>, String> {
    text.split(',')
        .map(str::trim)
        .filter(|t| !t.is_empty())
        .map(|t| {
            let (name, letter) = t
                .split_once(' ')
                .ok_or_else(|| format!("`{t}` names no letter"))?;
            let condition = CONDITIONS
                .iter()
                .find(|(n, _)| *n == name)
                .ok_or_else(|| format!("no condition is called `{name}`"))?;
            let letter = letter.chars().next().unwrap_or_default();
            Ok((condition.1, letter))
        })
        .collect()
}

/// The rules of a level, parsed, in the order of the registry.
pub struct RuleSet {
    pub rules: Vec<Compiled>,
}

impl RuleSet {
    pub fn of(level: Level) -> &'static RuleSet {
        static DEFAULT: LazyLock<RuleSet> = LazyLock::new(|| RuleSet::compile(Level::Default));
        static AGGRESSIVE: LazyLock<RuleSet> =
            LazyLock::new(|| RuleSet::compile(Level::Aggressive));
        static NONE: RuleSet = RuleSet { rules: Vec::new() };
        match level {
            Level::None => &NONE,
            Level::Default => &DEFAULT,
            Level::Aggressive => &AGGRESSIVE,
        }
    }

    fn compile(level: Level) -> RuleSet {
        let rules = crate::opt::rules::all()
            .filter(|rule| rule.class.level() <= level)
            // A test parses every rule, so none is lost here.
            .filter_map(|rule| Compiled::new(rule).ok())
            .collect();
        RuleSet { rules }
    }
}
