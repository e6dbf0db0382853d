//! The program of the front page parses without a word.

use tpuc_lang::span::FileId;

const MNIST: &str = include_str!("../../examples/mnist.tl");

#[test]
fn mnist_parses() {
    let parsed = tpuc_lang::parse(FileId(0), MNIST);
    assert_eq!(parsed.diagnostics, []);
    assert_eq!(parsed.module.items.len(), 14);
    assert_eq!(parsed.comments.len(), 2);
}
