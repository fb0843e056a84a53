//! Seedable random numbers: one generator type, one default generator.

use crate::Result;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// Bytes of a generator's state: a mark, the first seed, the key, the stream, the place in it.
pub const STATE: usize = 72;
const MAGIC: &[u8; 8] = b"rushrng1";

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
    /// Starts anew from a seed that nobody chose, and gives it.
    pub fn seed(&self) -> u64 {
        use std::hash::{BuildHasher, Hasher};
        // The standard library draws the keys of a hasher from the system's entropy.
        let seed = std::hash::RandomState::new().build_hasher().finish();
        self.manual_seed(seed);
        seed
    }
    /// Where the stream is, as bytes for [`Generator::set_state`].
    pub fn state(&self) -> [u8; STATE] {
        let now = self.lock();
        let mut bytes = [0; STATE];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..16].copy_from_slice(&now.0.to_le_bytes());
        bytes[16..48].copy_from_slice(&now.1.get_seed());
        bytes[48..56].copy_from_slice(&now.1.get_stream().to_le_bytes());
        bytes[56..].copy_from_slice(&now.1.get_word_pos().to_le_bytes());
        bytes
    }
    /// Goes to where a stream was when [`Generator::state`] gave these bytes.
    ///
    /// # Errors
    /// `Runtime` for bytes of another origin.
    pub fn set_state(&self, bytes: &[u8]) -> Result<()> {
        let parts = <&[u8; STATE]>::try_from(bytes).ok().filter(|b| b.starts_with(MAGIC));
        let Some(b) = parts else {
            crate::bail!(
                Runtime,
                "set_state",
                "these {} bytes are no state of a generator; take {STATE} from get_state()",
                bytes.len()
            )
        };
        let mut key = [0; 32];
        key.copy_from_slice(&b[16..48]);
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|k| b[at + k]));
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(word(48));
        rng.set_word_pos(u128::from(word(56)) | u128::from(word(64)) << 64);
        *self.lock() = (word(8), rng);
        Ok(())
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
