//! The tokens that the grammar reads.
//!
//! Comments are not tokens, and a string is several of them: its text, and between [`Tok::InterpOpen`] and
//! [`Tok::InterpClose`] the tokens of each interpolated expression.

use crate::ast::Name;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockId(pub u32);

#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub tok: Tok,
    /// Byte range in the file.
    pub start: u32,
    pub end: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Tok {
    Ident(Name),
    Int(u128),
    Float(f64),
    True,
    False,
    /// `none` is no keyword of the language's list, but it is never a variable either.
    None,

    StrOpen,
    StrText(String),
    /// `{` in a string.
    InterpOpen,
    /// What stands between the `:` and the `}` of `{expr:.4f}`.
    InterpSpec(String),
    InterpClose,
    StrClose,

    Fn,
    Type,
    Const,
    Import,
    Main,
    Test,
    Let,
    Mut,
    For,
    In,
    While,
    If,
    Else,
    Return,
    // Words that mean something in one place only, and are names elsewhere.
    Mesh,
    As,
    Vjp,

    LParen,
    RParen,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    Comma,
    Semi,
    Colon,
    Dot,
    DotDot,
    Arrow,
    Assign,
    Bar,
    OrOr,
    AndAnd,
    EqEq,
    NotEq,
    Lt,
    Le,
    Gt,
    Ge,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    At,
    StarStar,
    Bang,

    /// A whole `{ … }` of statements, already parsed: the grammar sees one level of blocks at a time,
    /// so that an error in one never disturbs another.
    Block(BlockId),
    /// What was too deep to be read; reported already.
    Broken,
}

impl Tok {
    /// The word, for the reserved ones.
    pub fn keyword(&self) -> Option<&'static str> {
        Some(match self {
            Tok::Fn => "fn",
            Tok::Type => "type",
            Tok::Const => "const",
            Tok::Import => "import",
            Tok::Main => "main",
            Tok::Test => "test",
            Tok::Let => "let",
            Tok::Mut => "mut",
            Tok::For => "for",
            Tok::In => "in",
            Tok::While => "while",
            Tok::If => "if",
            Tok::Else => "else",
            Tok::Return => "return",
            Tok::True => "true",
            Tok::False => "false",
            Tok::None => "none",
            _ => return None,
        })
    }

    /// Whether an operand may end here, so that a `-` or `(` after it continues the expression.
    pub fn ends_operand(&self) -> bool {
        matches!(
            self,
            Tok::Ident(_)
                | Tok::Int(_)
                | Tok::Float(_)
                | Tok::True
                | Tok::False
                | Tok::None
                | Tok::StrClose
                | Tok::Mesh
                | Tok::As
                | Tok::Vjp
                | Tok::RParen
                | Tok::RBracket
                | Tok::RBrace
                | Tok::Block(_)
                | Tok::Broken
        )
    }

    /// Whether it is a name, the contextual words included.
    pub fn is_name(&self) -> bool {
        matches!(self, Tok::Ident(_) | Tok::Mesh | Tok::As | Tok::Vjp)
    }

    /// Whether only a statement begins with it.
    pub fn begins_statement(&self) -> bool {
        matches!(
            self,
            Tok::Let | Tok::Const | Tok::For | Tok::While | Tok::Return
        )
    }
}
