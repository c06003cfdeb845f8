//! Lists the settings in force, for people: `fulmar config`.

use fulmar_login::escaped;

use crate::layers::{RawValue, SettingLayers};
use crate::table::SETTINGS;

/// Values beyond this width do not move the column after them. Chosen by eye.
const VALUE_COLUMNS_MAX: usize = 40;

impl SettingLayers<'_> {
    /// Returns a table of all settings, each with its value and who has set it.
    pub fn listing(&self) -> String {
        let mut text = String::new();
        if let Some(host) = self.host() {
            text += &format!("host: {}\n", escaped(&host.to_string_lossy()));
        }
        let file = match self.config() {
            None => "none".to_owned(),
            Some(config) => {
                let path = escaped(&config.path.display().to_string());
                match config.document {
                    Some(_) => path,
                    None => format!("{path} (there is none)"),
                }
            }
        };
        text += &format!("file: {file}\n\n");
        text + &aligned(&rows(self))
    }
}

fn rows(layers: &SettingLayers<'_>) -> Vec<[String; 3]> {
    let row = |about: &'static super::setting::SettingInfo| {
        let RawValue { text, source } = layers.find(about);
        let value = escaped(&text.to_string_lossy());
        [about.name.to_owned(), value, escaped(&source.to_string())]
    };
    let head = ["setting", "value", "from"].map(str::to_owned);
    let settings = SETTINGS.iter().map(|known| row(known.about()));
    std::iter::once(head).chain(settings).collect()
}

/// Returns rows with their columns below each other.
fn aligned(rows: &[[String; 3]]) -> String {
    let width = |column: &dyn Fn(&[String; 3]) -> usize, most: usize| {
        let widths = rows.iter().map(column);
        widths.filter(|&width| width <= most).max().unwrap_or(0)
    };
    let names = width(&|[name, ..]| name.chars().count(), usize::MAX);
    let values = width(&|[_, value, _]| value.chars().count(), VALUE_COLUMNS_MAX);
    let line =
        |[name, value, from]: &[String; 3]| format!("{name:names$}  {value:values$}  {from}\n");
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::GivenFlags;
    use crate::layers::SettingSources;

    fn told(variables: &[(&str, &str)]) -> String {
        let sources = SettingSources::own(GivenFlags::default(), None, None);
        let environment = variables.iter().copied().collect();
        sources.layers(&environment, None).listing()
    }

    #[test]
    fn every_setting_has_a_line_and_columns_are_below_each_other() {
        let text = told(&[(
            "FULMAR_SSH",
            "/a/rather/long/path/to/the/ssh/that/I/use --with words",
        )]);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(lines.len(), SETTINGS.len() + 1);
        let place = lines[0].find("from").unwrap();
        for line in &lines[1..] {
            let is_long = line.starts_with("ssh ");
            assert!(is_long || line[place..].starts_with("default"), "{line}");
        }
        assert!(text.contains("--with words  FULMAR_SSH\n"), "{text}");
    }

    #[test]
    fn no_value_moves_the_cursor() {
        let text = told(&[("FULMAR_SSH", "a\x1b[2Jb\nc")]);
        assert!(text.contains("a\\u{1b}[2Jb\\nc"), "{text}");
    }
}
