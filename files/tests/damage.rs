//! Files that are torn, damaged or of something else are refused, and the run is as it was.

use std::fs;
use std::path::{Path, PathBuf};

use crease::Run;
use crease_files::CheckpointError;
use crease_files::checkpoint::{self, Checkpoint};
use fastrand::Rng;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use crate::kernels::{BY_ROWS, begun, bits};

/// A checkpoint and a run that could take it, which has done other steps.
struct Bench {
    _directory: TempDir,
    path: PathBuf,
    good: Vec<u8>,
    run: Run,
    before: Vec<(String, Vec<u64>)>,
}

impl Bench {
    fn new() -> Bench {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("membrane");
        let mut run = begun(&BY_ROWS);
        run.advance(5).unwrap();
        checkpoint::save(&run, &path).unwrap();
        run.advance(3).unwrap();
        let (good, before) = (fs::read(&path).unwrap(), bits(&run));
        Bench { _directory: directory, path, good, run, before }
    }

    /// What is said of these bytes; the run is as it was.
    fn refused(&mut self, bytes: &[u8]) -> CheckpointError {
        fs::write(&self.path, bytes).unwrap();
        let refused = checkpoint::restore(&mut self.run, &self.path).expect_err("the file is not what was saved");
        assert_eq!((self.run.step(), bits(&self.run)), (8, self.before.clone()), "{refused}");
        refused
    }
}

/// A changed header, with checksums that fit.
fn sealed(good: &[u8], change: impl Fn(&str) -> String) -> Vec<u8> {
    let header_bytes = u64::from_le_bytes(good[16..24].try_into().unwrap()) as usize;
    let text = std::str::from_utf8(&good[64..64 + header_bytes]).unwrap();
    let mut header = change(text).into_bytes();
    header.resize(header_bytes, b' ');
    let mut bytes = [&good[..64], &header, &good[64 + header_bytes..]].concat();
    bytes[32..40].copy_from_slice(&xxh3_64(&header).to_le_bytes());
    sealed_preamble(bytes)
}

fn sealed_preamble(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = xxh3_64(&bytes[..56]);
    bytes[56..64].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

#[test]
fn torn_files_are_refused_wherever_they_end() {
    let mut bench = Bench::new();
    let good = bench.good.clone();
    let mut rng = Rng::with_seed(5);
    let ends = (0..=72).chain((0..60).map(|_| rng.usize(..good.len()))).chain([good.len() - 1]);
    for end in ends {
        match bench.refused(&good[..end]) {
            CheckpointError::Length { expected, found, .. } => {
                assert_eq!((expected, found), (if end < 64 { 64 } else { good.len() as u64 }, end as u64));
            }
            other => panic!("{end}: {other}"),
        }
    }
    let longer = [&good[..], &[0]].concat();
    assert!(matches!(bench.refused(&longer), CheckpointError::Length { .. }));
}

/// Every bit of the preamble and of some of the rest; and whole pages of zeros, as a torn write leaves them.
#[test]
fn every_flipped_bit_is_noticed() {
    let mut bench = Bench::new();
    let good = bench.good.clone();
    let mut rng = Rng::with_seed(7);
    let positions: Vec<usize> = if std::env::var_os("CREASE_THOROUGH").is_some() {
        (0..8 * 64).chain((8 * 64..8 * good.len()).step_by(11)).collect()
    } else {
        (0..8 * 64).chain((0..200).map(|_| rng.usize(8 * 64..8 * good.len()))).collect()
    };
    for position in positions {
        let mut bytes = good.clone();
        bytes[position / 8] ^= 1 << (position % 8);
        let refused = bench.refused(&bytes);
        assert!(!refused.code().is_empty() && refused.to_string().contains("membrane"), "{refused}");
    }
    for page in 0..good.len() / 512 {
        let mut bytes = good.clone();
        bytes[page * 512..][..512].fill(0);
        if bytes != good {
            bench.refused(&bytes);
        }
    }
}

#[test]
fn other_files_later_versions_and_other_byte_orders_are_named() {
    let mut bench = Bench::new();
    let good = bench.good.clone();
    let foreign = bench.refused(b"\x93NUMPY and whatever follows").to_string();
    assert!(foreign.contains("is no checkpoint: it begins with [93, 4e"), "{foreign}");
    let mut newer = good.clone();
    newer[12] = 2;
    let newer = bench.refused(&sealed_preamble(newer)).to_string();
    assert!(newer.ends_with("has version 2 of the format, and this program reads version 1"), "{newer}");
    let mut swapped = good.clone();
    swapped[8..12].reverse();
    assert!(matches!(bench.refused(&swapped), CheckpointError::ByteOrder { .. }));
    let mut header = good.clone();
    header[100] ^= 4;
    assert!(bench.refused(&header).to_string().contains("the header is damaged: its checksum is"));
    let mut cells = good.clone();
    let header_bytes = u64::from_le_bytes(good[16..24].try_into().unwrap()) as usize;
    cells[64 + header_bytes] ^= 1;
    assert!(bench.refused(&cells).to_string().contains("level `mask` is damaged"));
}

/// Headers whose checksums fit and whose content does not.
#[test]
fn headers_that_contradict_the_run_or_themselves_are_refused() {
    let mut bench = Bench::new();
    let good = bench.good.clone();
    let mut refused = |from: &str, to: &str| {
        let bytes = sealed(&good, |text| {
            assert!(text.contains(from), "{from} is not in {text}");
            text.replacen(from, to, 1)
        });
        bench.refused(&bytes).to_string()
    };
    assert!(refused("\"step\":5", "\"step\":-5").contains("step -5"));
    assert!(refused("\"back\":1", "\"back\":0").contains("twice"));
    assert!(refused("\"role\":\"state\"", "\"role\":\"input\"").contains("the role of input"));
    assert!(refused("\"element\":\"f16\"", "\"element\":\"u8\"").contains("has 22 bytes"));
    assert!(refused("\"first\":[-1]", "\"first\":[-2]").contains("from [-2] on"));
    assert!(refused("\"shape\":[6,13]", "\"shape\":[13,6]").contains("shape [13, 6]"));
    assert!(refused("\"array\":\"v\"", "\"array\":\"w\"").contains("no array `w`"));
    assert!(refused("\"name\":\"speed\"", "\"name\":\"spede\"").contains("spede"));
    assert!(refused("\"step\":5", "\"step\":5,\"more\":1").contains("unknown field"));
    assert!(refused("{\"writer\"", "[{\"writer\"").contains("the header is wrong"));
    let sizes = refused("[\"M\",6]", "[\"M\",9]");
    assert!(sizes.contains("at M = 9, N = 13, the run at M = 6"), "{sizes}");
}

/// Several random changes of any kind at a time, with and without checksums that fit: an error or the run's own state,
/// never a panic.
#[test]
fn random_damage_never_panics() {
    let mut bench = Bench::new();
    let good = bench.good.clone();
    let header_bytes = u64::from_le_bytes(good[16..24].try_into().unwrap()) as usize;
    let mut rng = Rng::with_seed(11);
    let count = if std::env::var_os("CREASE_THOROUGH").is_some() { 4000 } else { 400 };
    for _ in 0..count {
        let mut bytes = good.clone();
        let end = if rng.bool() { 64 + header_bytes } else { bytes.len() };
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(8..end);
            match rng.u8(..4) {
                0 => bytes[at] ^= 1 << rng.u8(..8),
                1 => bytes[at] = rng.u8(..),
                2 => bytes[at] = b"0123456789,[]{}\""[rng.usize(..16)],
                _ => drop(bytes.splice(at..at, [b'9'])),
            }
        }
        if rng.bool() && bytes.len() == good.len() {
            let checksum = xxh3_64(&bytes[64..64 + header_bytes]);
            bytes[32..40].copy_from_slice(&checksum.to_le_bytes());
            bytes = sealed_preamble(bytes);
        }
        fs::write(&bench.path, &bytes).unwrap();
        if let Err(error) = checkpoint::restore(&mut bench.run, &bench.path) {
            assert!(!matches!(error, CheckpointError::HalfRestored { .. }), "{error}");
            assert!(!error.to_string().is_empty());
        }
        assert!(bench.run.advance(0).is_ok());
    }
}

/// The file changes behind the back of whoever looked at it: the run does no step on half a state.
#[test]
fn a_file_that_changes_while_it_is_read_leaves_no_state() {
    let mut bench = Bench::new();
    let file = Checkpoint::open(&bench.path).unwrap();
    let cut = fs::OpenOptions::new().write(true).open(Path::new(&bench.path)).unwrap();
    cut.set_len(bench.good.len() as u64 - 200).unwrap();
    let refused = file.restore(&mut bench.run).unwrap_err();
    assert!(matches!(refused, CheckpointError::HalfRestored { .. }), "{refused}");
    let step = bench.run.advance(1).unwrap_err().to_string();
    assert!(step.contains("was not given"), "{step}");
    fs::write(&bench.path, &bench.good).unwrap();
    assert_eq!(checkpoint::restore(&mut bench.run, &bench.path).unwrap().step, 5);
    bench.run.advance(3).unwrap();
    assert_eq!(bits(&bench.run), bench.before);
}
