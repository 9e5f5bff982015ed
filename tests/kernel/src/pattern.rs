// SPDX-License-Identifier: GPL-2.0
//! Message contents in which every byte depends on the message and on its place
//! there, so that a byte that is lost, repeated, moved or taken from another
//! message shows.

/// Bytes in a word of the pattern.
const WORD: usize = 8;

/// Word `index` of the endless pattern that `seed` stands for: the output
/// function of `SplitMix64` over a counter.
fn word(seed: u64, index: u64) -> [u8; WORD] {
    let mut value = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (value ^ (value >> 31)).to_le_bytes()
}

/// The words of the pattern from byte `start` on, the first one cut accordingly.
fn pieces(seed: u64, start: usize) -> impl Iterator<Item = ([u8; WORD], usize)> {
    let first = start / WORD;
    (first..).map(move |index| {
        let skip = if index == first { start % WORD } else { 0 };
        (word(seed, index as u64), skip)
    })
}

/// Appends bytes `start..end` of the pattern to `bytes`.
pub(crate) fn append(bytes: &mut Vec<u8>, seed: u64, start: usize, end: usize) {
    let mut left = end.saturating_sub(start);
    bytes.reserve(left);
    for (word, skip) in pieces(seed, start) {
        if left == 0 {
            break;
        }
        let piece = &word[skip..];
        let piece = &piece[..piece.len().min(left)];
        bytes.extend_from_slice(piece);
        left -= piece.len();
    }
}

/// Compares `bytes` with the pattern from byte `start` on; returns where in
/// `bytes` the first difference is.
pub(crate) fn mismatch(bytes: &[u8], seed: u64, start: usize) -> Option<usize> {
    let mut done = 0;
    for (word, skip) in pieces(seed, start) {
        let rest = bytes.get(done..)?;
        let expected = &word[skip..];
        let len = expected.len().min(rest.len());
        if len == 0 {
            return None;
        }
        if rest[..len] != expected[..len] {
            let within = rest.iter().zip(expected).position(|(a, b)| a != b)?;
            return Some(done + within);
        }
        done += len;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(seed: u64, start: usize, end: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        append(&mut bytes, seed, start, end);
        bytes
    }

    #[test]
    fn parts_fit_the_whole() {
        let whole = pattern(7, 0, 100);
        assert_eq!(whole.len(), 100);
        for start in 0..40 {
            for end in start..60 {
                assert_eq!(pattern(7, start, end), whole[start..end], "{start}..{end}");
            }
        }
    }

    #[test]
    fn each_wrong_byte_is_found() {
        for start in [0, 3, 8, 1000] {
            let bytes = pattern(9, start, start + 50);
            assert_eq!(mismatch(&bytes, 9, start), None);
            for at in 0..bytes.len() {
                let mut wrong = bytes.clone();
                wrong[at] ^= 1;
                assert_eq!(mismatch(&wrong, 9, start), Some(at));
            }
        }
        assert_eq!(mismatch(&[], 9, 5), None);
    }

    #[test]
    fn moved_bytes_and_other_messages_are_found() {
        let bytes = pattern(1, 0, 64);
        assert!(mismatch(&bytes, 2, 0).is_some(), "another message");
        assert!(mismatch(&bytes, 1, 8).is_some(), "moved by a word");
        assert!(mismatch(&bytes[1..], 1, 0).is_some(), "moved by a byte");
        let mut swapped = bytes.clone();
        swapped.rotate_left(32);
        assert!(mismatch(&swapped, 1, 0).is_some(), "halves swapped");
    }
}
