//! Names, modes and state of modules, and what layers compute.

use rushlight_core::{DType, Kind, Result, Tensor};
use rushlight_cpu as _;
use rushlight_nn::*;

fn network() -> Result<Sequential> {
    Ok(Sequential::new()
        .named(
            "conv",
            Conv2d::new(2, 4, [3, 3], ConvOptions { padding: 1.into(), groups: 2, ..Default::default() })?,
        )
        .named("norm", BatchNorm::new(4)?)
        .push(Relu)
        .push(MaxPool2d(2))
        .push(Flatten)
        .push(Dropout::new(0.5)?)
        .named("head", Sequential::new().push(Linear::without_bias(16, 3)?)))
}

#[test]
fn names_and_shapes() -> Result<()> {
    let net = network()?;
    let list: Vec<(String, Vec<usize>)> =
        net.named_parameters().into_iter().map(|(n, t)| (n, t.shape().to_vec())).collect();
    let want = [
        ("conv.weight", vec![4, 1, 3, 3]),
        ("conv.bias", vec![4]),
        ("norm.weight", vec![4]),
        ("norm.bias", vec![4]),
        ("head.0.weight", vec![3, 16]),
    ];
    assert_eq!(list, want.map(|(n, s)| (n.to_string(), s)));
    assert!(net.parameters().iter().all(|t| t.requires_grad() && t.is_leaf()));
    let buffers: Vec<String> = net.named_buffers().into_iter().map(|(n, _)| n).collect();
    assert_eq!(buffers, ["norm.running_mean", "norm.running_var", "norm.num_batches_tracked"]);
    Ok(())
}

#[test]
fn modes() -> Result<()> {
    let net = network()?;
    let x = Tensor::randn([5, 2, 4, 4])?;
    let training = (net.forward(&x)?.to_vec::<f32>()?, net.forward(&x)?.to_vec::<f32>()?);
    assert_ne!(training.0, training.1, "dropout draws anew");
    net.eval();
    let before = net.state_dict()?.iter().map(|(_, t)| t.copy()).collect::<Result<Vec<_>>>()?;
    assert_eq!(net.forward(&x)?.to_vec::<f32>()?, net.forward(&x)?.to_vec::<f32>()?);
    for ((name, now), before) in net.state_dict()?.iter().zip(&before) {
        assert!(now.eq(before)?.all((), false)?.item()?.to_bool(), "{name} changed in evaluation");
    }
    net.train(true);
    net.forward(&x)?;
    assert_eq!(net.named_buffers()[2].1.item()?.to_i64(), 3);
    Ok(())
}

#[test]
fn state_goes_over() -> Result<()> {
    let (a, b) = (network()?, network()?);
    a.forward(&Tensor::randn([4, 2, 4, 4])?)?;
    b.load_state_dict(&a.state_dict()?)?;
    a.eval();
    b.eval();
    let x = Tensor::randn([3, 2, 4, 4])?;
    assert_eq!(a.forward(&x)?.to_vec::<f32>()?, b.forward(&x)?.to_vec::<f32>()?);
    assert!(b.parameters().iter().all(Tensor::requires_grad));

    let before = b.parameters()[0].to_vec::<f32>()?;
    let mut state: Vec<(String, Tensor)> = a.state_dict()?;
    state[0].1 = state[0].1.mul(2.0)?;
    state.last_mut().unwrap().0 = "tail".to_string();
    let e = b.load_state_dict(&state).unwrap_err();
    assert!(e.text().contains("norm.num_batches_tracked") && e.text().contains("tail"), "{e}");
    let mut state = a.state_dict()?;
    state[0].1 = state[0].1.mul(2.0)?;
    state[1].1 = Tensor::zeros([4, 1])?;
    let e = b.load_state_dict(&state).unwrap_err();
    assert_eq!(e.kind(), Kind::Runtime);
    assert!(e.text().contains("conv.bias"), "{e}");
    assert_eq!(b.parameters()[0].to_vec::<f32>()?, before, "nothing is written before all fits");
    Ok(())
}

#[test]
fn first_values() -> Result<()> {
    let spread = |t: &Tensor| -> Result<(f64, f64)> {
        let t = t.detach()?;
        Ok((t.amin((), false)?.item()?.to_f64(), t.amax((), false)?.item()?.to_f64()))
    };
    let close_to = |t: &Tensor, bound: f64| -> Result<()> {
        let (low, high) = spread(t)?;
        assert!(
            low >= -bound && high < bound && low < -0.8 * bound && high > 0.8 * bound,
            "{low} {high} {bound}"
        );
        Ok(())
    };
    let linear = Linear::new(64, 100)?;
    close_to(&linear.weight, 1.0 / 8.0)?;
    close_to(linear.bias.as_ref().unwrap(), 1.0 / 8.0)?;
    let options = ConvOptions { groups: 2, ..Default::default() };
    close_to(&Conv2d::new(8, 16, [3, 3], options)?.weight, 1.0 / 6.0)?;
    close_to(&Conv1d::new(8, 64, [2], ConvOptions::default())?.weight, 0.25)?;
    let table = Embedding::new(500, 20, Some(3))?;
    assert!((table.weight.std(())?.item()?.to_f64() - 1.0).abs() < 0.05);
    assert!(table.weight.select(0, 3)?.eq(0.0)?.all((), false)?.item()?.to_bool());
    let weight = Tensor::zeros([40, 60])?;
    init::xavier_uniform_(&weight, 1.0)?;
    close_to(&weight, 0.06f64.sqrt())?;
    init::kaiming_uniform_(&weight, 2f64.sqrt())?;
    close_to(&weight, 0.1f64.sqrt())
}

#[test]
fn norms_by_hand() -> Result<()> {
    let x = Tensor::from_vec(vec![1f32, 2., 3., 6., 0., 0., 4., 4.], [2, 4])?;
    let y = LayerNorm::new(4)?.forward(&x)?.to_vec::<f32>()?;
    // Means 3 and 2, variances 3.5 and 4.
    let want =
        [-2.0, -1.0, 0.0, 3.0].map(|d: f32| d / 3.5f32.sqrt()).into_iter().chain([-1.0, -1.0, 1.0, 1.0]);
    y.iter().zip(want).for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{a} {b}"));

    let y = RmsNorm::new(4)?.forward(&x)?.to_vec::<f32>()?;
    assert!((y[3] - 6.0 / 12.5f32.sqrt()).abs() < 1e-5 && (y[7] - 4.0 / 8f32.sqrt()).abs() < 1e-5);

    let grouped = GroupNorm::new(2, 4)?.forward(&x)?.to_vec::<f32>()?;
    assert!((grouped[0] + 1.0).abs() < 1e-4 && (grouped[1] - 1.0).abs() < 1e-4 && grouped[4] == 0.0);

    let norm = BatchNorm::new(4)?;
    let y = norm.forward(&x)?.to_vec::<f32>()?;
    assert!((y[0] - 1.0).abs() < 1e-4 && (y[4] + 1.0).abs() < 1e-4);
    // 0.9 * 0 + 0.1 * mean, and 0.9 * 1 + 0.1 * unbiased variance.
    let mean = norm.running_mean.to_vec::<f32>()?;
    let var = norm.running_var.to_vec::<f32>()?;
    [0.05, 0.1, 0.35, 0.5].iter().zip(&mean).for_each(|(a, b)| assert!((a - b).abs() < 1e-6));
    [0.95, 1.1, 0.95, 1.1].iter().zip(&var).for_each(|(a, b)| assert!((a - b).abs() < 1e-6));
    Ok(())
}

#[test]
fn layers_of_other_dtypes_refuse() -> Result<()> {
    let e = Linear::new(3, 2)?.forward(&Tensor::ones_with([1, 3], Some(DType::F64), None)?).unwrap_err();
    assert_eq!(e.kind(), Kind::Runtime);
    assert_eq!(
        Conv2d::new(3, 4, [1, 1], ConvOptions { groups: 2, ..Default::default() }).err().unwrap().kind(),
        Kind::Value
    );
    assert_eq!(Dropout::new(1.5).err().unwrap().kind(), Kind::Value);
    Ok(())
}

#[test]
fn shared_parameters_are_listed_once() -> Result<()> {
    let linear = Linear::new(3, 3)?;
    let twin = Linear { weight: linear.weight.clone(), bias: None };
    let net = Sequential::new().push(linear).push(twin).push(Lambda(|x: &Tensor| x.mul(2.0)));
    let names: Vec<String> = net.named_parameters().into_iter().map(|(n, _)| n).collect();
    assert_eq!(names, ["0.weight", "0.bias"]);
    Ok(())
}
