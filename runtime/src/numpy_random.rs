//! NumPy's permutations, number for number.
//!
//! `numpy.random.default_rng(seed).permutation(n)` shuffles `arange(n)` by exchanging each element, from
//! the last to the second, with one at or before it. The parts are those of NumPy: `SeedSequence`
//! spreads the seed over the state, PCG64 (XSL-RR) makes the random words, and their 32-bit halves are cut to
//! the bits of the bound and drawn again while above it. (Other methods of NumPy's generator use Lemire's
//! bounding instead; shuffling does not.)

use crate::error::{Error, ValueError};
use crate::host::{DType, HostArray, TensorSpec};

/// `count` successive calls of `numpy.random.default_rng(seed).permutation(n)`, as `i32[count, n]`.
/// Errors when the array is too large for `i32` elements.
pub fn permutations(seed: u64, n: usize, count: usize) -> Result<HostArray, Error> {
    let spec = TensorSpec::new(DType::I32, [count, n]);
    let elements = n.checked_mul(count).filter(|_| spec.byte_len().is_some());
    let (Ok(last), Some(elements)) = (i32::try_from(n), elements) else {
        return Err(Error::Value(ValueError::TensorTooLarge { spec }));
    };
    let mut all = Vec::with_capacity(elements);
    let mut words = Pcg64::new(seed);
    for _ in 0..count {
        let start = all.len();
        all.extend(0..last);
        words.shuffle(&mut all[start..]);
    }
    HostArray::from_elements([count, n], &all)
}

/// NumPy's default generator, with its buffer of half a word.
pub(crate) struct Pcg64 {
    state: u128,
    increment: u128,
    /// The upper half of a word whose lower half was given out.
    half: Option<u32>,
}

impl Pcg64 {
    const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

    pub(crate) fn new(seed: u64) -> Pcg64 {
        let [a, b, c, d] = seed_words(seed);
        let wide = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
        let mut generator = Pcg64 {
            state: 0,
            increment: wide(c, d) << 1 | 1,
            half: None,
        };
        generator.step();
        generator.state = generator.state.wrapping_add(wide(a, b));
        generator.step();
        generator
    }

    fn step(&mut self) {
        self.state = self
            .state
            .wrapping_mul(Pcg64::MULTIPLIER)
            .wrapping_add(self.increment);
    }

    fn next_u64(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    fn next_u32(&mut self) -> u32 {
        if let Some(half) = self.half.take() {
            return half;
        }
        let word = self.next_u64();
        self.half = Some((word >> 32) as u32);
        word as u32
    }

    /// Brings elements into an order of which each is equally likely. There are fewer than 2³² of them.
    pub(crate) fn shuffle<T>(&mut self, elements: &mut [T]) {
        for i in (1..elements.len()).rev() {
            let j = self.up_to(i as u32) as usize;
            elements.swap(i, j);
        }
    }

    /// A number from 0 to `most`, each equally likely.
    pub(crate) fn up_to(&mut self, most: u32) -> u32 {
        // All ones, as many bits as the bound has.
        let mask = u32::MAX.checked_shr(most.leading_zeros()).unwrap_or(0);
        loop {
            let number = self.next_u32() & mask;
            if number <= most {
                return number;
            }
        }
    }
}

/// The four words with which NumPy's `SeedSequence(seed)` seeds PCG64.
fn seed_words(seed: u64) -> [u64; 4] {
    let low = seed as u32;
    let high = (seed >> 32) as u32;
    // A pool of four words; the seed's words come first, and zeros fill it.
    let mut hash = Hash::new(0x43b0_d7e5, 0x931e_8875);
    let mut pool = [low, high, 0, 0].map(|word| hash.mix_in(word));
    for from in 0..pool.len() {
        for to in 0..pool.len() {
            if from != to {
                let hashed = hash.mix_in(pool[from]);
                let mixed = pool[to]
                    .wrapping_mul(0xca01_f9dd)
                    .wrapping_sub(hashed.wrapping_mul(0x4973_f715));
                pool[to] = mixed ^ mixed >> 16;
            }
        }
    }
    let mut hash = Hash::new(0x8b51_f9dd, 0x58f3_8ded);
    let mut half = |i: usize| u64::from(hash.mix_in(pool[i % 4]));
    let mut words = [0; 4];
    for (i, word) in words.iter_mut().enumerate() {
        *word = half(2 * i) | half(2 * i + 1) << 32;
    }
    words
}

/// A multiplicative hash whose multiplier changes with each word.
struct Hash {
    multiplier: u32,
    factor: u32,
}

impl Hash {
    fn new(multiplier: u32, factor: u32) -> Hash {
        Hash { multiplier, factor }
    }

    fn mix_in(&mut self, word: u32) -> u32 {
        let word = word ^ self.multiplier;
        self.multiplier = self.multiplier.wrapping_mul(self.factor);
        let word = word.wrapping_mul(self.multiplier);
        word ^ word >> 16
    }
}
