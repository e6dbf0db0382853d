//! What becomes of random arrays, that they keep every bit, and where they are left alone.

use super::run;
use crate::interp::{Array, Precision, eval};
use crate::ir::Func;
use crate::ir::parse::parse;
use crate::ir::verify::verify;

/// A function that draws arrays of these shapes, each from two words of the parameter.
fn drawing(shapes: &[&str], recipe: &str) -> String {
    let mut body = String::new();
    let mut types = Vec::new();
    for (i, shape) in shapes.iter().enumerate() {
        let count: usize = shape
            .split(", ")
            .map(|n| n.parse::<usize>().expect(shape))
            .product();
        for word in 0..2 {
            let at = 2 * i + word;
            body += &format!(
                "  %s{at} = slice[start = [{at}], limit = [{next}], stride = [1]] %k : u32[1]
  %r{at} = reshape %s{at} : u32
  %w{at} = broadcast[dims = []] %r{at} : u32[{shape}]\n",
                next = at + 1
            );
        }
        body += &format!(
            "  %z{i} = constant 0 : u32[{shape}]
  %f{i} = iota[axis = 0] : u32[{count}]
  %c{i} = reshape %f{i} : u32[{shape}]
  %a{i}, %b{i} = threefry %w{low}, %w{high}, %z{i}, %c{i} : u32[{shape}], u32[{shape}]\n",
            low = 2 * i,
            high = 2 * i + 1
        );
        body += &recipe.replace('@', &i.to_string()).replace('#', shape);
        types.push(format!("f32[{shape}]"));
    }
    let results: Vec<String> = (0..shapes.len()).map(|i| format!("%e{i}")).collect();
    format!(
        "func draw(%k: u32[{}]) -> ({}) {{\n{body}  return {}\n}}",
        2 * shapes.len(),
        types.join(", "),
        results.join(", ")
    )
}

const NORMAL: &str = "  %x@ = xor %a@, %b@ : u32[#]
  %n@ = constant 9 : u32[#]
  %h@ = shr_logical %x@, %n@ : u32[#]
  %o@ = constant 1065353216 : u32[#]
  %m@ = or %h@, %o@ : u32[#]
  %u@ = bitcast %m@ : f32[#]
  %q@ = constant 1.5 : f32[#]
  %v@ = sub %u@, %q@ : f32[#]
  %g@ = barrier %v@ : f32[#]
  %i@ = erf_inv %g@ : f32[#]
  %t@ = constant 0.@5 : f32[#]
  %e@ = mul %i@, %t@ : f32[#]
";

const FLOATS: &str = "  %x@ = xor %a@, %b@ : u32[#]
  %v@ = convert %x@ : f32[#]
  %n@ = constant @.5 : f32[#]
  %e@ = mul %v@, %n@ : f32[#]
";

/// By a scalar of the array, a word of the parameter.
const SCALED: &str = "  %x@ = xor %a@, %b@ : u32[#]
  %v@ = convert %x@ : f32[#]
  %p@ = convert %r@ : f32
  %n@ = broadcast[dims = []] %p@ : f32[#]
  %d@ = mul %v@, %n@ : f32[#]
  %e@ = log %d@ : f32[#]
";

/// What becomes of a function, which has to give the same bits.
fn drawn(text: &str) -> (Func, Func) {
    let before = parse(text).expect(text);
    verify(&before).expect(text);
    let after = run(&before);
    if let Err(e) = verify(&after) {
        panic!("{e}\n{after}");
    }
    let words = before.input_types()[0].clone();
    let bits = (0..words.numel() as u64).map(|i| (i + 1).wrapping_mul(0x9E37_79B9) & 0xFFFF_FFFF);
    let key = [Array::from_bits(words, bits.collect())];
    let values = |func| eval(func, &key, Precision::Element).expect("evaluates");
    assert_eq!(values(&before), values(&after), "{after}");
    (before, after)
}

fn loops(func: &Func) -> usize {
    func.to_string().matches("scan[").count()
}

#[test]
fn arrays_of_other_shapes_and_scales_share_a_loop() {
    let (before, after) = drawn(&drawing(&["2, 3", "7", "5, 1"], NORMAL));
    insta::assert_snapshot!(format!("{before}-- draw_blocks -->\n{after}"));
}

#[test]
fn more_than_a_block() {
    let (_, after) = drawn(&drawing(&["200, 100", "16384", "3"], FLOATS));
    assert_eq!(loops(&after), 1, "{after}");
    assert!(
        after.to_string().contains("scan[length = 4, carry = 0]"),
        "{after}"
    );
}

#[test]
fn each_recipe_has_its_loop() {
    let text = drawing(&["4", "6"], NORMAL);
    // The second array's generator feeds another function.
    let (_, after) = drawn(&text.replace("%i1 = erf_inv", "%i1 = erf"));
    assert_eq!(loops(&after), 0, "{after}");
    let text = drawing(&["4", "6", "5"], NORMAL);
    let (_, after) = drawn(&text.replace("%i1 = erf_inv", "%i1 = erf"));
    assert_eq!(loops(&after), 1, "{after}");
}

#[test]
fn what_is_between_and_used_elsewhere_is_kept() {
    // The words of the first array are wanted too, so that no number of it can be made in the loop.
    let text = drawing(&["4", "6", "5"], FLOATS)
        .replace("-> (f32[4],", "-> (u32[4],")
        .replace("return %e0,", "return %a0,")
        .replace("%x1 = xor %a1, %b1", "%x1 = xor %a1, %a1");
    let (_, after) = drawn(&text);
    assert_eq!(loops(&after), 0, "{after}");
}

#[test]
fn a_key_that_is_drawn_comes_before_what_it_draws() {
    // Half of the second array's key is a number of the first array.
    let text = drawing(&["2, 2", "4"], FLOATS).replace(
        "%w2 = broadcast[dims = []] %r2 ",
        "%y0 = slice[start = [1, 0], limit = [2, 1], stride = [1, 1]] %x0 : u32[1, 1]
  %y1 = reshape %y0 : u32
  %w2 = broadcast[dims = []] %y1 ",
    );
    let (_, after) = drawn(&text);
    assert_eq!(loops(&after), 0, "{after}");
}

#[test]
fn scalars_of_each_draw_are_its_own() {
    let (_, after) = drawn(&drawing(&["4", "3, 2"], SCALED));
    assert_eq!(loops(&after), 1, "{after}");
}

#[test]
fn a_scalar_that_is_drawn_comes_before_what_it_scales() {
    let (_, after) = drawn(&drawing(&["4", "6"], SCALED).replace(
        "%p1 = convert %r1 ",
        "%t1 = reduce_sum[axes = [0]] %e0 : f32
  %p1 = add %t1, %t1 ",
    ));
    assert_eq!(loops(&after), 0, "{after}");
}

#[test]
fn other_positions_are_left_alone() {
    let text = drawing(&["4", "6"], FLOATS);
    let (_, after) = drawn(&text.replace("%z1 = constant 0", "%z1 = constant 1"));
    assert_eq!(loops(&after), 0, "{after}");
    let (_, after) =
        drawn(&text.replace("threefry %w2, %w3, %z1, %c1", "threefry %w2, %c1, %z1, %c1"));
    assert_eq!(loops(&after), 0, "{after}");
}

#[test]
fn large_arrays_keep_their_kernels() {
    let text = drawing(&["4194305", "6"], FLOATS);
    let before = parse(&text).expect("parses");
    assert_eq!(loops(&run(&before)), 0);
}
