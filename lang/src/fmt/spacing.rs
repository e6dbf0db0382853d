//! Whether a space stands between two neighbouring tokens.

use super::tokens::{Piece, Role};
use crate::lexer::token::Tok;

pub fn space_between(a: &Piece, b: &Piece) -> bool {
    let never_before = matches!(
        b.tok,
        Tok::Comma | Tok::Semi | Tok::RParen | Tok::RBracket | Tok::Colon | Tok::Dot
    );
    let never_after = matches!(a.tok, Tok::LParen | Tok::LBracket | Tok::Dot)
        || matches!(a.role, Role::Unary | Role::BarOpen);
    if never_before || never_after || b.role == Role::BarClose {
        return false;
    }
    if a.role == Role::Tight || b.role == Role::Tight {
        return false;
    }
    if a.tok == Tok::Comma {
        return true;
    }
    if a.tok == Tok::DotDot || b.tok == Tok::DotDot {
        return false;
    }
    match b.tok {
        Tok::LParen | Tok::LBracket => {
            b.starts_statement || !(a.tok.ends_operand() || a.tok == Tok::Fn)
        }
        _ => true,
    }
}
