//! Arrays as nested lists.

use super::digits::format_scalar;
use crate::host::HostArray;

/// An array as a nested list, `[[1.0, 2.5], [nan, -inf]]`; an array of rank 0 as its element, `3`.
/// Nothing is left out, however long it gets.
pub fn nested(array: &HostArray) -> String {
    let mut elements = array
        .iter()
        .map(|element| format_scalar(array.dtype(), element));
    let mut text = String::new();
    push_axis(&mut text, array.shape(), &mut elements);
    text
}

fn push_axis(text: &mut String, shape: &[usize], elements: &mut impl Iterator<Item = String>) {
    let Some((&dim, rest)) = shape.split_first() else {
        // There are as many elements as the shape says, so this is never empty.
        text.push_str(&elements.next().unwrap_or_default());
        return;
    };
    text.push('[');
    for i in 0..dim {
        if i > 0 {
            text.push_str(", ");
        }
        push_axis(text, rest, elements);
    }
    text.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Element;

    fn show<T: Element>(shape: &[usize], elements: &[T]) -> String {
        nested(&HostArray::from_elements(shape, elements).unwrap())
    }

    #[test]
    fn arrays_print_as_the_language_says() {
        let inf = f32::INFINITY;
        assert_eq!(
            show(&[2, 2], &[1.0f32, 2.5, f32::NAN, -inf]),
            "[[1.0, 2.5], [nan, -inf]]"
        );
        assert_eq!(show(&[], &[3i32]), "3");
        assert_eq!(show(&[], &[true]), "true");
        assert_eq!(show(&[2], &[true, false]), "[true, false]");
        assert_eq!(show(&[2, 1, 2], &[1u8, 2, 3, 4]), "[[[1, 2]], [[3, 4]]]");
        assert_eq!(show::<f32>(&[0], &[]), "[]");
        assert_eq!(show::<f32>(&[2, 0], &[]), "[[], []]");
        assert_eq!(show::<f32>(&[0, 2], &[]), "[]");
    }
}
