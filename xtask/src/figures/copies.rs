//! The figure about copies: rates of paths by tools, what they cost, and what they leave to others.

use std::fmt::Write as _;

use anyhow::Result;
use fulmar_testbed::median;
use serde_json::Value;

use super::lab::Outcomes;

/// Bytes a second in Mbit/s, bytes in MB.
const MBIT: f64 = 8e-6;
const MEGA: f64 = 1e-6;

/// The rate that is wanted on a path: a share of plain TCP's.
struct Wanted {
    cell: &'static str,
    path: &'static str,
    share: f64,
    of: &'static str,
}

const fn wanted(cell: &'static str, path: &'static str, share: f64, of: &'static str) -> Wanted {
    Wanted {
        cell,
        path,
        share,
        of,
    }
}

const PATHS: [Wanted; 8] = [
    wanted("40ms-clear", "40 ms, no loss", 0.9, "tcp-cubic"),
    wanted("45ms-clear", "45 ms, no loss", 0.9, "tcp-cubic"),
    wanted("100ms-clear", "100 ms, no loss", 0.88, "tcp-cubic"),
    wanted("200ms-clear", "200 ms, no loss", 0.85, "tcp-cubic"),
    wanted("45ms-loss-0.1", "45 ms, 0.1 % lost", 0.85, "tcp-bbr"),
    wanted("45ms-loss-1", "45 ms, 1 % lost", 0.75, "tcp-bbr"),
    wanted("200ms-loss-0.1", "200 ms, 0.1 % lost", 0.75, "tcp-bbr"),
    wanted("200ms-loss-1", "200 ms, 1 % lost", 0.6, "tcp-bbr"),
];

/// The programs that copy a file, in the order of the columns.
const TOOLS: [&str; 6] = ["tcp-cubic", "tcp-bbr", "scp", "sftp", "rsync", "fulmar"];

/// Paths by what they hold, for memory.
const PRODUCTS: [(&str, &str); 5] = [
    ("45ms-clear", "45 ms"),
    ("100ms-clear", "100 ms"),
    ("200ms-clear", "200 ms"),
    ("400ms-clear", "400 ms"),
    ("800ms-clear", "800 ms"),
];

/// Up to this product memory is to be below a fixed bound, and beyond it below some products, MB.
const SMALL_PRODUCT: f64 = 12.6;
const SMALL_MEMORY: f64 = 48.0;
const PRODUCTS_MAX: f64 = 3.0;

const TRACES: [(&str, &str); 4] = [
    ("lte-up", "LTE, up"),
    ("lte-down", "LTE, down"),
    ("evdo-up", "EV-DO, up"),
    ("evdo-down", "EV-DO, down"),
];

/// The outcomes of a cell: a figure's median over the runs of a peer.
struct Cell(Vec<Value>);

impl Cell {
    fn median(&self, peer: &str, figure: &str) -> Option<f64> {
        let of_peer = self.0.iter().filter(|one| one["run"]["peer"] == peer);
        median(of_peer.filter_map(|one| one["figures"][figure]["value"].as_f64()))
    }

    /// A cell of a table, with a mark where something is missing.
    fn shown(&self, peer: &str, figure: &str, factor: f64, digits: usize) -> String {
        number(
            self.median(peer, figure).map(|value| value * factor),
            digits,
        )
    }

    fn runs(&self) -> usize {
        let ours = self.0.iter().filter(|one| one["run"]["peer"] == "fulmar");
        ours.count()
    }
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
}

/// Draws the tables, and says how many runs there were of each; `None` where nothing was measured.
pub(super) fn draw(outcomes: &Outcomes<'_>) -> Result<Option<(String, usize)>> {
    let cell = |name: &str| Ok(Cell(outcomes.read(&format!("copy/{name}"))?));
    let parts = [
        rates(&cell)?,
        costs(&cell)?,
        files(&cell)?,
        traces(&cell)?,
        keys(&cell)?,
        shares(&cell)?,
    ];
    let runs = PATHS
        .iter()
        .map(|path| cell(path.cell).map(|cell| cell.runs()));
    let runs = runs.collect::<Result<Vec<usize>>>()?.into_iter().max();
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join("\n");
    let runs = runs.unwrap_or_default();
    Ok((!text.is_empty()).then_some((text, runs)))
}

type Cells<'a> = &'a dyn Fn(&str) -> Result<Cell>;

/// Returns the rate that is wanted, which is of us alone.
fn wanted_of(peer: &str, bound: &'static str) -> &'static str {
    match peer {
        "fulmar" => bound,
        _ => "",
    }
}

/// A table without rows is none.
fn table(head: &str, rows: &str) -> Option<String> {
    let columns = head.matches('|').count() - 1;
    let rule = "|---".repeat(columns) + "|";
    (!rows.is_empty()).then(|| format!("{head}\n{rule}\n{rows}"))
}

fn rates(cell: Cells<'_>) -> Result<Option<String>> {
    let mut rows = String::new();
    for path in PATHS {
        let cell = cell(path.cell)?;
        if cell.0.is_empty() {
            continue;
        }
        let _ = write!(rows, "| {} |", path.path);
        for tool in TOOLS {
            let _ = write!(rows, " {} |", cell.shown(tool, "rate", MBIT, 1));
        }
        let (ours, base) = (cell.median("fulmar", "rate"), cell.median(path.of, "rate"));
        let share = ours.zip(base).map(|(ours, base)| ours / base);
        let base = path.of.trim_start_matches("tcp-");
        let _ = writeln!(
            rows,
            " {} of {base} | {} of {base} |",
            number(share, 2),
            path.share
        );
    }
    let names = TOOLS.map(|tool| tool.replace('-', " ")).join(" | ");
    Ok(table(
        &format!("| Mbit/s | {names} | ours | wanted |"),
        &rows,
    ))
}

fn costs(cell: Cells<'_>) -> Result<Option<String>> {
    let mut rows = String::new();
    for (name, path) in PRODUCTS {
        let cell = cell(name)?;
        let Some(product) = cell.median("fulmar", "product") else {
            continue;
        };
        let product = product * MEGA;
        let bound = if product <= SMALL_PRODUCT {
            SMALL_MEMORY
        } else {
            product * PRODUCTS_MAX
        };
        let memory = |host| cell.shown("fulmar", &format!("{host}_memory"), MEGA, 1);
        let cpu = |peer| cell.shown(peer, "cpu_a_byte", 1.0, 1);
        let _ = writeln!(
            rows,
            "| {path} | {product:.1} | {} | {} | 10 | {} | {} | {bound:.0} |",
            cpu("scp"),
            cpu("fulmar"),
            memory("client"),
            memory("server"),
        );
    }
    let head = "| path, no loss | product, MB | scp, s of processor per GB, both sides | fulmar, s per GB | at most | \
                fulmar, near end, MB | far end, MB | at most |";
    Ok(table(head, &rows))
}

fn files(cell: Cells<'_>) -> Result<Option<String>> {
    let cell = cell("many-200ms")?;
    let mut rows = String::new();
    let base = cell.median("tar", "took");
    for (peer, name) in [
        ("tar", "tar, ssh tar"),
        ("fulmar", "fulmar cp -r"),
        ("scp", "scp -r"),
    ] {
        let Some(took) = cell.median(peer, "took") else {
            continue;
        };
        let is_whole = cell.median(peer, "is_whole") == Some(1.0);
        let bound = if is_whole { "" } else { "more than " };
        let _ = writeln!(
            rows,
            "| {name} | {bound}{took:.1} | {} | {} | {} |",
            cell.shown(peer, "files", 1.0, 0),
            number(base.map(|base| took / base), 2),
            wanted_of(peer, "1.5"),
        );
    }
    let head = "| 10 000 files of 4 kB, 200 ms | s | files there | times tar | at most |";
    Ok(table(head, &rows))
}

fn traces(cell: Cells<'_>) -> Result<Option<String>> {
    let mut rows = String::new();
    for (name, link) in TRACES {
        let cell = cell(name)?;
        if cell.0.is_empty() {
            continue;
        }
        let share = |peer| cell.shown(peer, "of_capacity", 1.0, 2);
        let _ = writeln!(
            rows,
            "| {link} | {} | {} | {} | 0.85 |",
            share("tcp-cubic"),
            share("tcp-bbr"),
            share("fulmar"),
        );
    }
    let head = "| share of a measured link's capacity | tcp cubic | tcp bbr | fulmar | at least |";
    Ok(table(head, &rows))
}

fn keys(cell: Cells<'_>) -> Result<Option<String>> {
    let mut rows = String::new();
    for (name, path) in [
        ("keys-45ms", "45 ms, 500 Mbit/s"),
        ("keys-home", "40 ms, 20 Mbit/s"),
    ] {
        let cell = cell(name)?;
        let idle = |figure: &str| cell.median("idle", figure);
        for peer in ["fulmar", "scp", "tcp-cubic", "tcp-bbr"] {
            let more = |figure: &str| {
                let both = cell.median(peer, figure).zip(idle(figure));
                number(both.map(|(busy, idle)| busy - idle), 1)
            };
            if cell.median(peer, "key_median").is_some() {
                let _ = writeln!(
                    rows,
                    "| {path} | {} | {} | {} | {} | {} |",
                    peer.replace('-', " "),
                    cell.shown(peer, "rate", MBIT, 1),
                    more("key_median"),
                    more("key_p95"),
                    wanted_of(peer, "50"),
                );
            }
        }
    }
    let head = "| keys of a session during a copy | copied by | Mbit/s | median, ms more than on the idle path | \
                p95, ms more | at most |";
    Ok(table(head, &rows))
}

fn shares(cell: Cells<'_>) -> Result<Option<String>> {
    let mut rows = String::new();
    for (name, order) in [
        ("beside-first", "the copy begins"),
        ("beside-second", "TCP begins"),
    ] {
        let cell = cell(name)?;
        for peer in ["fulmar", "tcp-cubic", "tcp-bbr"] {
            if cell.median(peer, "share").is_some() {
                let _ = writeln!(
                    rows,
                    "| {order} | {} | {} | {} | {} | {} |",
                    peer.replace('-', " "),
                    cell.shown(peer, "rate", MBIT, 1),
                    cell.shown(peer, "rate_beside", MBIT, 1),
                    cell.shown(peer, "share", 1.0, 2),
                    wanted_of(peer, "0.5"),
                );
            }
        }
    }
    let head = "| beside TCP with Cubic, 45 ms, 100 Mbit/s | copied by | Mbit/s | TCP's | share | at most |";
    Ok(table(head, &rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cell_of(peers: &[(&str, Value)]) -> Cell {
        let outcome = |(peer, figures): &(&str, Value)| {
            let figures = figures.as_object().unwrap().iter();
            let figures: serde_json::Map<String, Value> = figures
                .map(|(name, value)| (name.clone(), json!({ "value": value })))
                .collect();
            json!({"run": {"peer": peer}, "figures": figures})
        };
        Cell(peers.iter().map(outcome).collect())
    }

    #[test]
    fn a_path_has_everybody_s_rate_and_our_share_of_plain_tcp() {
        let cell = |name: &str| {
            Ok(match name {
                "45ms-clear" => cell_of(&[
                    ("tcp-cubic", json!({"rate": 50e6})),
                    ("fulmar", json!({"rate": 45e6})),
                ]),
                _ => Cell(Vec::new()),
            })
        };
        let table = rates(&cell).unwrap().unwrap();
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(
            rows,
            ["| 45 ms, no loss | 400.0 | – | – | – | – | 360.0 | 0.90 of cubic | 0.9 of cubic |"]
        );
    }

    #[test]
    fn what_was_cut_short_is_more_than_that_long() {
        let cell = |_: &str| {
            Ok(cell_of(&[
                (
                    "tar",
                    json!({"took": 4.0, "is_whole": 1.0, "files": 10_000.0}),
                ),
                (
                    "scp",
                    json!({"took": 120.0, "is_whole": 0.0, "files": 300.0}),
                ),
            ]))
        };
        let table = files(&cell).unwrap().unwrap();
        assert!(
            table.contains("| tar, ssh tar | 4.0 | 10000 | 1.00 |"),
            "{table}"
        );
        assert!(
            table.contains("| scp -r | more than 120.0 | 300 | 30.00 |"),
            "{table}"
        );
    }

    #[test]
    fn memory_is_bounded_by_the_product_where_that_is_large() {
        let cell = |name: &str| {
            let product = if name == "400ms-clear" { 25e6 } else { 2.8e6 };
            Ok(cell_of(&[(
                "fulmar",
                json!({"product": product, "client_memory": 30e6}),
            )]))
        };
        let table = costs(&cell).unwrap().unwrap();
        assert!(
            table.contains("| 45 ms | 2.8 | – | – | 10 | 30.0 | – | 48 |"),
            "{table}"
        );
        assert!(
            table.contains("| 400 ms | 25.0 | – | – | 10 | 30.0 | – | 75 |"),
            "{table}"
        );
    }

    #[test]
    fn what_nobody_measured_is_no_table() {
        let cell = |_: &str| Ok(Cell(Vec::new()));
        for draw in [rates, costs, files, traces, keys, shares] {
            assert!(draw(&cell).unwrap().is_none());
        }
    }
}
