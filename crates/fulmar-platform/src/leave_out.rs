//! Tests that this machine cannot run.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::Write as _;

/// Says that the calling test cannot run here, or not all of it: on standard error, and in the file
/// that `FULMAR_TEST_SKIPPED` names, if there is one. `cargo xtask test` lists these at its end,
/// because libtest hides what a passing test prints.
///
/// # Panics
///
/// When the file is named and cannot be written.
pub fn leave_out(reason: &str) {
    note(std::env::var_os("FULMAR_TEST_SKIPPED").as_deref(), reason);
}

/// Appends "name of the test, TAB, reason" to `list`, in one write, since tests run in parallel.
fn note(list: Option<&OsStr>, reason: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    eprintln!("left out: {test}: {reason}");
    let Some(list) = list else { return };
    let mut list = OpenOptions::new()
        .append(true)
        .open(list)
        .expect("the list can be opened");
    list.write_all(format!("{test}\t{reason}\n").as_bytes())
        .expect("the list can be written");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_left_out_is_noted_by_name() {
        let list = tempfile::NamedTempFile::new().unwrap();
        note(Some(list.path().as_os_str()), "no such thing");
        let noted = std::fs::read_to_string(list.path()).unwrap();
        let name = "leave_out::tests::a_test_left_out_is_noted_by_name";
        assert_eq!(noted, format!("{name}\tno such thing\n"));
    }
}
