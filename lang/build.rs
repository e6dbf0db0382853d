//! Generates the parser's tables from the grammar.

fn main() {
    let built = lalrpop::Configuration::new()
        .use_cargo_dir_conventions()
        .emit_rerun_directives(true)
        .process();
    if let Err(error) = built {
        eprintln!("the grammar: {error}");
        std::process::exit(1);
    }
}
