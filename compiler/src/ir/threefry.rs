//! The numbers of Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror and Shaw, 2011).

/// With the key's two words it makes the third.
pub const PARITY: u32 = 0x1BD1_1BDA;

/// Groups of four rounds; after each, words of the key are added.
pub const GROUPS: usize = 5;

/// How far the second word turns to the left in each round of a group; the two alternate.
pub const TURNS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
