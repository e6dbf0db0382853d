//! Readable text for what each stage of the front makes: `dump-hlo --stage tokens|ast|typed`.

mod ast;
mod tokens;
pub mod typed;

pub use ast::ast;
pub use tokens::tokens;
