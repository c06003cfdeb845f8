//! The page of a folder of outcomes: what is in it, and how a browser shows it.

mod browser;
mod sample;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::Result;
use fulmar_lab::experiment::{Cell, Experiment, LabSetup, Measured, Published, Quoted, Work};
use fulmar_lab::outcome::OutcomeFolder;
use fulmar_lab::report::{Origin, PAIRS, SELFCHECK, drawing, table, write};

struct Nothing;

impl Work for Nothing {
    fn measure(&self, _: &str, _: u64, _: &LabSetup) -> Result<Measured> {
        Ok(Measured::default())
    }
}

fn cells(_: &LabSetup) -> Vec<Cell> {
    let cell = |name: &str, title: &str| Cell {
        name: name.to_owned(),
        title: title.to_owned(),
        peers: ["ssh", "mosh", "fulmar"].map(str::to_owned).to_vec(),
        takes: Duration::from_secs(1),
        is_alone: false,
        work: Box::new(Nothing),
    };
    vec![
        cell("lte-500ms-closed", "Verizon LTE, RTT 500 ms, closed loop"),
        cell("evdo-200ms-open", "Verizon EV-DO, RTT 200 ms, open loop"),
    ]
}

const EXPERIMENTS: &[Experiment] = &[Experiment {
    name: "lte",
    title: "Cellular links",
    source: "K. Winstein and H. Balakrishnan, \"Mosh\", USENIX ATC 2012, figure 2; CS244, 2017",
    about: "Interactive users over links that follow a measured trace.",
    published: &[
        published("ssh", "509", "529", "195"),
        published("mosh", "1.52", "94.3", "250"),
    ],
    quoted: &[Quoted {
        by: "CS244, 2017",
        what: "bytes to the client",
        said: "60 kB",
        cells: "lte-500ms",
        peer: "mosh",
        figure: "bytes_down",
    }],
    why: "Here ssh had {lte-500ms ssh median}.\n\nAnd rsh had {lte-500ms rsh median}.\n\n{behind}",
    cells,
}];

const fn published(
    peer: &'static str,
    median: &'static str,
    mean: &'static str,
    deviation: &'static str,
) -> Published {
    Published {
        by: "CS244, 2017",
        peer,
        cells: "lte-500ms",
        median,
        mean,
        deviation,
    }
}

fn setup() -> LabSetup {
    LabSetup {
        fulmar: PathBuf::new(),
        data: None,
        recordings: PathBuf::new(),
        is_quick: false,
        is_generated: false,
    }
}

const FINDINGS: &str = r#"{
    "machine": { "kernel": "6.1.0", "cores": 2, "optimised": true },
    "checks": [
        { "what": "delay", "setting": "20 ms", "measured": "+0.051 ms median", "wanted": "under +0.2 ms",
          "good": true, "numbers": { "set_ms": 20.0 } },
        { "what": "loss", "setting": "1%", "good": false, "numbers": { "set": 0.01, "seen": 0.5 } }
    ] }"#;

const FOUND: &str = r#"{ "equal": { "holding": 1, "wanted": 2, "good": false, "pairs": [
    { "name": "lte ssh 1", "medians_ms": [503.0, null], "difference_ms": [-3.0, 4.5], "holds_zero": true },
    { "name": "lte ssh 2", "medians_ms": [503.0, 512.0], "difference_ms": null, "holds_zero": false }
    ] } }"#;

/// Puts all that a report can be made of into a folder.
fn fill(root: &Path) {
    let folder = OutcomeFolder::open(root).expect("it can be made");
    for outcome in sample::outcomes(11) {
        folder.put(&outcome).expect("it can be written");
    }
    fs::write(root.join(SELFCHECK), FINDINGS).expect("it can be written");
    fs::write(root.join(PAIRS), FOUND).expect("it can be written");
    let origin = Origin {
        kernel: "6.1.0-25-amd64".to_owned(),
        system: "Debian GNU/Linux 12 (bookworm)".to_owned(),
        processor: "AMD EPYC 7B13".to_owned(),
        cores: 2,
        memory: 8 << 30,
        versions: [(
            "mosh".to_owned(),
            "mosh 1.4.0 [build mosh 1.4.0]".to_owned(),
        )]
        .into(),
        commands: vec!["fulmar-lab run paper --peers ssh,mosh,fulmar --out out".to_owned()],
    };
    origin.put(root).expect("it can be written");
}

/// The pages of the sample; they are the same for all tests.
fn pages() -> &'static BTreeMap<&'static str, String> {
    static PAGES: LazyLock<BTreeMap<&'static str, String>> = LazyLock::new(made_pages);
    &PAGES
}

fn page() -> &'static str {
    &pages()["index.html"]
}

/// The pages by the names of their files.
fn made_pages() -> BTreeMap<&'static str, String> {
    let place = tempfile::tempdir().expect("a folder can be made");
    fill(place.path());
    let index = write(place.path(), EXPERIMENTS, &setup()).expect("pages can be made");
    assert_eq!(index, place.path().join("index.html"));
    let files = ["index.html", "distributions.html", "runs.html"];
    let read = |file| fs::read_to_string(place.path().join(file)).expect("it can be read");
    files.map(|file| (file, read(file))).into()
}

#[test]
fn a_page_has_all_its_parts_once_and_in_order() {
    let page = page();
    let places: Vec<usize> = [
        "overview",
        "relations",
        "lte",
        "tinygram",
        "not-best",
        "precision",
        "pairs",
        "failures",
        "making",
        "reading",
    ]
    .map(|id| format!("<section id={id} "))
    .iter()
    .map(|part| {
        assert_eq!(page.matches(part).count(), 1, "{part}");
        page.find(part).unwrap()
    })
    .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn nothing_of_a_file_becomes_markup_and_nothing_is_fetched() {
    let page = String::from_iter(pages().values().cloned());
    assert!(page.contains("no &lt;b&gt;prompt&lt;/b&gt; &amp; &quot;nothing&quot;"));
    assert!(page.contains("loss &lt;1%"));
    for forbidden in [
        "<script", "<b>", "http:", "https:", "url(", "@import", "src=",
    ] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn published_figures_stand_under_those_of_their_peer_and_cell() {
    let page = page();
    let published = "published: <cite>CS244, 2017</cite>";
    assert_eq!(page.matches(published).count(), 2);
    let place = page.rfind(published).unwrap();
    let before = &page[..place];
    let row = before.rfind("rowspan=4").unwrap();
    assert!(
        before[row..].contains("</svg>mosh</span>"),
        "{}",
        &before[row..]
    );
}

#[test]
fn a_published_relation_is_judged_and_its_text_has_the_figures() {
    let page = page();
    // The sample's ssh waits half a second, and most of its mosh's keys are at once.
    assert!(page.contains("Of 2 relations"));
    assert_eq!(page.matches("✓ holds").count(), 2, "{page}");
    assert!(page.contains("<p>Here ssh had "));
    assert!(!page.contains("And rsh"), "it was not measured");
    assert!(!page.contains("{lte") && !page.contains("{behind}"));
    assert!(page.contains("Keys behind one"));
    assert!(page.contains("bytes to the client<td>60 kB<td class=words>"));
}

#[test]
fn pairs_are_told_one_by_one_and_together() {
    let page = page();
    assert!(page.contains("1 of 2 intervals hold zero, 2 are to."));
    assert!(page.contains("<th scope=row>lte ssh 1<td"));
}

#[test]
fn a_drawing_stands_by_itself_and_a_table_is_markdown() {
    let place = tempfile::tempdir().unwrap();
    fill(place.path());
    let drawn = |cell| drawing(place.path(), EXPERIMENTS, &setup(), cell);
    let svg = drawn(("lte", "lte-500ms")).unwrap();
    for part in [
        "xmlns=\"http://www.w3.org/2000/svg\"",
        "prefers-color-scheme: dark",
        ">mosh<",
    ] {
        assert!(svg.contains(part), "{part}");
    }
    assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count());
    let error = drawn(("lte", "evdo-9")).unwrap_err();
    assert!(error.to_string().contains("lte/evdo-9"), "{error}");
    let table = table(place.path(), EXPERIMENTS, &setup()).unwrap();
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 2 + 2, "{table}");
    assert_eq!(rows[1], "|---|---|---|---|");
    assert!(rows[2..].iter().all(|row| row.matches(" | ").count() == 3));
}

/// Elements that have no end, or need none.
const NO_END: [&str; 12] = [
    "meta", "link", "br", "hr", "dd", "dt", "li", "tbody", "td", "th", "thead", "tr",
];

#[test]
fn elements_are_closed_in_their_order() {
    let page = page();
    let mut open: Vec<&str> = Vec::new();
    for tag in page.split('<').skip(1).filter(|tag| !tag.starts_with('!')) {
        let (tag, _) = tag.split_once('>').unwrap();
        let name = tag.split(' ').next().unwrap();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if tag.ends_with('/') || NO_END.contains(&name) => {}
            None => open.push(name),
        }
    }
    assert_eq!(open, [""; 0]);
}

#[test]
fn every_head_has_a_scope_and_every_chart_a_title() {
    let page = page();
    for body in page.split("<tbody>").skip(1) {
        let body = body.split("</table>").next().unwrap();
        let scopes = body.matches("<th scope=").count();
        assert_eq!(
            body.matches("<th").count() - body.matches("<thead").count(),
            scopes
        );
    }
    let tables = page.matches("<table>").count();
    assert_eq!(page.matches("<table><caption>").count(), tables);
    let charts = page.matches("<svg role=img").count();
    let hidden = page.matches("aria-hidden=true").count();
    assert_eq!(page.matches("<svg").count(), charts + hidden);
    assert_eq!(page.matches("<title>").count(), charts + 1);
}

/// Returns the texts from each beginning to the next end.
fn between<'a>(page: &'a str, start: &str, end: &'a str) -> Vec<&'a str> {
    let parts = page.split(start).skip(1);
    parts.filter_map(|part| part.split(end).next()).collect()
}

/// The number of letters within tags.
fn markup(text: &str) -> usize {
    let tags = text.split('<').skip(1);
    tags.map(|tag| tag.find('>').map_or(0, |end| end + 2)).sum()
}

#[test]
fn drawings_and_tables_are_small() {
    let pages = pages();
    let (index, runs) = (&pages["index.html"], &pages["runs.html"]);
    let curves = [index, &pages["distributions.html"]];
    let curves = curves.map(|page| between(page, "<svg role=img viewBox", "</svg>"));
    for curves in curves.iter().flatten() {
        assert!(curves.len() < 4_000, "{}: {curves}", curves.len());
        for curve in between(curves, "<path class=line ", "/>") {
            assert!(curve.len() < 500, "{}: {curve}", curve.len());
        }
    }
    for stripe in between(index, "<svg role=img height", "</svg>") {
        assert!(stripe.len() < 350, "{}: {stripe}", stripe.len());
    }
    // 150 keys, and a queue that never rests.
    for timeline in between(runs, "<svg role=img viewBox", "</svg>") {
        assert!(timeline.len() < 9_000, "{}: {timeline}", timeline.len());
    }
    for table in between(index, "<tbody>", "</table>") {
        let cells = table.matches("<t").count() + table.matches("<small").count();
        let (markup, signs) = (markup(table), table.matches("<svg").count());
        assert!(
            markup < cells * 14 + signs * 80,
            "{markup} for {cells}: {table}"
        );
    }
}

#[test]
fn published_pages_are_under_a_megabyte() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/report")];
    let mut pages = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "html") {
                let size = fs::metadata(&path).unwrap().len();
                assert!(size < 1_000_000, "{}: {size}", path.display());
                pages += 1;
            }
        }
    }
    assert!(pages > 0);
}

#[test]
fn what_a_drawing_or_a_link_refers_to_is_there() {
    let pages = pages();
    let mut links = 0;
    for (file, text) in pages {
        for target in between(text, "href=", ">") {
            let target = target.split(' ').next().unwrap().trim_matches('"');
            let (page, id) = target.split_once('#').unwrap_or((target, ""));
            if page == "data:," {
                continue;
            }
            let page = if page.is_empty() { *file } else { page };
            let page = pages.get(page).unwrap_or_else(|| panic!("{target}"));
            let count = |end| page.matches(&format!(" id={id}{end}")).count();
            assert!(id.is_empty() || count(' ') + count('>') == 1, "{target}");
            links += 1;
        }
    }
    assert!(links > 100, "{links}");
}

#[test]
fn a_folder_without_outcomes_is_no_report() {
    let place = tempfile::tempdir().unwrap();
    let error = write(place.path(), &[], &setup()).unwrap_err();
    assert!(error.to_string().contains("no outcomes"), "{error}");
    let error = write(&place.path().join("none"), &[], &setup()).unwrap_err();
    assert!(error.to_string().contains("no folder"), "{error}");
}

#[test]
fn a_page_is_the_same_each_time() {
    assert_eq!(pages(), &made_pages());
}
