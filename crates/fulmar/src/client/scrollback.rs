//! The terminals whose scrollback keeps well what a session puts there.

use fulmar_settings::Environment;

/// The beginnings of the names of terminals that keep what line ends at the bottom of their main screen have scrolled off. Others
/// keep nothing, as the consoles of systems do, or nobody has tried what they do when their window changes.
const WITH_SCROLLBACK: [&str; 10] = [
    "xterm",
    "alacritty",
    "tmux",
    "foot",
    "kitty",
    "wezterm",
    "contour",
    "ghostty",
    "konsole",
    "vte",
];

/// Returns why nothing is put into the scrollback of the terminal of these variables unless the user says so; `None` if that is good.
pub(super) fn doubt(environment: &Environment) -> Option<&'static str> {
    let term = environment.get_text("TERM").unwrap_or_default();
    let is_tmux = term.starts_with("screen") && environment.get("TMUX").is_some();
    if !is_tmux && !WITH_SCROLLBACK.iter().any(|name| term.starts_with(name)) {
        return Some("it has not been tried with this type of terminal");
    }
    if environment.get("INSIDE_EMACS").is_some() {
        return Some("it has not been tried with the terminals of Emacs");
    }
    let is_apple = environment.get_text("TERM_PROGRAM") == Some("Apple_Terminal");
    is_apple.then_some("it has not been tried with Apple's Terminal")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_trusted(variables: &[(&str, &str)]) -> bool {
        doubt(&variables.iter().copied().collect()).is_none()
    }

    #[test]
    fn terminals_that_are_known_to_keep_lines_are_trusted() {
        for term in [
            "xterm-256color",
            "xterm-kitty",
            "tmux-256color",
            "alacritty",
        ] {
            assert!(is_trusted(&[("TERM", term)]), "{term}");
        }
        assert!(is_trusted(&[
            ("TERM", "screen-256color"),
            ("TMUX", "/tmp/tmux")
        ]));
    }

    #[test]
    fn others_are_not() {
        for term in ["linux", "dumb", "screen", "vt220", ""] {
            assert!(!is_trusted(&[("TERM", term)]), "{term}");
        }
        let xterm = ("TERM", "xterm-256color");
        assert!(!is_trusted(&[]));
        assert!(!is_trusted(&[xterm, ("INSIDE_EMACS", "30.1,vterm")]));
        assert!(!is_trusted(&[xterm, ("TERM_PROGRAM", "Apple_Terminal")]));
    }
}
