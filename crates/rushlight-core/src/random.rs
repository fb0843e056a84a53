//! Seedable random numbers: one generator type, one default generator.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// A source of random numbers that can be seeded; clones share the stream.
///
/// The stream depends on the seed alone: not on the machine, the threads or the kernels.
#[derive(Clone)]
pub struct Generator(Arc<Mutex<(u64, ChaCha8Rng)>>);

impl Generator {
    /// A generator that starts at `seed`.
    pub fn new(seed: u64) -> Generator {
        Generator(Arc::new(Mutex::new((seed, ChaCha8Rng::seed_from_u64(seed)))))
    }
    /// Starts anew from `seed`.
    pub fn manual_seed(&self, seed: u64) {
        *self.lock() = (seed, ChaCha8Rng::seed_from_u64(seed));
    }
    /// The seed it started from.
    pub fn initial_seed(&self) -> u64 {
        self.lock().0
    }
    fn lock(&self) -> MutexGuard<'_, (u64, ChaCha8Rng)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Runs `f` on the stream, which moves on.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut ChaCha8Rng) -> R) -> R {
        f(&mut self.lock().1)
    }
}

/// The generator that ops use when none is given. Its first seed is fixed, so that a program that
/// never seeds is still repeatable.
pub fn default_generator() -> &'static Generator {
    static DEFAULT: LazyLock<Generator> = LazyLock::new(|| Generator::new(67_280_421_310_721));
    &DEFAULT
}

/// Seeds the default generator.
pub fn manual_seed(seed: u64) {
    default_generator().manual_seed(seed);
}
