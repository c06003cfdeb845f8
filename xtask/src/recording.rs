//! `cargo xtask recording`: the film in the README, ssh and our program side by side.
//!
//! ```text
//!   fulmar-lab replay ──► what each terminal showed ─ fulmar-lab cast ─► docs/recording/*.cast
//!   docs/recording/*.cast ─────────────────────────── fulmar-lab film ─► docs/recording/beside-ssh.svg
//! ```
//!
//! The same keys are typed at the same times, over links with the same delay and the same change of address.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use crate::programs::built;
use crate::workspace::{self, Workspace};

/// The folder of the film and of the asciicasts that it is made of.
const FOLDER: &str = "docs/recording";

/// The programs, from left to right.
const PEERS: [&str; 2] = ["ssh", "fulmar"];

/// The recording that is typed.
const SESSION: &str = "testdata/film/session";

/// The link: the round trip of the Mosh paper's path from MIT to Singapore, and another address after 8.3 s. The first
/// key comes 1.8 s after the start, and the film begins half a second before it, so that is 7.0 s in the film.
const SCENARIO: &str = "both delay 136500us; at 8320ms client moves";

const TITLE: &str = "The same keys at the same time, 273 ms away";
const NOTE: &str = "7=The client’s address changes";

/// A page with the film should not be slow to load on the links that Fulmar is made for. Chosen by eye.
const BYTES_MAX: usize = 200_000;

/// Records ssh and Fulmar over an emulated link, and draws the film of the README.
///
/// # Errors
///
/// Where a program cannot be built, no session comes about, or the film is too large.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let lab = built(workspace, "fulmar-lab")?;
    built(workspace, "fulmar")?;
    let place = tempfile::tempdir()?;
    let folder = workspace.root().join(FOLDER);
    fs::create_dir_all(&folder)?;
    let casts = PEERS.map(|peer| folder.join(peer).with_extension("cast"));
    for (peer, cast) in PEERS.iter().zip(&casts) {
        let sides = place.path().join(peer);
        workspace::run(&mut replay(&lab, peer, workspace, &sides))?;
        let mut asciicast = Command::new(&lab);
        asciicast.args(["cast", "--title", peer]);
        asciicast.arg(sides.join("user-side"));
        fs::write(cast, workspace::output_of(&mut asciicast)?)?;
    }
    let film = workspace::output_of(&mut film(&lab, &casts))?;
    ensure!(
        film.len() <= BYTES_MAX,
        "the film has {} bytes, more than {BYTES_MAX}",
        film.len()
    );
    fs::write(folder.join("beside-ssh.svg"), film)?;
    Ok(())
}

/// The call of the lab that types the session at a program, and keeps what both sides saw.
fn replay(lab: &Path, peer: &str, workspace: &Workspace, sides: &Path) -> Command {
    let mut replay = Command::new(lab);
    replay.args(["replay", "--peer", peer, "--scenario", SCENARIO]);
    replay
        .arg("--recording")
        .arg(workspace.root().join(SESSION));
    // ssh is never answered after the change of address.
    replay.args(["--typing", "recorded", "--patience", "2"]);
    replay.arg("--keep").arg(sides);
    replay
}

/// The call of the lab that draws the asciicasts.
fn film(lab: &Path, casts: &[PathBuf]) -> Command {
    let mut film = Command::new(lab);
    film.args(["film", "--title", TITLE, "--note", NOTE]);
    film.args(casts);
    film
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_film_in_the_checkout_is_made_of_the_asciicasts_beside_it() {
        let folder = Workspace::of_this_checkout().root().join(FOLDER);
        let film = fs::read_to_string(folder.join("beside-ssh.svg")).unwrap();
        assert!(
            film.len() <= BYTES_MAX && film.contains(TITLE),
            "{}",
            film.len()
        );
        assert!(!film.contains("<script") && film.contains("prefers-color-scheme: dark"));
        for peer in PEERS {
            let cast = folder.join(peer).with_extension("cast");
            let cast = fs::read_to_string(cast).unwrap();
            assert!(cast.starts_with('{') && cast.contains(&format!("\"title\":\"{peer}\"")));
            assert!(film.contains(&format!(">{peer}</text>")));
        }
    }
}
