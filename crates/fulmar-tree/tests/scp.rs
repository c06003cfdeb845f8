//! Files go to the same places as with OpenSSH's scp. It is left out, and says so, where there is no scp that
//! can start its server by itself.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use fulmar_copy::{EntryId, EntryKind, ExistingFile, NextEntry, Piece, Source as _, Target as _};
use fulmar_tree::{Named, OperandContext, SourceOptions, TargetOptions, TreeSource, TreeTarget};

/// The paths at which systems keep it.
const SERVERS: [&str; 3] = [
    "/usr/lib/openssh/sftp-server",
    "/usr/libexec/openssh/sftp-server",
    "/usr/libexec/sftp-server",
];

/// The server that scp is to start, if there are both.
fn server() -> Option<&'static str> {
    let help = Command::new("scp").arg("-h").output().ok()?;
    let has_option = String::from_utf8_lossy(&help.stderr).contains("-D sftp_server_path");
    let server = SERVERS.into_iter().find(|path| Path::new(path).exists());
    server.filter(|_| has_option)
}

/// Says that the calling test cannot run here. `cargo xtask test` lists these at its end.
fn leave_out(reason: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    eprintln!("left out: {test}: {reason}");
    let Some(list) = std::env::var_os("FULMAR_TEST_SKIPPED") else {
        return;
    };
    let list = fs::OpenOptions::new().append(true).open(list);
    list.and_then(|mut list| list.write_all(format!("{test}\t{reason}\n").as_bytes()))
        .unwrap();
}

/// `src` with a, b, a folder d, and `dst` with a file and a folder.
fn world() -> tempfile::TempDir {
    let world = tempfile::tempdir().unwrap();
    let at = |path: &str| world.path().join(path);
    fs::create_dir_all(at("src/d/sub")).unwrap();
    fs::create_dir_all(at("dst/there")).unwrap();
    for path in [
        "src/a",
        "src/b",
        "src/.hidden",
        "src/with 'space'",
        "src/d/x",
        "dst/file",
    ] {
        fs::write(at(path), path).unwrap();
    }
    std::os::unix::fs::symlink("file", at("dst/link")).unwrap();
    std::os::unix::fs::symlink("a", at("src/to-a")).unwrap();
    world
}

/// Returns the content of a folder: the contents of files, what links say, nothing of folders.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut seen = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let content = if path.is_symlink() {
                Some(
                    path.read_link()
                        .unwrap()
                        .into_os_string()
                        .into_encoded_bytes(),
                )
            } else if path.is_dir() {
                folders.push(path.clone());
                None
            } else {
                Some(fs::read(&path).unwrap())
            };
            seen.insert(path.strip_prefix(root).unwrap().to_path_buf(), content);
        }
    }
    seen
}

/// A download by scp; whether it went well.
fn by_scp(server: &str, world: &Path, operands: &[&str], target: &str) -> bool {
    let remote = |operand: &&str| format!("host:{}/{operand}", world.display());
    let mut command = Command::new("scp");
    command
        .args(["-q", "-r", "-D", server])
        .args(operands.iter().map(remote))
        .arg(target);
    command
        .current_dir(world)
        .output()
        .unwrap()
        .status
        .success()
}

/// The same by us.
fn by_us(world: &Path, operands: &[&str], target: &str) -> bool {
    let place = |patterns| OperandContext {
        base: Some(fs::File::open(world).unwrap().into()),
        patterns,
        home: None,
    };
    let options = TargetOptions {
        recursive: true,
        into_folder: operands.len() > 1 || operands.iter().any(means_contents),
        ..TargetOptions::default()
    };
    let Ok(mut target) = TreeTarget::open(&place(false), target.as_bytes(), options) else {
        return false;
    };
    let operands = operands
        .iter()
        .map(|operand| operand.as_bytes().to_vec())
        .collect();
    let mut source = TreeSource::new(
        place(true),
        operands,
        SourceOptions {
            recursive: true,
            follow: true,
        },
    );
    let mut is_fine = true;
    for number in 0.. {
        let id = EntryId(number);
        match source.next_entry(id) {
            NextEntry::Entry(entry) => {
                is_fine &= match entry.kind {
                    EntryKind::Folder => target.folder(&entry).is_ok(),
                    EntryKind::Link { .. } => target.link(&entry).is_ok(),
                    EntryKind::Leave => target.leave(&entry).is_ok(),
                    EntryKind::File { .. } => match target.begin(id, &entry) {
                        Ok(begun) => bring(&mut source, &mut target, id, &begun),
                        Err(_) => false,
                    },
                };
            }
            NextEntry::EntryError(_) => is_fine = false,
            NextEntry::NotNow => {}
            NextEntry::End => return is_fine,
        }
    }
    is_fine
}

fn means_contents(operand: &&str) -> bool {
    Named::by(operand.as_bytes()).is_contents()
}

/// A file that is small enough for one piece.
fn bring(
    source: &mut TreeSource,
    target: &mut TreeTarget,
    id: EntryId,
    begun: &ExistingFile,
) -> bool {
    assert_eq!(*begun, ExistingFile::New);
    let bytes = match source.read(id, 0, 1000) {
        Ok(Piece::Bytes(bytes)) => bytes,
        other => panic!("{other:?}"),
    };
    target.write(id, 0, &bytes).is_ok() && target.commit(id, bytes.len() as u64).is_ok()
}

#[test]
fn everything_goes_where_scp_puts_it() {
    let Some(server) = server() else {
        let required =
            std::env::var_os("FULMAR_TEST_PEERS").is_some_and(|peers| peers == "required");
        assert!(
            !required,
            "no scp with -D and no sftp-server, and FULMAR_TEST_PEERS=required"
        );
        return leave_out("there is no scp with -D, or no sftp-server");
    };
    let sources: &[&[&str]] = &[
        &["src/a"],
        &["src/to-a"],
        &["src/with 'space'"],
        &["src/d"],
        &["src/d/"],
        &["src/d/."],
        &["src/[ab]"],
        &["src/?"],
        &["s*/d/*"],
        &["src/a", "src/d"],
        &["src/nothing"],
        &["src/no*"],
    ];
    let targets = [
        "dst",
        "dst/",
        "dst/file",
        "dst/there",
        "dst/link",
        "dst/new",
        "dst/new/",
        "nothing/new",
        ".",
        "",
    ];
    let mut compared = 0;
    for operands in sources {
        for target in targets {
            // scp takes no empty target, which is the folder that one is in.
            let for_scp = if target.is_empty() { "." } else { target };
            let (theirs, ours) = (world(), world());
            let fine = [
                by_scp(server, theirs.path(), operands, for_scp),
                by_us(ours.path(), operands, target),
            ];
            if differs_on_purpose(operands, target) {
                continue;
            }
            assert_eq!(
                fine[0], fine[1],
                "{operands:?} to {target:?}: is scp content, are we"
            );
            if fine[0] {
                assert_eq!(
                    snapshot(theirs.path()),
                    snapshot(ours.path()),
                    "{operands:?} to {target:?}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 40, "{compared}");
}

/// Several sources without a folder to go to. scp makes one at a remote end and none at the local one; here one is made at
/// both. What a pattern finds it writes into one file, one over the other; here that is a trouble.
fn differs_on_purpose(operands: &[&str], target: &str) -> bool {
    let is_folder = ["dst", "dst/", "dst/there", ".", ""].contains(&target);
    let is_several = operands.len() > 1
        || operands
            .iter()
            .any(|operand| operand.contains(['[', '?', '*']));
    is_several && !is_folder
}
