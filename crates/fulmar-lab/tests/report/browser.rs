//! The page in a browser: nothing wider than its window, no complaint, light, dark and on a phone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fulmar_testbed::peers::leave_out;

/// The browser, under the names that distributions give it.
const BROWSERS: [&str; 2] = ["chromium", "chromium-browser"];

/// The variable that names a folder for pictures of the page, if somebody wants to look at them.
const PICTURES: &str = "FULMAR_LAB_PICTURES";

/// The script that measures how wide the page is in a frame of a width, and what of it sticks out.
const MEASURE: &str = "
const page = document.querySelector('iframe').contentDocument;
const width = page.defaultView.innerWidth;
const inBox = element => element.closest('.scroll, pre, svg, .skip');
const out = [...page.body.querySelectorAll('*')].filter(element =>
  !inBox(element.parentElement) && element.getBoundingClientRect().right > width + 1
  && !element.classList.contains('skip'));
const said = {
  wide: page.documentElement.scrollWidth - width,
  out: out.length + ' ' + out.slice(0, 3).map(element => element.outerHTML.slice(0, 200)).join(' | '),
  tables: [...page.querySelectorAll('.scroll > table')]
    .filter(table => table.offsetWidth > table.parentElement.clientWidth + 1)
    .map(table => table.caption.textContent),
  dark: page.defaultView.matchMedia('(prefers-color-scheme: dark)').matches,
  ground: page.defaultView.getComputedStyle(page.body).backgroundColor,
  charts: [...page.querySelectorAll('svg[role=img]')].filter(chart => chart.getBoundingClientRect().width > 9).length,
};
document.body.append(Object.assign(document.createElement('output'), { textContent: JSON.stringify(said) }));
";

struct Look {
    name: &'static str,
    width: u32,
    is_dark: bool,
}

const LOOKS: [Look; 3] = [
    Look {
        name: "light",
        width: 1280,
        is_dark: false,
    },
    Look {
        name: "dark",
        width: 1280,
        is_dark: true,
    },
    Look {
        name: "phone",
        width: 390,
        is_dark: false,
    },
];

#[test]
fn a_page_fits_its_window_in_light_and_dark_and_on_a_phone() {
    let Some(browser) = browser() else {
        return leave_out("there is no chromium");
    };
    let place = tempfile::tempdir().expect("a folder can be made");
    fs::write(place.path().join("index.html"), crate::page()).expect("it can be written");
    if let Some(pictures) = std::env::var_os(PICTURES) {
        let page = Path::new(&pictures).join("index.html");
        fs::write(page, crate::page()).expect("it can be written");
    }
    for look in &LOOKS {
        let said = shown(&browser, place.path(), look);
        assert_eq!(said["wide"], 0, "{}: {said:#}", look.name);
        assert_eq!(said["out"], "0 ", "{}", look.name);
        if look.width > 1000 {
            assert_eq!(said["tables"], serde_json::json!([]), "{}", look.name);
        }
        assert_eq!(said["dark"], look.is_dark, "{}", look.name);
        let is_light_ground = said["ground"] == "rgb(251, 251, 249)";
        assert_eq!(is_light_ground, !look.is_dark, "{}: {said:#}", look.name);
        assert!(said["charts"].as_u64() > Some(5), "{}: {said:#}", look.name);
    }
}

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let places = BROWSERS
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|place| place.is_file())
}

/// Shows the page in a frame of the look's width, and returns what was measured there.
fn shown(browser: &Path, place: &Path, look: &Look) -> serde_json::Value {
    let frame = place.join(format!("{}.html", look.name));
    let (width, height) = (look.width, 2400);
    let text = format!(
        "<!doctype html><meta charset=utf-8><body style='margin:0'>\
         <iframe src=index.html style='border:0;width:{width}px;height:{height}px'></iframe>\
         <script>onload = () => {{{MEASURE}}}</script>"
    );
    fs::write(&frame, text).expect("it can be written");
    let output = chromium(browser, place, look)
        .arg("--dump-dom")
        .arg(&frame)
        .output()
        .expect("chromium can be run");
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!complaints.contains(":CONSOLE"), "{complaints}");
    let page = String::from_utf8_lossy(&output.stdout);
    let said = page.split("<output>").nth(1);
    let said = said.and_then(|rest| rest.split("</output>").next());
    let said = said.unwrap_or_else(|| panic!("nothing was measured: {page} {complaints}"));
    if let Some(pictures) = std::env::var_os(PICTURES) {
        let picture = Path::new(&pictures).join(format!("{}.png", look.name));
        let status = chromium(browser, place, look)
            .arg(format!("--screenshot={}", picture.display()))
            .arg(&frame)
            .status();
        assert!(status.is_ok_and(|status| status.success()));
    }
    let said = said
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    serde_json::from_str(&said).expect("it is JSON")
}

fn chromium(browser: &Path, place: &Path, look: &Look) -> Command {
    let mut command = Command::new(browser);
    let scheme = if look.is_dark { 0 } else { 1 };
    command
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
        ])
        .args(["--disable-dev-shm-usage", "--disable-background-networking"])
        .args(["--disable-component-update", "--hide-scrollbars"])
        .args(["--allow-file-access-from-files", "--enable-logging=stderr"])
        .arg(format!(
            "--user-data-dir={}",
            place.join("profile").display()
        ))
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--window-size={},2400", look.width.max(600)));
    command
}
