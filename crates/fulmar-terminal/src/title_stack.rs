//! A stack of titles.

use std::sync::Arc;

/// The most titles that are put away; the oldest of more is forgotten.
///
/// Source: xterm 379 keeps as many.
pub(crate) const TITLES_AWAY_MAX: usize = 10;

/// Window title and icon name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) title: Option<Arc<str>>,
    pub(crate) icon_name: Option<Arc<str>>,
}

/// The titles that are put away, the newest last. A clone is cheap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TitleStack(Arc<Vec<Names>>);

impl TitleStack {
    /// Returns what was put away last.
    pub(crate) fn last(&self) -> Option<&Names> {
        self.0.last()
    }

    /// Puts names on top; the oldest go where there are too many.
    pub(crate) fn push(&mut self, names: Names) {
        let stack = Arc::make_mut(&mut self.0);
        if stack.len() >= TITLES_AWAY_MAX {
            stack.remove(0);
        }
        stack.push(names);
    }

    /// Takes off what was put away last.
    pub(crate) fn pop(&mut self) -> Option<Names> {
        self.last()?;
        Arc::make_mut(&mut self.0).pop()
    }

    /// Estimates the memory that the stack takes.
    pub(crate) fn held_bytes(&self) -> usize {
        let length = |text: &Option<Arc<str>>| text.as_deref().map_or(0, str::len);
        let held = |names: &Names| length(&names.title) + length(&names.icon_name);
        self.0.capacity() * size_of::<Names>() + self.0.iter().map(held).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_put_away_up_to_the_cap() {
        let mut stack = TitleStack::default();
        for number in 0..=TITLES_AWAY_MAX {
            stack.push(Names {
                title: Some(number.to_string().into()),
                icon_name: None,
            });
        }
        assert!(stack.held_bytes() >= TITLES_AWAY_MAX);
        let titles = std::iter::from_fn(|| stack.pop()).filter_map(|names| names.title);
        let titles: Vec<_> = titles.collect();
        assert_eq!(titles.len(), TITLES_AWAY_MAX);
        assert_eq!(titles.last().map(|title| &**title), Some("1"));
    }
}
