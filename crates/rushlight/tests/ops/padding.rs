//! Convolutions whose padding has a name.

use super::{of, range, refused, t};
use rushlight::{Kind, Result, Tensor};

#[test]
fn padding_by_name_gives_the_values_of_torch() -> Result<()> {
    let x = t(&[1., 2., 3., 4., 5., 6., 7.], &[1, 1, 7]);
    let w = t(&[1., 2., 3., 4.], &[1, 1, 4]);
    let at = |w: &Tensor, padding: &str, dilation: i64| x.conv1d_padded(w, None, 1, padding, dilation, 1);
    assert_eq!(of(&at(&w, "same", 1)?), [20., 30., 40., 50., 60., 38., 20.]);
    assert_eq!(of(&at(&w, "valid", 1)?), [30., 40., 50., 60.]);
    assert_eq!(of(&at(&w.narrow(2, 0, 2)?, "same", 3)?), [6., 9., 12., 15., 18., 5., 6.]);
    let image = range(&[1, 1, 3, 4]);
    let w2 = t(&[1., 2., 3., 4.], &[1, 1, 2, 2]);
    let y = image.conv2d_padded(&w2, None, 1, "same", 1, 1)?;
    assert_eq!(of(&y), [34., 44., 54., 24., 74., 84., 94., 40., 26., 29., 32., 11.]);
    // Unbatched, with a bias, and from a view.
    let y = image.squeeze(0)?.conv2d_padded(&w2, Some(&t(&[1.0], &[1])), 1, "same", 1, 1)?;
    assert_eq!((y.shape(), of(&y)[0]), (&[1, 3, 4][..], 35.0));
    let turned = image.transpose(2, 3)?.contiguous()?.transpose(2, 3)?;
    assert_eq!(of(&turned.conv2d_padded(&w2, None, 1, "same", 1, 1)?)[..4], [34., 44., 54., 24.]);
    Ok(())
}

#[test]
fn padding_by_name_refuses_what_does_not_fit() {
    let (x, w) = (range(&[1, 1, 7]), range(&[1, 1, 4]));
    refused(Kind::Runtime, "stride of 1", x.conv1d_padded(&w, None, 2, "same", 1, 1));
    refused(Kind::Runtime, "\"valid\"", x.conv1d_padded(&w, None, 1, "full", 1, 1));
    refused(Kind::Runtime, "", x.conv1d_padded(&w, None, 1, "same", 0, 1));
    refused(Kind::Runtime, "dimensions", x.conv1d_padded(&range(&[1, 4]), None, 1, "same", 1, 1));
    refused(Kind::Runtime, "", x.conv1d_padded(&range(&[1, 1, 0]), None, 1, "same", 1, 1));
    refused(Kind::Runtime, "too far", x.conv1d_padded(&w, None, 1, "same", 1i64 << 30, 1));
    refused(Kind::Runtime, "", x.conv1d_padded(&range(&[1, 2, 4]), None, 1, "same", 1, 1));
    refused(Kind::Runtime, "", x.conv1d_padded(&w, None, 2, "valid", 1i64 << 40, 1));
}
