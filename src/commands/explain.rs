//! `tpuc explain CODE`: the page of an error code.

use crate::failure::Failure;
use include_dir::{Dir, include_dir};

static PAGES: Dir = include_dir!("$CARGO_MANIFEST_DIR/docs/errors");

pub fn explain(code: &str) -> Result<(), Failure> {
    let wanted = format!("{}.md", code.to_ascii_uppercase());
    match PAGES
        .get_file(&wanted)
        .and_then(|page| page.contents_utf8())
    {
        Some(text) => {
            print!("{text}");
            Ok(())
        }
        None => Err(Failure::Usage(format!(
            "there is no code `{code}`; the pages stand in docs/errors"
        ))),
    }
}
