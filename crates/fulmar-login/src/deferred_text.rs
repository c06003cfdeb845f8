//! Text that is said over ssh while a session has the terminal: it is told when the session is over.

/// The most of it that is kept.
///
/// Source: docs/threat-model.md §6.
const DEFERRED_BYTES_MAX: usize = 64 * 1024;

/// The text of others since a server could be reached, with control characters spelled out.
#[derive(Debug, Default)]
pub(crate) struct DeferredText {
    text: String,
    is_cut: bool,
}

impl DeferredText {
    /// Takes more of it.
    pub(crate) fn add(&mut self, text: &str) {
        let room = DEFERRED_BYTES_MAX.saturating_sub(self.text.len());
        let mut end = room.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.text.push_str(text.get(..end).unwrap_or_default());
        self.is_cut |= end < text.len();
    }

    /// Returns what is to be shown of it, once, and what is to be told if there was more.
    pub(crate) fn take(&mut self) -> (String, Option<String>) {
        let DeferredText { text, is_cut } = std::mem::take(self);
        let most = DEFERRED_BYTES_MAX / 1024;
        let cut = is_cut.then(|| {
            format!("more than {most} KiB were said over ssh meanwhile; the rest is not shown")
        });
        (without_greeting(&text), cut)
    }
}

/// Returns the text without the lines by which a `mosh-server` says that it has gone to the background, its licence
/// among them: with each session they would be news of nothing.
///
/// Source: docs/protocol.md §2.6.
fn without_greeting(text: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = |start: &str| lines.iter().position(|line| line.starts_with(start));
    let (first, last) = match (
        at("mosh-server (mosh "),
        at("[mosh-server detached, pid = "),
    ) {
        (Some(first), Some(last)) if first <= last => (first, last),
        (None, Some(last)) => (last, last),
        _ => return text.to_owned(),
    };
    let is_empty = |number: &usize| {
        lines
            .get(*number)
            .is_some_and(|line| line.trim().is_empty())
    };
    // The server begins with an empty line, which belongs to what is left out.
    let first = first.checked_sub(1).filter(is_empty).unwrap_or(first);
    let (before, rest) = lines.split_at(first);
    let after = rest.get(last + 1 - first..).unwrap_or_default();
    before.iter().chain(after).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_kept_up_to_its_bound() {
        let mut deferred = DeferredText::default();
        deferred.add(&"x".repeat(DEFERRED_BYTES_MAX - 1));
        deferred.add("y");
        assert_eq!(
            (deferred.text.len(), deferred.is_cut),
            (DEFERRED_BYTES_MAX, false)
        );
        deferred.add("z");
        assert_eq!(
            (deferred.text.len(), deferred.is_cut),
            (DEFERRED_BYTES_MAX, true)
        );
        let mut deferred = DeferredText::default();
        deferred.add(&"ü".repeat(DEFERRED_BYTES_MAX));
        assert_eq!(
            (deferred.text.len(), deferred.is_cut),
            (DEFERRED_BYTES_MAX, true)
        );
    }

    #[test]
    fn a_server_that_goes_to_the_background_is_no_news_and_all_else_is() {
        let greeting = "\nmosh-server (mosh 1.4.0) [build mosh 1.4.0]\nLicense GPLv3+\n\n\
                        [mosh-server detached, pid = 4711]\n";
        assert_eq!(without_greeting(greeting), "");
        assert_eq!(without_greeting(&format!("a\n{greeting}b")), "a\nb");
        for text in ["", "a", "a\n\nb\n", "mosh-server (mosh 1.4.0)\nb\n"] {
            assert_eq!(without_greeting(text), text);
        }
        let turned = "[mosh-server detached, pid = 1]\nmosh-server (mosh 1.4.0)\n";
        assert_eq!(without_greeting(turned), turned);
    }
}
