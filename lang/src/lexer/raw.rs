//! The two lexical languages, code and the inside of strings, as logos sees them.

use logos::Logos;

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f]+")]
pub enum Code {
    #[regex("#[^\n]*", allow_greedy = true)]
    Comment,
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Word,
    #[regex("[0-9][0-9_]*", priority = 20)]
    Int,
    #[regex("0[xX][0-9a-fA-F_]+", priority = 20)]
    Hex,
    #[regex(r"[0-9][0-9_]*\.[0-9][0-9_]*([eE][+-]?[0-9][0-9_]*)?", priority = 20)]
    #[regex(r"[0-9][0-9_]*[eE][+-]?[0-9][0-9_]*", priority = 20)]
    Float,
    /// Starts like a number and goes on like a word: `12abc`, `0b1`, `1.0f32`.
    #[regex(r"[0-9][0-9A-Za-z_]*(\.[0-9][0-9A-Za-z_]*)?", priority = 1)]
    BadNumber,
    #[token("\"")]
    Quote,

    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token(",")]
    Comma,
    #[token(";")]
    Semi,
    #[token(":")]
    Colon,
    #[token(".")]
    Dot,
    #[token("..")]
    DotDot,
    #[token("->")]
    Arrow,
    #[token("=")]
    Assign,
    #[token("|")]
    Bar,
    #[token("||")]
    OrOr,
    #[token("&&")]
    AndAnd,
    #[token("==")]
    EqEq,
    #[token("!=")]
    NotEq,
    #[token("<")]
    Lt,
    #[token("<=")]
    Le,
    #[token(">")]
    Gt,
    #[token(">=")]
    Ge,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("@")]
    At,
    #[token("**")]
    StarStar,
    #[token("!")]
    Bang,

    /// Operators of other languages, told apart so that their error can name the one to use here.
    #[regex(r"(\+|-|\*|/|%|@|\*\*|//)=", priority = 5)]
    OpAssign,
    #[token("//")]
    SlashSlash,
    #[token("=>")]
    FatArrow,
    #[token("&")]
    Amp,
    #[token("^")]
    Caret,
    /// Text as other languages write it, on one line.
    #[regex(r#"'[^'"\r\n]*'"#)]
    SingleQuoted,
    /// Letters that are not ASCII.
    #[regex(r"[^\x00-\x7F]+")]
    NonAscii,
}

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
pub enum InString {
    #[regex(r#"[^"{}\\\n]+"#)]
    Text,
    #[regex(r"\\[^\n]")]
    Escape,
    #[regex(r"\\u\{[0-9a-fA-F]*\}")]
    Unicode,
    /// A backslash before the end of the line.
    #[token("\\")]
    Backslash,
    #[token("{{")]
    OpenBraces,
    #[token("}}")]
    CloseBraces,
    #[token("{")]
    Open,
    #[token("}")]
    Close,
    #[token("\"")]
    Quote,
    #[token("\n")]
    Newline,
}
