//! The configuration file as text: settings for all hosts, and for those that a pattern names.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::pattern::HostPatterns;
use crate::setting::{AnySetting, SettingInfo, ValueForm};
use crate::table::SETTINGS;

/// The key of the sections.
const HOST: &str = "host";

/// The key of a section's patterns.
const MATCH: &str = "match";

/// Words that people may try instead of [`MATCH`], in lower case.
const HOST_WORDS: [&str; 6] = [HOST, "hosts", "hostname", "name", "pattern", "patterns"];

/// So many faults of a file are told at most: a screen's worth, chosen by eye.
const FAULTS_MAX: usize = 8;

/// Keys beyond this length are not compared with those that exist.
///
/// Chosen by eye: longer than any key that exists.
const MISSPELT_BYTES_MAX: usize = 32;

/// The content of a configuration file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConfigDocument {
    /// Sections with patterns, in their order.
    hosts: Vec<(HostPatterns, Vec<Entry>)>,
    /// The settings that hold otherwise.
    general: Vec<Entry>,
}

/// One setting in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    name: &'static str,
    /// Its value as a flag would have it.
    pub(crate) text: OsString,
    /// Its line, from 1.
    pub(crate) line: usize,
}

/// Something in a file that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// From 1.
    line: usize,
    /// In characters, from 1.
    column: usize,
    what: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.what)
    }
}

impl ConfigDocument {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// With the first of its faults, in their order, and never without any.
    pub(crate) fn parse(text: &str) -> Result<ConfigDocument, Vec<ConfigError>> {
        let mut reader = Reader::new(text);
        let mut document = ConfigDocument::default();
        match DeTable::parse(text) {
            Ok(table) => reader.document(table.get_ref(), &mut document),
            Err(error) => {
                let span = error.span().unwrap_or_default();
                let key = text.get(span.clone()).unwrap_or_default().trim();
                let message = match error.message() {
                    "duplicate key" => format!("{key} is there twice"),
                    other => reader
                        .unquoted(&span)
                        .unwrap_or_else(|| other.replace('\n', ", ")),
                };
                reader.fault(span, message);
            }
        }
        if reader.faults.is_empty() {
            Ok(document)
        } else {
            Err(reader.first_faults())
        }
    }

    /// Returns what holds for a host, or without one for none in particular: the first section that
    /// matches and has the setting, else what holds for all.
    pub(crate) fn find(&self, name: &str, host: Option<&OsStr>) -> Option<&Entry> {
        let host = host.map(OsStr::as_encoded_bytes);
        let sections = self.hosts.iter();
        let matching =
            sections.filter(|(patterns, _)| host.is_some_and(|host| patterns.matches(host)));
        let entries = matching.map(|(_, entries)| entries);
        let mut found = entries
            .chain([&self.general])
            .filter_map(|entries| entries.iter().find(|entry| entry.name == name));
        found.next()
    }
}

/// A file that is being read.
struct Reader<'t> {
    text: &'t str,
    /// The offsets at which lines begin.
    lines: Vec<usize>,
    faults: Vec<(usize, ConfigError)>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Reader<'t> {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Reader {
            text,
            lines: [0].into_iter().chain(ends).collect(),
            faults: Vec::new(),
        }
    }

    fn document(&mut self, table: &DeTable<'_>, document: &mut ConfigDocument) {
        for (key, value) in table.iter() {
            match (key.get_ref().as_ref(), value.get_ref()) {
                (HOST, DeValue::Array(sections)) => self.sections(sections, document),
                (HOST, _) => {
                    let what = "a section for hosts begins with [[host]], in two brackets each";
                    self.fault(key.span(), what.to_owned());
                }
                (MATCH, _) => {
                    let what = "match belongs under [[host]]";
                    self.fault(key.span(), what.to_owned());
                }
                _ => document.general.extend(self.entry(key, value, HOST)),
            }
        }
    }

    /// Returns what to say of a line that would be a setting if its value were in quotes.
    fn unquoted(&self, span: &Range<usize>) -> Option<String> {
        let (number, _) = self.place(span.start);
        let line = self.text.lines().nth(number - 1)?;
        let (name, value) = line.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        let is_setting = name == MATCH || known(name).is_some();
        let may_be_quoted = !value.is_empty() && !value.contains(['"', '\'', '#', '\\']);
        (is_setting && may_be_quoted)
            .then(|| format!("put the value in quotes: {name} = \"{value}\""))
    }

    fn sections(&mut self, sections: &DeArray<'_>, document: &mut ConfigDocument) {
        for section in sections.iter() {
            match section.get_ref() {
                DeValue::Table(table) => document.hosts.extend(self.section(table, section.span())),
                _ => {
                    let what = "a section for hosts begins with [[host]]";
                    self.fault(section.span(), what.to_owned());
                }
            }
        }
    }

    fn section(
        &mut self,
        table: &DeTable<'_>,
        span: Range<usize>,
    ) -> Option<(HostPatterns, Vec<Entry>)> {
        let mut patterns = None;
        let mut entries = Vec::new();
        let mut has_match = false;
        for (key, value) in table.iter() {
            match key.get_ref().as_ref() {
                MATCH => {
                    has_match = true;
                    patterns = self.patterns(value);
                }
                name if HOST_WORDS.contains(&name.to_lowercase().as_str()) => {
                    has_match = true;
                    let written = self.text.get(value.span()).unwrap_or_default();
                    let what = format!("the hosts of a section are named by match, not by {name}");
                    let what = match value.get_ref() {
                        DeValue::String(_) => format!("{what}: match = {written}"),
                        _ => what,
                    };
                    self.fault(key.span(), what);
                }
                _ => entries.extend(self.entry(key, value, MATCH)),
            }
        }
        if !has_match {
            let what = "a section for hosts needs a line such as match = \"*.example.org\"";
            self.fault(span, what.to_owned());
        }
        Some((patterns?, entries))
    }

    fn patterns(&mut self, value: &Spanned<DeValue<'_>>) -> Option<HostPatterns> {
        let parsed = match value.get_ref() {
            DeValue::String(list) => HostPatterns::parse(list),
            _ => Err("it is a text in quotes".to_owned()),
        };
        parsed.map_err(|why| self.refuse(MATCH, value, &why)).ok()
    }

    /// Reads a setting, where besides settings there could be the key `other`.
    fn entry(
        &mut self,
        key: &Spanned<impl AsRef<str>>,
        value: &Spanned<DeValue<'_>>,
        other: &'static str,
    ) -> Option<Entry> {
        let name = key.get_ref().as_ref();
        let Some(known) = known(name) else {
            let what = unknown(name, other);
            self.fault(key.span(), what);
            return None;
        };
        let about = known.about();
        let read = flag_text(about, value.get_ref()).and_then(|text| {
            let text = OsString::from(text);
            known.check(&text).map(|()| text)
        });
        match read {
            Ok(text) => Some(Entry {
                name: about.name,
                text,
                line: self.place(key.span().start).0,
            }),
            Err(why) => {
                self.refuse(about.name, value, &why);
                None
            }
        }
    }

    fn refuse(&mut self, name: &str, value: &Spanned<DeValue<'_>>, why: &str) {
        let written = self.text.get(value.span()).unwrap_or_default();
        // A long one is not repeated; nor is what goes over several lines.
        let what = if written.len() <= 80 && !written.contains('\n') {
            format!("{name} cannot be {written}: {why}")
        } else {
            format!("{name} cannot be this: {why}")
        };
        self.fault(value.span(), what);
    }

    fn fault(&mut self, span: Range<usize>, what: String) {
        let (line, column) = self.place(span.start);
        let fault = ConfigError { line, column, what };
        self.faults.push((span.start, fault));
    }

    /// Returns line and column of a byte.
    fn place(&self, at: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|&start| start <= at);
        let start = self.lines.get(line.saturating_sub(1)).copied();
        let before = self.text.get(start.unwrap_or(0)..at.min(self.text.len()));
        (line, before.unwrap_or_default().chars().count() + 1)
    }

    fn first_faults(mut self) -> Vec<ConfigError> {
        self.faults.sort_by_key(|(at, _)| *at);
        self.faults.truncate(FAULTS_MAX);
        self.faults.into_iter().map(|(_, fault)| fault).collect()
    }
}

fn known(name: &str) -> Option<&'static dyn AnySetting> {
    SETTINGS
        .iter()
        .find(|known| known.about().name == name)
        .copied()
}

/// Returns a value as a flag would have it.
fn flag_text(about: &SettingInfo, value: &DeValue<'_>) -> Result<String, String> {
    match (value, about.shape) {
        (DeValue::Boolean(value), ValueForm::Switch(_)) => Ok(value.to_string()),
        (DeValue::String(text), ValueForm::Switch(_)) if **text == *about.default => {
            Ok(text.to_string())
        }
        (_, ValueForm::Switch(_)) => Err("it is true or false, without quotes".to_owned()),
        (DeValue::String(text), _) => Ok(text.to_string()),
        (DeValue::Integer(number), ValueForm::Text(_)) if number.radix() == 10 => {
            Ok(number.as_str().to_owned())
        }
        _ => Err("it is a text in quotes".to_owned()),
    }
}

/// Returns the known word that somebody may have meant who has typed `word`; `None` if none is near.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MISSPELT_BYTES_MAX {
        return None;
    }
    let distances = known.map(|known| (strsim::osa_distance(word, known), known));
    let (distance, known) = distances.min()?;
    (distance <= 1 + word.len() / 4).then_some(known)
}

/// Returns what to say of a key that does not exist.
fn unknown(name: &str, other: &'static str) -> String {
    let names = SETTINGS.iter().map(|known| known.about().name);
    match nearest(name, names.chain([other])) {
        Some(known) => format!("there is no setting {name}; the nearest is {known}"),
        // The advice says where all are.
        None => format!("there is no setting {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EXAMPLE: &str = r#"
predict = "never"
port = 60500
init = false

[[host]]
match = "*.example.org !bastion.example.org"
port = "60000:60010"
ssh = "ssh -o 'A=b c'"

[[host]]
match = "*"
ssh = "dbclient"
predict = "always"
"#;

    fn told(name: &str, host: Option<&str>) -> Option<(String, usize)> {
        let document = ConfigDocument::parse(EXAMPLE).unwrap();
        let entry = document.find(name, host.map(OsStr::new))?;
        Some((entry.text.to_str().unwrap().to_owned(), entry.line))
    }

    fn faults(text: &str) -> Vec<String> {
        let faults = ConfigDocument::parse(text).expect_err(text);
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_first_section_that_matches_and_has_the_key_counts() {
        let is = |text: &str, line| Some((text.to_owned(), line));
        let host = Some("a.example.org");
        assert_eq!(told("port", host), is("60000:60010", 8));
        assert_eq!(told("ssh", host), is("ssh -o 'A=b c'", 9));
        assert_eq!(told("predict", host), is("always", 14));
        assert_eq!(told("init", host), is("false", 4));
        assert_eq!(told("server", host), None);
        let bastion = Some("bastion.example.org");
        assert_eq!(told("ssh", bastion), is("dbclient", 13));
        assert_eq!(told("port", bastion), is("60500", 3));
    }

    #[test]
    fn without_a_host_only_what_is_for_all_counts() {
        assert_eq!(told("predict", None), Some(("never".to_owned(), 2)));
        assert_eq!(told("ssh", None), None);
    }

    #[test]
    fn an_empty_file_says_nothing() {
        for text in [
            "",
            "\n",
            "# only a remark",
            "\u{feff}# as some editors begin",
        ] {
            assert_eq!(
                ConfigDocument::parse(text),
                Ok(ConfigDocument::default()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn faults_are_told_with_their_place_and_what_would_be_right() {
        for (text, wanted) in [
            (
                "predcit = \"never\"",
                "1:1: there is no setting predcit; the nearest is predict",
            ),
            (
                "\nscape_key = \"x\"",
                "2:1: there is no setting scape_key; the nearest is escape-key",
            ),
            ("colour = 1", "1:1: there is no setting colour"),
            (
                "hots = 1",
                "1:1: there is no setting hots; the nearest is host",
            ),
            (
                "[host]\nmatch = \"a\"",
                "1:2: a section for hosts begins with [[host]], in two brackets each",
            ),
            (
                "host = [\"a\"]",
                "1:9: a section for hosts begins with [[host]]",
            ),
            ("match = \"a\"", "1:1: match belongs under [[host]]"),
            (
                "[[host]]\nmach = \"a\"\nmatch = \"a\"",
                "2:1: there is no setting mach; the nearest is match",
            ),
            (
                "[[host]]\nhost = \"known\"\npredict = \"never\"",
                "2:1: the hosts of a section are named by match, not by host: match = \"known\"",
            ),
            (
                "[[host]]\nHostname = [\"a\"]",
                "2:1: the hosts of a section are named by match, not by Hostname",
            ),
            (
                "[[host]]\nmatch = 7",
                "2:9: match cannot be 7: it is a text in quotes",
            ),
            (
                "[[host]]\nmatch = \"\"",
                "2:9: match cannot be \"\": it is a list of host names or patterns",
            ),
            (
                "predict = \"sometimes\"",
                "1:11: predict cannot be \"sometimes\": it is one of adaptive, always, never, experimental",
            ),
            (
                "  init = \"no\"",
                "1:10: init cannot be \"no\": it is true or false, without quotes",
            ),
            (
                "ssh = true",
                "1:7: ssh cannot be true: it is a text in quotes",
            ),
            (
                "port = 0xFF",
                "1:8: port cannot be 0xFF: it is a text in quotes",
            ),
            (
                "port = 70000",
                "1:8: port cannot be 70000: ports go from 0 to 65535",
            ),
        ] {
            assert_eq!(faults(text), [wanted], "{text}");
        }
    }

    #[test]
    fn a_section_without_patterns_is_told() {
        let told = faults("ssh = \"a\"\n[[host]]\nssh = \"b\"");
        assert_eq!(
            told,
            ["2:1: a section for hosts needs a line such as match = \"*.example.org\""]
        );
    }

    #[test]
    fn text_that_is_no_toml_is_told_with_its_place() {
        for (text, place) in [
            ("a", "1:"),
            ("\n\nssh = ", "3:"),
            ("ssh = \"a", "1:"),
            ("ssh = \"a\"\nssh = \"b\"", "2:1: "),
            ("ä ö", "1:3: "),
        ] {
            let told = faults(text);
            assert_eq!(told.len(), 1);
            assert!(told[0].starts_with(place), "{told:?}");
            assert!(!told[0].contains('\n'), "{told:?}");
        }
    }

    #[test]
    fn a_value_without_quotes_is_told_as_such() {
        for (text, wanted) in [
            (
                "port = 60000:60010",
                "1:8: put the value in quotes: port = \"60000:60010\"",
            ),
            (
                "\npredict = never\n",
                "2:11: put the value in quotes: predict = \"never\"",
            ),
            (
                "ssh=ssh -p 22",
                "1:5: put the value in quotes: ssh = \"ssh -p 22\"",
            ),
        ] {
            assert_eq!(faults(text), [wanted]);
        }
        for text in ["nothing = x", "ssh = ", "ssh = \"a", "ssh = a # b"] {
            assert!(!faults(text)[0].contains("quotes: "), "{text}");
        }
    }

    #[test]
    fn a_key_that_is_there_twice_is_named() {
        assert_eq!(
            faults("mouse = true\nport = 7000\nport = 7001\n"),
            ["3:1: port is there twice"]
        );
    }

    #[test]
    fn several_faults_are_told_in_their_order_and_not_too_many() {
        let told = faults("port = 1.5\nzzzz = 1\ninit = 7\n[[host]]\nport = false");
        let lines: Vec<&str> = told
            .iter()
            .filter_map(|fault| fault.split(':').next())
            .collect();
        assert_eq!(lines, ["1", "2", "3", "4", "5"]);
        let many: String = (0..100).map(|n| format!("k{n} = 1\n")).collect();
        assert_eq!(faults(&many).len(), FAULTS_MAX);
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in "(?s).{0,200}") {
            let _ = ConfigDocument::parse(&text);
        }

        #[test]
        fn nothing_that_looks_like_a_file_is_too_much(
            text in r#"((port|ssh|host|match|init|\[\[host\]\]|\[|\]|=|"|'|\n|\{|\}|\.|,|#|ä|true|7) ?){0,40}"#
        ) {
            if let Err(faults) = ConfigDocument::parse(&text) {
                prop_assert!(!faults.is_empty() && faults.len() <= FAULTS_MAX);
                for fault in faults {
                    prop_assert!(fault.line >= 1 && fault.column >= 1);
                }
            }
        }
    }
}
