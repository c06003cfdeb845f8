//! Tells the user of an error with a file: what was tried, on which machine and why it failed.

use fulmar_copy::{CopyEnd, EntryError, EntryErrorKind};

/// Returns one line about an error at an end of a copy. `host` is that end's host, as the user wrote it, if it is not this machine.
///
/// Paths on a host are written as operands, `host:path`.
pub(super) fn entry_error_text(end: CopyEnd, host: Option<&str>, error: &EntryError) -> String {
    // A folder that was named with a slash at its end has a second one before what is in it.
    let place = String::from_utf8_lossy(&error.place).replace("//", "/");
    let place = match host {
        Some(host) if place.is_empty() || place == "." => format!("the home folder on {host}"),
        Some(host) => format!("{host}:{place}"),
        None if place.is_empty() => ".".to_owned(),
        None => place,
    };
    let tried = match error.kind {
        // These say what happened by themselves.
        EntryErrorKind::Shrunk
        | EntryErrorKind::Changed
        | EntryErrorKind::Digest
        | EntryErrorKind::NotAsked
        | EntryErrorKind::NoMatch
        | EntryErrorKind::Interrupted => "",
        EntryErrorKind::Special | EntryErrorKind::Taken | EntryErrorKind::IsFolder
            if end == CopyEnd::Source =>
        {
            "skipped "
        }
        _ if end == CopyEnd::Source => "cannot read ",
        _ => "cannot write ",
    };
    let note = match error.note.as_str() {
        "" => String::new(),
        note => format!(" ({note})"),
    };
    format!("{tried}{place}: {}{note}", error.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_was_tried_where_and_why() {
        let denied = EntryError::at(b"dir/a", EntryErrorKind::Denied);
        for (end, host, text) in [
            (
                CopyEnd::Source,
                None,
                "cannot read dir/a: permission denied",
            ),
            (
                CopyEnd::Source,
                Some("ada@far"),
                "cannot read ada@far:dir/a: permission denied",
            ),
            (
                CopyEnd::Target,
                None,
                "cannot write dir/a: permission denied",
            ),
            (
                CopyEnd::Target,
                Some("far"),
                "cannot write far:dir/a: permission denied",
            ),
        ] {
            assert_eq!(entry_error_text(end, host, &denied), text);
        }
    }

    #[test]
    fn an_error_that_says_it_all_has_no_verb() {
        let missing = EntryError::at(b"*.c", EntryErrorKind::NoMatch);
        let text = entry_error_text(CopyEnd::Source, Some("far"), &missing);
        assert_eq!(text, "far:*.c: nothing there matches");
        let pipe = EntryError::at(b"dir/pipe", EntryErrorKind::Special);
        let text = entry_error_text(CopyEnd::Source, None, &pipe);
        assert_eq!(text, "skipped dir/pipe: it is not a regular file");
        let pipe = EntryError::at(b"dir//pipe", EntryErrorKind::IsFolder);
        let text = entry_error_text(CopyEnd::Source, None, &pipe);
        assert_eq!(text, "skipped dir/pipe: it is a folder");
        let shrunk = EntryError::at(b"log", EntryErrorKind::Shrunk).with_note("rotated");
        let text = entry_error_text(CopyEnd::Source, None, &shrunk);
        assert_eq!(text, "log: it became shorter while it was read (rotated)");
    }

    #[test]
    fn what_was_not_named_is_the_home_folder_there_and_the_current_one_here() {
        let denied = EntryError::new(EntryErrorKind::Denied);
        let text = entry_error_text(CopyEnd::Target, Some("far"), &denied);
        assert_eq!(
            text,
            "cannot write the home folder on far: permission denied"
        );
        let text = entry_error_text(CopyEnd::Target, None, &denied);
        assert_eq!(text, "cannot write .: permission denied");
    }
}
