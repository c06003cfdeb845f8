//! Prints events as JSON: one object on a line (docs/copy.md).

use std::net::SocketAddr;

use fulmar_copy::{
    CopyEnd, CopyEvent, EntryError, EntryKind, EntryVerdict, Occupant, Progress, Totals,
};

use super::progress::PathState;
use crate::report::json_text;

/// An object that is being written.
struct Object(String);

impl Object {
    fn of(event: &str) -> Object {
        Object(format!("{{\"event\":\"{event}\""))
    }

    fn text(mut self, name: &str, value: &str) -> Object {
        self.0
            .push_str(&format!(",\"{name}\":{}", json_text(value)));
        self
    }

    fn number(mut self, name: &str, value: u64) -> Object {
        self.0.push_str(&format!(",\"{name}\":{value}"));
        self
    }

    fn truth(mut self, name: &str, value: bool) -> Object {
        self.0.push_str(&format!(",\"{name}\":{value}"));
        self
    }

    /// A path is text where it is text; else its bytes are there as well.
    fn path(self, bytes: &[u8]) -> Object {
        let object = self.text("path", &String::from_utf8_lossy(bytes));
        match str::from_utf8(bytes) {
            Ok(_) => object,
            Err(_) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                object.text("path_hex", &hex)
            }
        }
    }

    fn line(self) -> String {
        self.0 + "}\n"
    }
}

/// The connection carries bytes from now on.
pub(super) fn connected(host: &str, path: &PathState, address: Option<SocketAddr>) -> String {
    let object = Object::of("connected").text("host", host);
    let object = match path {
        PathState::Udp { .. } => object.text("over", "udp"),
        PathState::Ssh => object.text("over", "ssh"),
    };
    match address {
        Some(address) => object
            .text("address", &address.ip().to_canonical().to_string())
            .number("port", address.port().into())
            .line(),
        None => object.line(),
    }
}

/// Returns the line of a copy's progress.
pub(super) fn progress(progress: &Progress, rate: u64) -> String {
    Object::of("progress")
        .number("bytes", progress.bytes)
        .number("bytes_known", progress.bytes_known)
        .number("bytes_resumed", progress.bytes_held)
        .number("entries", progress.entries)
        .number("bytes_per_second", rate)
        .truth("all_known", progress.is_walked)
        .line()
}

/// Returns the line of an event; `None` for one that has none.
pub(super) fn event(event: &CopyEvent) -> Option<String> {
    Some(match event {
        CopyEvent::Settled {
            path,
            kind,
            verdict,
        } => settled(path.as_bytes(), kind, verdict),
        CopyEvent::EntryError(trouble) => {
            with_trouble(Object::of("error").path(&trouble.place), trouble)
        }
        CopyEvent::Answered(_) => return None,
    })
}

fn settled(path: &[u8], kind: &EntryKind, verdict: &EntryVerdict) -> String {
    let name = match kind {
        EntryKind::Folder | EntryKind::Leave => "folder",
        EntryKind::File { .. } => "file",
        EntryKind::Link { .. } => "link",
    };
    let object = Object::of(name).path(path);
    let object = match kind {
        EntryKind::File { .. } => object.number("bytes", kind.size()),
        _ => object,
    };
    match verdict {
        EntryVerdict::Whole => object.text("result", "copied").line(),
        EntryVerdict::Changed => object.text("result", "changed").line(),
        EntryVerdict::Looked(occupant) => {
            let result = match occupant {
                Occupant::Nothing => "new",
                Occupant::Another => "replaces",
                Occupant::Same => "same",
                Occupant::Partial => "resumes",
            };
            object.text("result", result).line()
        }
        EntryVerdict::Failed { end, error } => {
            let at = match end {
                CopyEnd::Source => "source",
                CopyEnd::Target => "target",
            };
            let object = object.text("result", "failed").text("at", at);
            with_trouble(object, error)
        }
    }
}

fn with_trouble(object: Object, trouble: &EntryError) -> String {
    let object = object.text("why", &trouble.kind.to_string());
    if trouble.note.is_empty() {
        object.line()
    } else {
        object.text("note", &trouble.note).line()
    }
}

/// It is over.
pub(super) fn done(totals: &Totals, resumed: u64, seconds: f64) -> String {
    let mut object = Object::of("done")
        .number("files", totals.files)
        .number("folders", totals.folders)
        .number("links", totals.links)
        .number("bytes", totals.bytes)
        .number("bytes_resumed", resumed)
        .number("errors", totals.troubles);
    object.0.push_str(&format!(",\"seconds\":{seconds:.3}"));
    object.line()
}

#[cfg(test)]
mod tests {
    use fulmar_copy::{EntryErrorKind, RelativePath};

    use std::time::Duration;

    use super::*;

    fn settled_line(path: &[u8], verdict: EntryVerdict) -> String {
        let event = CopyEvent::Settled {
            path: RelativePath::new(path).unwrap(),
            kind: EntryKind::File { size: Some(7) },
            verdict,
        };
        super::event(&event).unwrap()
    }

    #[test]
    fn the_far_end_has_an_address_and_a_port() {
        let udp = PathState::Udp {
            rtt: Duration::ZERO,
            lost_of_thousand: 0,
        };
        let address = Some(SocketAddr::from(([192, 0, 2, 7], 60001)));
        let line = connected("far", &udp, address);
        assert!(
            line.contains(r#""over":"udp","address":"192.0.2.7","port":60001}"#),
            "{line}"
        );
    }

    #[test]
    fn names_are_quoted() {
        assert_eq!(
            settled_line(b"a \"b\"\\\n\x1b", EntryVerdict::Whole),
            "{\"event\":\"file\",\"path\":\"a \\\"b\\\"\\\\\\u000a\\u001b\",\"bytes\":7,\
             \"result\":\"copied\"}\n"
        );
        let line = settled_line(b"a\xFF", EntryVerdict::Changed);
        assert!(line.contains("\"path_hex\":\"61ff\""), "{line}");
    }

    fn failed_at_target(error: &EntryError) -> EntryVerdict {
        EntryVerdict::Failed {
            end: CopyEnd::Target,
            error: error.clone(),
        }
    }

    #[test]
    fn a_trouble_says_why() {
        let trouble = EntryError::at(b"x", EntryErrorKind::DiskFull).with_note("12 MB are missing");
        let line = settled_line(b"x", failed_at_target(&trouble));
        let end = "\"result\":\"failed\",\"at\":\"target\",\"why\":\"the disk is full\",\"note\":\"12 MB are missing\"}\n";
        assert!(line.ends_with(end), "{line}");
        let line = event(&CopyEvent::EntryError(trouble)).unwrap();
        assert!(
            line.starts_with("{\"event\":\"error\",\"path\":\"x\","),
            "{line}"
        );
    }

    #[test]
    fn the_end_has_all_numbers() {
        let totals = Totals {
            files: 2,
            bytes: 9,
            ..Totals::default()
        };
        assert_eq!(
            done(&totals, 4, 1.5),
            "{\"event\":\"done\",\"files\":2,\"folders\":0,\"links\":0,\"bytes\":9,\"bytes_resumed\":4,\"errors\":0,\
             \"seconds\":1.500}\n"
        );
    }
}
