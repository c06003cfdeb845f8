//! Patterns and operands, beside the shell's own idea of them.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use fulmar_copy::{EntryErrorKind, EntryId, NextEntry, Source as _};
use fulmar_tree::{Named, OperandContext, Pattern, SourceOptions, TreeSource};
use proptest::prelude::*;

/// A pattern that means the same to every shell: brackets are closed, no backslash stands at the end.
fn pattern() -> impl Strategy<Value = String> {
    let class = ("!?", "[a-c-]{1,3}").prop_map(|(not, members)| format!("[{not}{members}]"));
    let range = prop_oneof![
        Just("[a-c]"),
        Just("[!a-b]"),
        Just("[c-a]"),
        Just("[]a]"),
        Just("[[:digit:]]"),
        Just("[a\\]]")
    ];
    let piece = prop_oneof![
        4 => "[abc.1-]{1,2}",
        2 => Just("*".to_owned()),
        2 => Just("?".to_owned()),
        1 => class,
        1 => range.prop_map(str::to_owned),
        1 => prop_oneof![Just("\\*"), Just("\\a"), Just("\\?"), Just("\\[")].prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat())
}

fn names() -> impl Strategy<Value = BTreeSet<String>> {
    prop::collection::btree_set("[abc.*?1\\[\\]-]{1,4}", 1..24).prop_map(|names| {
        names
            .into_iter()
            .filter(|name| name != "." && name != "..")
            .collect()
    })
}

/// Returns the names that the shell makes of patterns in a folder, one set for each.
fn by_shell(folder: &Path, patterns: &[String]) -> Vec<BTreeSet<String>> {
    let list =
        |pattern: &String| format!("for f in {pattern}; do printf '%s\\n' \"$f\"; done; echo /");
    let script: Vec<_> = patterns.iter().map(list).collect();
    let output = Command::new("/bin/sh")
        .args(["-c", &script.join("\n")])
        .env("LC_ALL", "C")
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator("/\n")
        .map(|set| set.lines().map(str::to_owned).collect())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_pattern_matches_what_it_matches_in_a_shell(
        names in names(),
        patterns in prop::collection::vec(pattern(), 24),
    ) {
        let folder = tempfile::tempdir().unwrap();
        for name in &names {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        for (pattern, shell) in patterns.iter().zip(by_shell(folder.path(), &patterns)) {
            let parsed = Pattern::parse(pattern.as_bytes());
            let matched: BTreeSet<String> =
                names.iter().filter(|name| parsed.matches(name.as_bytes())).cloned().collect();
            // A shell gives the pattern itself where nothing matches.
            let shell: BTreeSet<String> = shell.intersection(&names).cloned().collect();
            let literal = BTreeSet::from([pattern.clone()]);
            prop_assert!(matched == shell || matched.is_empty() && shell == literal, "{}: {:?}, the shell: {:?}", pattern, matched, shell);
        }
    }

    #[test]
    fn any_bytes_are_a_pattern_and_match_in_time(pattern: Vec<u8>, name: Vec<u8>) {
        let _ = Pattern::parse(&pattern).matches(&name);
    }

    #[test]
    fn a_name_that_is_quoted_whole_is_itself(name in prop::collection::vec(1_u8.., 1..20)) {
        let quote = |chunk: std::str::Utf8Chunk<'_>| {
            let text: String = chunk.valid().chars().flat_map(|c| ['\\', c]).collect();
            let raw = chunk.invalid().iter().flat_map(|byte| [b'\\', *byte]);
            text.into_bytes().into_iter().chain(raw).collect::<Vec<u8>>()
        };
        let quoted: Vec<u8> = name.utf8_chunks().flat_map(quote).collect();
        let pattern = Pattern::parse(&quoted);
        prop_assert!(!pattern.is_wild());
        prop_assert!(pattern.matches(&name));
        prop_assert_eq!(pattern.unescaped(), name);
    }
}

/// 255 bytes against the worst pattern of 4096: work is bounded by their product, where naive ways take longer than the universe lasts.
#[test]
fn a_hostile_pattern_costs_little() {
    let name = vec![b'a'; 255];
    let pattern = Pattern::parse(&b"a*".repeat(2000));
    assert!(!pattern.matches(&[name.as_slice(), b"b"].concat()[1..]));
    assert!(!Pattern::parse(&[b"*a".repeat(120), b"b".to_vec()].concat()).matches(&name));
}

#[test]
fn what_is_no_bracket_stands_for_itself() {
    for (pattern, name) in [
        ("[a", "[a"),
        ("a[", "a["),
        ("[]", "[]"),
        ("[!]", "[!]"),
        ("a\\", "a\\"),
    ] {
        assert!(
            Pattern::parse(pattern.as_bytes()).matches(name.as_bytes()),
            "{pattern}"
        );
    }
    assert!(!Pattern::parse(b"[a").is_wild());
}

#[test]
fn characters_count_as_one_and_bytes_that_are_none_too() {
    assert!(Pattern::parse(b"?").matches("\u{e4}".as_bytes()));
    assert!(Pattern::parse("[\u{e0}-\u{e9}]".as_bytes()).matches("\u{e4}".as_bytes()));
    assert!(Pattern::parse(b"??").matches(b"\xff\xfe"));
    assert!(Pattern::parse(b"a\xffb").matches(b"a\xffb"));
}

fn home(user: Option<&[u8]>) -> Option<Vec<u8>> {
    match user {
        None => Some(b"a".to_vec()),
        Some(b"else") => Some(b"b".to_vec()),
        Some(_) => None,
    }
}

type Root = Result<String, EntryErrorKind>;

/// Roots that an operand leads to, and troubles.
fn roots(folder: &Path, operand: &str, is_remote: bool) -> Vec<Root> {
    let mut place = if is_remote {
        OperandContext::remote(home)
    } else {
        OperandContext::local()
    };
    place.base = Some(std::fs::File::open(folder).unwrap().into());
    let options = SourceOptions {
        recursive: true,
        follow: true,
    };
    let mut source = TreeSource::new(place, vec![operand.as_bytes().to_vec()], options);
    let mut roots = Vec::new();
    loop {
        match source.next_entry(EntryId(roots.len() as u64)) {
            NextEntry::Entry(entry) if entry.path.depth() == 1 => {
                let name = String::from_utf8(entry.path.root().to_vec()).unwrap();
                if entry.kind != fulmar_copy::EntryKind::Leave {
                    roots.push(Ok(name));
                }
            }
            NextEntry::EntryError(trouble) => roots.push(Err(trouble.kind)),
            NextEntry::End => {
                // Within a folder names come in its own order.
                roots.sort();
                return roots;
            }
            NextEntry::Entry(_) | NextEntry::NotNow => {}
        }
    }
}

/// a/1, a/2, b/1, b/.hidden, `[ab]`, `with space 'and' "quotes" $HOME`, `star*`, `starx`
fn tree() -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    for folder in ["a", "b"] {
        std::fs::create_dir(tree.path().join(folder)).unwrap();
    }
    for file in [
        "a/1",
        "a/2",
        "b/1",
        "b/.hidden",
        "[ab]",
        "with space 'and' \"quotes\" $HOME",
        "star*",
        "starx",
        "~x",
    ] {
        std::fs::write(tree.path().join(file), "").unwrap();
    }
    tree
}

fn remote(operand: &str) -> Vec<Root> {
    roots(tree().path(), operand, true)
}

fn named(names: &[&str]) -> Vec<Root> {
    names.iter().map(|name| Ok((*name).to_owned())).collect()
}

#[test]
fn nothing_is_quoted_and_a_name_that_exists_wins_over_a_pattern() {
    let odd = "with space 'and' \"quotes\" $HOME";
    assert_eq!(remote(odd), named(&[odd]));
    assert_eq!(remote("[ab]"), named(&["[ab]"]));
    assert_eq!(remote("star*"), named(&["star*"]));
    assert_eq!(remote("sta[r]*"), named(&["star*", "starx"]));
    assert_eq!(remote("star\\x"), named(&["starx"]));
    assert_eq!(remote("a/*"), named(&["1", "2"]));
    assert_eq!(
        remote("*/1"),
        [Ok("1".to_owned()), Err(EntryErrorKind::Taken)]
    );
    assert_eq!(remote("?/"), named(&["a", "b"]));
    assert_eq!(remote("b/*"), named(&["1"]));
    assert_eq!(remote("b/.*"), named(&[".hidden"]));
    assert_eq!(remote("[xyz]*"), [Err(EntryErrorKind::Missing)]);
}

#[test]
fn a_tilde_is_a_home_where_no_shell_has_seen_it() {
    assert_eq!(remote("~/1"), named(&["1"]));
    // What is in it: nobody but the remote end knows what it is called.
    assert_eq!(remote("~"), named(&["1", "2"]));
    assert_eq!(remote("~else/"), named(&[".hidden", "1"]));
    assert_eq!(remote("~else/1"), named(&["1"]));
    assert_eq!(remote("~nobody/1"), [Err(EntryErrorKind::Missing)]);
    assert_eq!(remote("./~x"), named(&["~x"]));
    assert_eq!(roots(tree().path(), "~x", false), named(&["~x"]));
}

/// A shell has expanded what it could: what is left is a name.
#[test]
fn at_the_local_end_a_pattern_is_a_name() {
    assert_eq!(
        roots(tree().path(), "a/*", false),
        [Err(EntryErrorKind::Missing)]
    );
    assert_eq!(roots(tree().path(), "star*", false), named(&["star*"]));
}

/// The other side may give to what it sends only names that were asked for.
#[test]
fn only_names_that_were_asked_for_are_allowed() {
    let table: &[(&str, &[&str], &[&str])] = &[
        (
            "dir/file",
            &["file"],
            &["other", "dir", "", ".", "..", "file/x"],
        ),
        ("dir/", &["dir"], &["x", ""]),
        (
            "*.txt",
            &["a.txt", "*.txt"],
            &[".txt", ".bashrc", "a.txt.sh", "", "x/a.txt"],
        ),
        ("dir/*/x?", &["xy"], &["x", "y"]),
        ("[ab]", &["a", "b", "[ab]"], &["c"]),
        ("a\\ b", &["a b", "a\\ b"], &["a"]),
        ("*", &["a"], &[".bashrc", ".", "..", ""]),
        ("~/x", &["x"], &["~", "y"]),
    ];
    for (operand, allowed, refused) in table {
        let named = Named::by(operand.as_bytes());
        for name in *allowed {
            assert!(
                named.allows(operand.as_bytes(), name.as_bytes()),
                "{operand}: {name}"
            );
        }
        for name in *refused {
            assert!(
                !named.allows(operand.as_bytes(), name.as_bytes()),
                "{operand}: {name}"
            );
        }
    }
}

/// The user wants what is in a folder, whatever it is called.
#[test]
fn for_what_is_in_a_folder_every_name_is_allowed() {
    for operand in ["", ".", "..", "/", "dir/.", "dir/..", "~", "~user", "~/"] {
        let named = Named::by(operand.as_bytes());
        assert!(named.is_contents(), "{operand}");
        assert!(named.allows(operand.as_bytes(), b"anything"), "{operand}");
        assert!(!named.allows(operand.as_bytes(), b".."), "{operand}");
    }
}
