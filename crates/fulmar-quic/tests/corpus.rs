//! The inputs that fuzzing has kept are tried again with any compiler.

#[path = "support/gate.rs"]
mod gate;

use std::fs;
use std::path::Path;

#[test]
fn the_corpus_of_the_gate_meets_silence() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/gate");
    let mut tried = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let datagram = fs::read(entry.unwrap().path()).unwrap();
        gate::check(&datagram);
        // Cut anywhere, and with each byte of what is in the clear changed.
        for at in 0..datagram.len().min(40) {
            gate::check(&datagram[..at]);
            let mut other = datagram.clone();
            other[at] ^= 0x55;
            gate::check(&other);
        }
        tried += 1;
    }
    assert!(tried >= 6, "{tried} datagrams");
}
