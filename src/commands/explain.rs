//! `tpuc explain CODE`: the page of an error code.

use crate::failure::Failure;

pub fn explain(code: &str) -> Result<(), Failure> {
    let wanted = code.to_ascii_uppercase();
    match tpuc_lang::pages::page(&wanted) {
        Some(text) => {
            print!("{text}");
            Ok(())
        }
        None => Err(Failure::Usage(format!(
            "there is no code `{code}`; docs/errors lists them"
        ))),
    }
}
