//! The kernel laws for the fast CPU backend.

use rushlight_core::Device;
use rushlight_testkit::{Pair, Report, kernels};

// Naming the crates links them in; they register themselves.
use rushlight_cpu as _;
use rushlight_ref as _;

fn law(run: fn(&Pair, u64) -> Report, cases: usize) {
    let pair = Pair::new(Device::CPU, Device::REF).unwrap();
    run(&pair, 20_240_601).assert(cases);
}

macro_rules! laws {
    ($($name:ident at_least $cases:literal;)*) => {
        $( #[test] fn $name() { law(kernels::$name, $cases) } )*
    };
}

laws! {
    opcodes at_least 3000;
    in_place at_least 250;
    programs at_least 300;
    casts at_least 1100;
    reduce at_least 1500;
    scan at_least 500;
    matmul at_least 500;
    gather at_least 350;
    scatter at_least 550;
    sort at_least 500;
    nonzero at_least 240;
}
