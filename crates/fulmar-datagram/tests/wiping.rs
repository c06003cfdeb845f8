//! A key is overwritten with its last user, also in memory that does nothing about it.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::FileExt as _;
use std::sync::mpsc::{self, Sender};

use fulmar_datagram::{Direction, Key, KeyMaterial, Opener, Sealer};

const SECRET: [u8; 16] = *b"a secret of ours";

/// Memory that tells, when it is dropped, whether the key is in it before and after the material was dropped. The
/// vector keeps its memory when it is emptied.
struct Watched {
    material: Vec<KeyMaterial>,
    told: Sender<[bool; 2]>,
}

impl Deref for Watched {
    type Target = KeyMaterial;

    fn deref(&self) -> &KeyMaterial {
        &self.material[0]
    }
}

impl DerefMut for Watched {
    fn deref_mut(&mut self) -> &mut KeyMaterial {
        &mut self.material[0]
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let address = self.material.as_ptr().addr() as u64;
        let before = holds_secret(address);
        self.material.clear();
        let after = holds_secret(address);
        self.told
            .send([before, after])
            .expect("the test waits for it");
    }
}

/// Looks for the key where a vector keeps what is in it, by way of the system: what was dropped has no name any more.
fn holds_secret(address: u64) -> bool {
    let mut bytes = vec![0; size_of::<KeyMaterial>()];
    let memory = File::open("/proc/self/mem").expect("a process may read its own memory");
    memory
        .read_exact_at(&mut bytes, address)
        .expect("the vector has not given it back");
    bytes.windows(SECRET.len()).any(|part| part == SECRET)
}

#[test]
fn a_key_is_overwritten_with_its_last_user() {
    let (told, heard) = mpsc::channel();
    let material = vec![KeyMaterial::blank()];
    let fill = |bytes: &mut [u8; 16]| -> Result<(), ()> {
        *bytes = SECRET;
        Ok(())
    };
    let key = Key::filled_in(Watched { material, told }, fill).unwrap();
    let opener = Opener::new(&key, Direction::ToServer);
    drop(Sealer::new(key, Direction::ToClient));
    assert!(heard.try_recv().is_err(), "the opener uses it");
    drop(opener);
    assert_eq!(heard.recv(), Ok([true, false]));
}
