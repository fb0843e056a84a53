//! Tensors print as torch prints them.

use rushlight::{DType, Result, Tensor};

#[test]
fn floats_choose_their_style() -> Result<()> {
    let t = |v: &[f32]| Tensor::from_slice(v, [v.len()]).map(|t| t.to_string());
    assert_eq!(t(&[1., 2., 3.])?, "tensor([1., 2., 3.])");
    assert_eq!(t(&[1.5, -2.25])?, "tensor([ 1.5000, -2.2500])");
    assert_eq!(t(&[1e-5, 1.0])?, "tensor([1.0000e-05, 1.0000e+00])");
    assert_eq!(t(&[f32::NAN, 1.0, f32::INFINITY])?, "tensor([nan, 1., inf])");
    assert_eq!(t(&[0.0, 0.0])?, "tensor([0., 0.])");
    assert_eq!(t(&[])?, "tensor([])");
    Ok(())
}

#[test]
fn shapes_dtypes_and_history_show() -> Result<()> {
    assert_eq!(Tensor::scalar(1.0)?.to_string(), "tensor(1.)");
    assert_eq!(Tensor::arange(0, 4, 1)?.reshape([2, 2])?.to_string(), "tensor([[0, 1],\n        [2, 3]])");
    assert_eq!(Tensor::zeros([0, 3])?.to_string(), "tensor([], size=(0, 3))");
    assert_eq!(Tensor::zeros_with([1], Some(DType::F64), None)?.to_string(), "tensor([0.], dtype=float64)");
    assert_eq!(Tensor::from_vec(vec![true, false], [2])?.to_string(), "tensor([ True, False])");
    let x = Tensor::ones([2])?.requires_grad_(true)?;
    assert_eq!(x.to_string(), "tensor([1., 1.], requires_grad=True)");
    assert_eq!(x.mul(2.0)?.to_string(), "tensor([2., 2.], grad_fn=<MulBackward0>)");
    Ok(())
}

#[test]
fn long_tensors_are_summarised_and_wrapped() -> Result<()> {
    assert_eq!(Tensor::arange(0, 2000, 1)?.to_string(), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])");
    let lines = Tensor::arange(0, 40, 1)?.to_string();
    assert!(lines.lines().all(|l| l.len() <= 80) && lines.lines().count() == 3, "{lines}");
    Ok(())
}

#[test]
fn a_tensor_that_cannot_be_read_says_so() -> Result<()> {
    let x = Tensor::from_vec(vec![1f32, 2.], [2])?;
    // Its own lock is held: reading it again would wait for itself.
    let text = x.with_slice::<f32, _>(|_| format!("{x}"))?;
    assert!(text.starts_with("tensor(<") && !text.contains("2."), "{text}");
    Ok(())
}

#[test]
fn functions_may_have_names_in_any_alphabet() -> Result<()> {
    use rushlight::grad::{Context, Function, apply};
    struct Named;
    impl Function for Named {
        fn name(&self) -> &'static str {
            "\u{e9}t\u{e9}_x"
        }
        fn forward(&self, _: &mut Context, x: &[Tensor]) -> Result<Vec<Tensor>> {
            Ok(vec![x[0].mul(2.0)?])
        }
        fn backward(&self, _: &Context, g: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
            Ok(g.to_vec())
        }
    }
    let x = Tensor::from_vec(vec![1f32], [1])?.requires_grad_(true)?;
    let text = format!("{}", apply(Named, &[&x])?[0]);
    assert!(text.contains("\u{c9}t\u{e9}XBackward0"), "{text}");
    Ok(())
}
