//! Measuring with an experiment's work, where the machine has what it needs.

use std::path::{Path, PathBuf};

use fulmar_lab::experiment::{LabSetup, Measured, Work};
use fulmar_testbed::peers::leave_out;

use super::{SSH, has, link};

/// Our program, which is built beside the lab.
fn fulmar() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_fulmar-lab")).with_file_name("fulmar")
}

/// Measures, or says that the calling test cannot run here.
#[track_caller]
pub(crate) fn measured(peer: &str, work: &impl Work) -> Option<Measured> {
    link("")?;
    if !has(&SSH) {
        return None;
    }
    if peer.starts_with("fulmar") && !fulmar().is_file() {
        leave_out("fulmar is not built beside fulmar-lab");
        return None;
    }
    let setup = LabSetup {
        fulmar: fulmar(),
        ..LabSetup::default()
    };
    match work.measure(peer, 1, &setup) {
        Ok(measured) => Some(measured),
        Err(error) if format!("{error:#}").contains("sshd cannot be had") => {
            leave_out(&format!("{error:#}"));
            None
        }
        Err(error) => panic!("{error:#}"),
    }
}

/// The value of a figure that must be there.
#[track_caller]
pub(crate) fn value(measured: &Measured, name: &str) -> f64 {
    let figure = measured.figures.get(name);
    figure
        .unwrap_or_else(|| panic!("no {name} in {:?}", measured.figures))
        .value
}
