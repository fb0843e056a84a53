//! A module's tensors by name, checked before any is written.

use crate::Module;
use rushlight_core::{Result, Tensor, ensure, no_grad};
use std::collections::HashMap;

pub(crate) fn state_dict(module: &(impl Module + ?Sized)) -> Result<Vec<(String, Tensor)>> {
    let all = module.named_parameters().into_iter().chain(module.named_buffers());
    all.map(|(name, t)| Ok((name, t.detach()?))).collect()
}

pub(crate) fn load_state_dict(module: &(impl Module + ?Sized), state: &[(String, Tensor)]) -> Result<()> {
    let op = "load_state_dict";
    let own = state_dict(module)?;
    let given: HashMap<&str, &Tensor> = state.iter().map(|(n, t)| (n.as_str(), t)).collect();
    let mut pairs = Vec::with_capacity(own.len());
    let mut missing = Vec::new();
    for (name, t) in &own {
        match given.get(name.as_str()) {
            Some(new) => pairs.push((name, t, *new)),
            None => missing.push(name.as_str()),
        }
    }
    let known = |name: &str| own.iter().any(|(n, _)| n == name);
    let unknown: Vec<&str> = state.iter().map(|(n, _)| n.as_str()).filter(|n| !known(n)).collect();
    ensure!(
        missing.is_empty() && unknown.is_empty(),
        Runtime,
        op,
        "missing {missing:?}, and not of this module {unknown:?}"
    );
    for (name, t, new) in &pairs {
        ensure!(
            new.shape() == t.shape(),
            Runtime,
            op,
            "{name} has shape {:?} and cannot take a tensor of shape {:?}",
            t.shape(),
            new.shape()
        );
    }
    no_grad(|| pairs.into_iter().try_for_each(|(_, t, new)| t.copy_(new).map(drop)))
}
