//! Readable text for what each stage of the front makes: `dump-hlo --stage tokens|ast`.

mod ast;
mod tokens;

pub use ast::ast;
pub use tokens::tokens;
