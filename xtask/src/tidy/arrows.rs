//! Checks the dependencies between the members of the workspace.
//!
//! ```text
//! datagram ◄─ transport ◄─┬─ core ◄─ fulmar ─► platform      sim: for tests, and for lab
//! terminal ◄─ predict   ◄─┘            lab ─► sim, platform; and, in one folder, core and below
//! copy ◄─ tree ◄─ fulmar, which uses copy, too
//! quic ◄─ fulmar
//! core, datagram, quic, terminal ◄─ login ◄─ fulmar, for what an offer and an invitation hold
//! core, login, predict ◄─ settings ◄─ fulmar, for the values that settings have
//! core, login, settings ◄─ compat ◄─ fulmar, for names, ports and the environment
//! platform, sim ◄─ testbed ◄─ lab, xtask, and tests of fulmar
//! ```
//!
//! Any of them may use base, which uses none.
//!
//! A new arrow is a decision: a page in `docs/decisions/`, and then a word in [`MEMBERS`].

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::source::Source;
use super::{Files, Finding};

/// A member of the workspace, and the members that it may depend on.
struct Member {
    name: &'static str,
    /// Members that it may use beside [`BASE`]; tests may use these too, and [`SIMULATOR`].
    uses: &'static [&'static str],
    reach: Reach,
}

/// The reach of a crate into the system.
#[derive(PartialEq, Eq)]
enum Reach {
    /// A function of its inputs: no socket, clock, thread, environment or randomness.
    Pure,
    /// It may call the operating system.
    System,
}

const MEMBERS: &[Member] = &[
    Member {
        name: BASE,
        uses: &[],
        reach: Reach::Pure,
    },
    Member {
        name: "fulmar-datagram",
        uses: &[],
        reach: Reach::Pure,
    },
    Member {
        name: "fulmar-terminal",
        uses: &[],
        reach: Reach::Pure,
    },
    Member {
        name: "fulmar-transport",
        uses: &["fulmar-datagram"],
        reach: Reach::Pure,
    },
    Member {
        name: "fulmar-copy",
        uses: &[],
        reach: Reach::Pure,
    },
    Member {
        name: "fulmar-predict",
        uses: &["fulmar-terminal"],
        reach: Reach::Pure,
    },
    Member {
        name: "fulmar-core",
        uses: &[
            "fulmar-datagram",
            "fulmar-predict",
            "fulmar-terminal",
            "fulmar-transport",
        ],
        reach: Reach::Pure,
    },
    Member {
        name: "fulmar-quic",
        uses: &[],
        reach: Reach::Pure,
    },
    Member {
        name: "fulmar-login",
        uses: &[
            "fulmar-core",
            "fulmar-datagram",
            "fulmar-quic",
            "fulmar-terminal",
        ],
        reach: Reach::Pure,
    },
    Member {
        name: "fulmar-settings",
        uses: &["fulmar-core", "fulmar-login", "fulmar-predict"],
        reach: Reach::Pure,
    },
    Member {
        name: "fulmar-compat",
        uses: &["fulmar-core", "fulmar-login", "fulmar-settings"],
        reach: Reach::Pure,
    },
    Member {
        name: SIMULATOR,
        uses: &[],
        reach: Reach::Pure,
    },
    Member {
        name: "fulmar-platform",
        uses: &[],
        reach: Reach::System,
    },
    Member {
        name: "fulmar",
        uses: &[
            "fulmar-copy",
            "fulmar-compat",
            "fulmar-core",
            "fulmar-datagram",
            "fulmar-login",
            "fulmar-platform",
            "fulmar-predict",
            "fulmar-quic",
            "fulmar-settings",
            "fulmar-terminal",
            "fulmar-transport",
            "fulmar-tree",
        ],
        reach: Reach::System,
    },
    Member {
        name: "fulmar-tree",
        uses: &["fulmar-copy"],
        reach: Reach::System,
    },
    Member {
        name: LAB,
        uses: &[
            "fulmar-core",
            "fulmar-datagram",
            "fulmar-platform",
            "fulmar-predict",
            SIMULATOR,
            "fulmar-terminal",
            TEST_BED,
            "fulmar-transport",
        ],
        reach: Reach::System,
    },
    Member {
        name: TEST_BED,
        uses: &["fulmar-platform", SIMULATOR],
        reach: Reach::System,
    },
    Member {
        name: "xtask",
        uses: &["fulmar-platform", TEST_BED],
        reach: Reach::System,
    },
];

/// The values that many crates name. Any member may use it; it uses none.
const BASE: &str = "fulmar-base";

/// Tests of any member may use it, the test bed, and the lab; nothing that is shipped may.
const SIMULATOR: &str = "fulmar-sim";

/// Tests and measurements of real programs share it. Tests of `fulmar` may use it, the lab and xtask; nothing that
/// is shipped may.
const TEST_BED: &str = "fulmar-testbed";

/// It judges what others do, so what it judges is used in one place only: see [`independence`].
const LAB: &str = "fulmar-lab";

/// The folders in which the lab is a peer itself, in virtual time: carrying sessions, and showing them to predictors.
const SIMULATED_PEERS: [&str; 2] = [
    "crates/fulmar-lab/src/simulated",
    "crates/fulmar-lab/src/predict",
];

/// The crates that a peer is made of, as code names them.
const PEER_CRATES: &[&str] = &[
    "fulmar_core",
    "fulmar_datagram",
    "fulmar_predict",
    "fulmar_terminal",
    "fulmar_transport",
];

/// Crates that touch the system, and so are for [`Reach::System`] only.
const SYSTEM_CRATES: &[&str] = &[
    "getrandom",
    "libc",
    "mio",
    "nix",
    "quinn-udp",
    "rustix",
    "signal-hook",
    "socket2",
];

/// Checks every member in the answer of `cargo metadata --no-deps`.
///
/// # Errors
///
/// When the answer has not the shape that cargo documents.
pub(super) fn findings(metadata: &Value) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in list(metadata, "packages")? {
        let name = text(package, "name")?;
        let manifest = format!("{name}/Cargo.toml");
        let Some(member) = MEMBERS.iter().find(|member| member.name == name) else {
            let message = "a member without its line in xtask/src/tidy/arrows.rs";
            findings.push(Finding::error(manifest, 0, message));
            continue;
        };
        for dependency in list(package, "dependencies")? {
            let used = text(dependency, "name")?;
            let is_for_tests = dependency["kind"] == "dev";
            if !member.may_use(used, is_for_tests) {
                findings.push(Finding::error(
                    &manifest,
                    0,
                    format!("may not depend on {used}"),
                ));
            }
        }
    }
    Ok(findings)
}

/// Checks that the lab, but for its simulated peer, uses no code of what it judges.
pub(super) fn independence(files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    let of_lab = files.iter().filter(|(path, _)| {
        path.starts_with("crates/fulmar-lab")
            && !SIMULATED_PEERS.iter().any(|peer| path.starts_with(peer))
            && path.extension().is_some_and(|extension| extension == "rs")
    });
    for (path, text) in of_lab {
        for (number, line) in (1..).zip(Source::split(text).code.lines()) {
            if let Some(used) = PEER_CRATES.iter().find(|used| line.contains(**used)) {
                let peers = SIMULATED_PEERS.join(" and ");
                let message = format!("{used} outside of {peers}: the lab judges it");
                findings.push(Finding::error(path, number, message));
            }
        }
    }
    findings
}

impl Member {
    fn may_use(&self, used: &str, is_for_tests: bool) -> bool {
        if used == SIMULATOR {
            let is_tested_with_it = is_for_tests && self.name != SIMULATOR;
            return is_tested_with_it || self.uses.contains(&SIMULATOR);
        }
        if used == TEST_BED && is_for_tests {
            return self.name == "fulmar" || self.uses.contains(&TEST_BED);
        }
        if used == BASE {
            return self.name != BASE;
        }
        if MEMBERS.iter().any(|member| member.name == used) {
            return self.uses.contains(&used);
        }
        self.reach == Reach::System || is_for_tests || !SYSTEM_CRATES.contains(&used)
    }
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    value[key]
        .as_array()
        .with_context(|| format!("cargo metadata has no list of {key}"))
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value[key]
        .as_str()
        .with_context(|| format!("cargo metadata has no {key}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the findings about a package with one dependency of that kind (`normal` or `dev`).
    fn said(name: &str, dependency: &str, kind: &str) -> Vec<String> {
        let kind = if kind == "normal" {
            Value::Null
        } else {
            kind.into()
        };
        let metadata = serde_json::json!({ "packages": [
            { "name": name, "dependencies": [{ "name": dependency, "kind": kind }] }
        ]});
        findings(&metadata)
            .unwrap()
            .iter()
            .map(|finding| finding.to_string())
            .collect()
    }

    #[test]
    fn the_arrows_of_the_drawing_are_allowed() {
        for (from, to) in [
            ("fulmar-transport", "fulmar-datagram"),
            ("fulmar-core", "fulmar-terminal"),
            ("fulmar-predict", "fulmar-terminal"),
            ("fulmar", "fulmar-core"),
            ("fulmar", "fulmar-login"),
            ("fulmar-login", "fulmar-quic"),
            ("fulmar", "fulmar-settings"),
            ("fulmar-settings", "fulmar-login"),
            ("fulmar", "fulmar-compat"),
            ("fulmar-compat", "fulmar-settings"),
            ("fulmar", "fulmar-platform"),
            (LAB, SIMULATOR),
            (LAB, "fulmar-platform"),
            (LAB, "fulmar-core"),
        ] {
            assert_eq!(said(from, to, "normal"), [""; 0], "{from} to {to}");
        }
    }

    #[test]
    fn all_others_are_not() {
        for (from, to) in [
            ("fulmar-datagram", "fulmar-transport"),
            ("fulmar-terminal", "fulmar-transport"),
            ("fulmar-transport", "fulmar-terminal"),
            ("fulmar-core", "fulmar-platform"),
            ("fulmar-core", "fulmar-login"),
            ("fulmar-login", "fulmar-platform"),
            ("fulmar-login", "fulmar-settings"),
            ("fulmar-settings", "fulmar-platform"),
            ("fulmar-login", "fulmar-compat"),
            ("fulmar-compat", "fulmar-platform"),
            ("fulmar-predict", "fulmar-transport"),
            ("fulmar-platform", "fulmar-datagram"),
            ("fulmar-sim", "fulmar-datagram"),
            (LAB, "fulmar"),
            ("fulmar", LAB),
            ("xtask", "fulmar-core"),
        ] {
            for kind in ["normal", "dev", "build"] {
                let expected = [format!("{from}/Cargo.toml: error: may not depend on {to}")];
                assert_eq!(said(from, to, kind), expected, "{from} to {to}, {kind}");
            }
        }
    }

    #[test]
    fn base_may_be_used_by_all_and_uses_none() {
        for member in MEMBERS.iter().filter(|member| member.name != BASE) {
            let from = member.name;
            assert_eq!(said(from, BASE, "normal"), [""; 0], "{from} to base");
            assert_eq!(said(BASE, from, "normal").len(), 1, "base to {from}");
        }
    }

    #[test]
    fn the_lab_uses_what_it_judges_in_one_place() {
        let file = |path: &str, text: &str| Files::from([(path.into(), text.to_owned())]);
        let found = |path, text| independence(&file(path, text)).len();
        let import = "use fulmar_core::Client;";
        assert_eq!(found("crates/fulmar-lab/src/judge/observer.rs", import), 1);
        assert_eq!(found("crates/fulmar-lab/tests/link.rs", import), 1);
        assert_eq!(
            found("crates/fulmar-lab/src/simulated/client.rs", import),
            0
        );
        assert_eq!(
            found("crates/fulmar-lab/src/predict/typing_client.rs", import),
            0
        );
        assert_eq!(found("crates/fulmar/src/run.rs", import), 0);
        let told = "// fulmar_core knows";
        assert_eq!(found("crates/fulmar-lab/src/judge/observer.rs", told), 0);
    }

    #[test]
    fn the_simulator_is_for_tests() {
        assert_eq!(said("fulmar-core", SIMULATOR, "dev"), [""; 0]);
        assert_eq!(said("fulmar-core", SIMULATOR, "normal").len(), 1);
        assert_eq!(said("fulmar", SIMULATOR, "build").len(), 1);
    }

    #[test]
    fn the_test_bed_is_for_tests_of_the_program_and_for_what_is_never_shipped() {
        assert_eq!(said("fulmar", TEST_BED, "dev"), [""; 0]);
        assert_eq!(said("fulmar", TEST_BED, "normal").len(), 1);
        assert_eq!(said("fulmar-core", TEST_BED, "dev").len(), 1);
        for (from, to) in [
            (LAB, TEST_BED),
            ("xtask", TEST_BED),
            (TEST_BED, "fulmar-platform"),
        ] {
            assert_eq!(said(from, to, "normal"), [""; 0], "{from} to {to}");
        }
        assert_eq!(said(TEST_BED, LAB, "normal").len(), 1);
    }

    #[test]
    fn a_pure_crate_has_no_system_crate() {
        assert_eq!(said("fulmar-transport", "rustix", "normal").len(), 1);
        assert_eq!(said("fulmar-transport", "miniz_oxide", "normal"), [""; 0]);
        assert_eq!(said("fulmar-platform", "rustix", "normal"), [""; 0]);
    }

    #[test]
    fn a_new_member_is_asked_for_its_line() {
        assert_eq!(said("fulmar-new", "anyhow", "normal").len(), 1);
    }
}
