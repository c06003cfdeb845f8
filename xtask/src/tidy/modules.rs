//! The modules of a crate and their imports, read from the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Files;
use super::source::Source;

/// A module's path below the crate's root; the root is empty.
pub(super) type Name = Vec<String>;

/// The modules of one crate that have a file, without those for tests, and whom each of them names.
///
/// An import of what another module only passes on counts as one of where it is defined.
pub(super) struct Modules {
    by_name: BTreeMap<Name, Module>,
}

/// The names that a module defines and imports.
#[derive(Default)]
struct Module {
    /// The names that it defines itself.
    defined: BTreeSet<String>,
    /// Paths that it names, from the root.
    named: Vec<Name>,
    /// The names that it imports or passes on, with their paths from the root.
    imported: BTreeMap<String, Name>,
    /// Modules below it that are for tests.
    for_tests: Vec<String>,
}

impl Modules {
    /// Reads the files below `folder`, which is a crate's `src`.
    pub(super) fn read(files: &Files, folder: &Path) -> Self {
        let mut sources = BTreeMap::new();
        for (path, text) in files {
            if let Ok(below) = path.strip_prefix(folder)
                && below.extension().is_some_and(|extension| extension == "rs")
            {
                sources.insert(name_of(below), Source::split(text).code);
            }
        }
        let names: BTreeSet<Name> = sources.keys().cloned().collect();
        let mut by_name: BTreeMap<Name, Module> = sources
            .iter()
            .map(|(name, code)| (name.clone(), Module::read(name, code, &names)))
            .collect();
        let for_tests: Vec<Name> = by_name
            .iter()
            .flat_map(|(name, module)| {
                let below =
                    |child: &String| [name.as_slice(), std::slice::from_ref(child)].concat();
                module.for_tests.iter().map(below)
            })
            .collect();
        by_name.retain(|name, _| !for_tests.iter().any(|test| name.starts_with(test)));
        Self { by_name }
    }

    /// Returns for each module the others that it imports, each with the last word of an import.
    ///
    /// A module and those that it lies in may name each other: that is no import.
    pub(super) fn imports(&self) -> BTreeMap<&Name, BTreeMap<&Name, &str>> {
        let mut imports = BTreeMap::new();
        for (name, module) in &self.by_name {
            let mut of_module = BTreeMap::new();
            for path in &module.named {
                let Some(home) = self.home(path) else {
                    continue;
                };
                if !name.starts_with(home) && !home.starts_with(name) {
                    of_module
                        .entry(home)
                        .or_insert_with(|| path.last().map_or("", String::as_str));
                }
            }
            imports.insert(name, of_module);
        }
        imports
    }

    /// Returns the module in which is defined what the path names.
    fn home(&self, path: &[String]) -> Option<&Name> {
        let mut path = path.to_vec();
        // Nothing is passed on through more modules than there are.
        for _ in 0..=self.by_name.len() {
            let (name, module, below) = self.split(&path)?;
            let passed_on = below
                .first()
                .filter(|first| !module.defined.contains(*first))
                .and_then(|first| module.imported.get(first))
                .filter(|origin| **origin != path);
            let Some(origin) = passed_on else {
                return Some(name);
            };
            path = [origin.as_slice(), &below[1..]].concat();
        }
        None
    }

    /// Splits a path after the longest module in it.
    fn split<'a>(&self, path: &'a [String]) -> Option<(&Name, &Module, &'a [String])> {
        (0..=path.len()).rev().find_map(|length| {
            let (module, below) = path.split_at(length);
            let (name, module) = self.by_name.get_key_value(module)?;
            Some((name, module, below))
        })
    }
}

impl Module {
    fn read(name: &Name, code: &str, names: &BTreeSet<Name>) -> Self {
        let mut module = Self::default();
        let words = words(code);
        let mut at = 0;
        while at < words.len() {
            let rest = &words[at..];
            at += if rest.starts_with(&TEST_ONLY) {
                module.skip_test(rest)
            } else if rest[0] == "use" {
                let end = position(rest, ";");
                for (path, given) in leaves(&rest[1..end]) {
                    module.import(name, &path, given, names);
                }
                end
            } else if ["crate", "super", "self"].contains(&rest[0]) {
                let path = path_at(rest);
                if path.len() > 1 {
                    module.named.extend(from_root(name, &path, names));
                }
                2 * path.len() - 1
            } else {
                if DEFINES.contains(&rest[0])
                    && let Some(defined) = rest.get(1)
                {
                    module.defined.insert((*defined).to_owned());
                }
                1
            };
        }
        module
    }

    /// Notes an import of `path`, which is called `given` here.
    fn import(&mut self, name: &Name, path: &[&str], given: &str, names: &BTreeSet<Name>) {
        let Some(path) = from_root(name, path, names) else {
            return;
        };
        self.imported.insert(given.to_owned(), path.clone());
        self.named.push(path);
    }

    /// Skips an item for tests, noting a module; returns the number of its words.
    fn skip_test(&mut self, words: &[&str]) -> usize {
        if let Some(at) = words.iter().position(|word| *word == "mod")
            && words[..at].iter().all(|word| !["{", ";"].contains(word))
            && let [_, child, ";", ..] = words[at..]
        {
            self.for_tests.push(child.to_owned());
        }
        let mut depth = 0_usize;
        for (at, word) in words.iter().enumerate() {
            match *word {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && ["}", ";"].contains(word) {
                return at + 1;
            }
        }
        words.len()
    }
}

/// The words that what follows them is defined by.
const DEFINES: [&str; 9] = [
    "struct", "enum", "trait", "fn", "const", "static", "type", "union", "mod",
];

/// `#[cfg(test)]`.
const TEST_ONLY: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

/// The name of the module in a file, by the file's path below `src`.
fn name_of(below: &Path) -> Name {
    let mut name: Name = below
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    let is_root = name.len() == 1 && ["lib", "main"].contains(&name[0].as_str());
    if is_root || name.last().is_some_and(|last| last == "mod") {
        name.pop();
    }
    name
}

/// Splits code into names, `::` and single signs.
fn words(code: &str) -> Vec<&str> {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if is_of_name(first) {
            rest.find(|c| !is_of_name(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at(length);
        words.push(word);
        rest = after.trim_start();
    }
    words
}

fn position(words: &[&str], wanted: &str) -> usize {
    let found = words.iter().position(|word| *word == wanted);
    found.unwrap_or(words.len())
}

/// The path that begins there: `a::b::c`.
fn path_at<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut path = vec![words[0]];
    for next in words[1..].chunks_exact(2) {
        let is_name = next[1].starts_with(|c: char| c.is_alphabetic() || c == '_');
        if next[0] != "::" || !is_name {
            break;
        }
        path.push(next[1]);
    }
    path
}

/// The paths that the tree of a `use` stands for, each with the name that it gives.
fn leaves<'a>(tree: &[&'a str]) -> Vec<(Vec<&'a str>, &'a str)> {
    let mut leaves = Vec::new();
    // What stands before each open brace, and the path so far.
    let mut before: Vec<usize> = Vec::new();
    let mut path: Vec<&str> = Vec::new();
    let mut is_alias = false;
    // The name of the path so far, if that is a leaf.
    let mut given = None;
    for word in tree {
        match *word {
            "{" => before.push(path.len()),
            "," | "}" => {
                leaves.extend(given.take().map(|given| (path.clone(), given)));
                path.truncate(before.last().copied().unwrap_or(0));
                is_alias = false;
                if *word == "}" {
                    before.pop();
                }
            }
            "as" => is_alias = true,
            "::" => {}
            "self" if !path.is_empty() => given = path.last().copied(),
            name if is_alias => given = Some(name),
            name => {
                path.push(name);
                given = Some(name);
            }
        }
    }
    leaves.extend(given.map(|given| (path, given)));
    leaves
}

/// The path from the crate's root, if it leads to something of this crate.
fn from_root(module: &Name, path: &[&str], names: &BTreeSet<Name>) -> Option<Name> {
    let child = |first: &str| [module.as_slice(), &[first.to_owned()]].concat();
    let mut base = module.clone();
    let mut rest = path;
    match rest.first()? {
        &"crate" => {
            base.clear();
            rest = &rest[1..];
        }
        &"self" | &"super" => {
            while let Some(up @ (&"self" | &"super")) = rest.first() {
                if *up == "super" {
                    base.pop()?;
                }
                rest = &rest[1..];
            }
        }
        first if names.contains(&child(first)) => {}
        _ => return None,
    }
    base.extend(rest.iter().map(|part| (*part).to_owned()));
    Some(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the imports of the module `a` of a crate, each as `module: word`.
    fn imported_by_a(a: &str, others: &[(&str, &str)]) -> Vec<String> {
        let mut files = Files::from([("src/a.rs".into(), a.to_owned())]);
        for (path, text) in others {
            files.insert(Path::new("src").join(path), (*text).to_owned());
        }
        let modules = Modules::read(&files, Path::new("src"));
        let imports = modules.imports();
        let of_a = &imports[&vec!["a".to_owned()]];
        of_a.iter()
            .map(|(module, word)| format!("{}: {word}", module.join("::")))
            .collect()
    }

    const B: (&str, &str) = ("b.rs", "pub struct B; pub fn b() {}");

    #[test]
    fn imports_are_found_however_they_are_written() {
        for a in [
            "use crate::b::B;",
            "use super::b::B;",
            "use crate::{b::{B}, std};",
            "use crate::b::B as C;",
            "pub(crate) use crate::b::B;",
            "fn f() -> crate::b::B { todo }",
            "mod inner { fn f() { crate::b::B } }",
        ] {
            assert_eq!(imported_by_a(a, &[B]), ["b: B"], "{a}");
        }
        assert_eq!(imported_by_a("use crate::b::{self, B};", &[B]), ["b: b"]);
        assert_eq!(imported_by_a("use crate::b::*;", &[B]), ["b: *"]);
    }

    #[test]
    fn comments_literals_and_other_crates_are_no_imports() {
        let a =
            "// crate::b::B\nconst A: &str = \"crate::b::B\"; use b_of_others::B; use std::fmt;";
        assert_eq!(imported_by_a(a, &[B]), [""; 0]);
    }

    #[test]
    fn what_is_passed_on_counts_for_where_it_is_defined() {
        let lib = ("lib.rs", "mod a; mod b; mod c; pub use c::B; pub use b::b;");
        let c = ("c.rs", "pub use crate::b::B;");
        let found = imported_by_a("use crate::{B, b};", &[lib, B, c]);
        assert_eq!(found, ["b: B"]);
        let renamed = ("c.rs", "pub use crate::b::B as D;");
        let found = imported_by_a("use crate::c::D;", &[B, renamed]);
        assert_eq!(found, ["b: D"]);
    }

    #[test]
    fn a_module_and_what_it_lies_in_do_not_import_each_other() {
        let inner = ("a/inner.rs", "use super::A;");
        let lib = ("lib.rs", "pub struct L;");
        let found = imported_by_a("pub struct A; use inner::I; use crate::L;", &[inner, lib]);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn tests_may_import_what_they_like() {
        let a = "#[cfg(test)]\nmod tests; #[cfg(test)] use crate::b::B; \
                 #[cfg(test)] mod more { use crate::b::B; }";
        let tests = ("a/tests.rs", "use crate::b::B;");
        assert_eq!(imported_by_a(a, &[B, tests]), [""; 0]);
        let files = Files::from([
            ("src/a.rs".into(), a.to_owned()),
            ("src/a/tests.rs".into(), String::new()),
        ]);
        assert_eq!(Modules::read(&files, Path::new("src")).by_name.len(), 1);
    }
}
