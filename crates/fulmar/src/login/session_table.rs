//! Lists sessions for a person, and as JSON.

use std::time::Duration;

use fulmar_login::SessionInfo;
use unicode_width::UnicodeWidthStr as _;

use crate::report::{escaped, json_text};

/// Returns the sessions in columns.
pub(crate) fn columns(sessions: &[SessionInfo]) -> String {
    let head = ["NAME", "CLIENT", "AGE", "ENDS", "PROGRAM"].map(str::to_owned);
    let rows: Vec<[String; 5]> = std::iter::once(head)
        .chain(sessions.iter().map(row))
        .collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let widest = rows.iter().filter_map(|row| row.get(column));
            let width = widest.map(|cell| cell.width()).max().unwrap_or_default();
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width + 2 - cell.width()));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn row(session: &SessionInfo) -> [String; 5] {
    if session.is_silent {
        let ending = match session.pid {
            0 => String::new(),
            pid => format!("kill -9 {pid} there ends it"),
        };
        let name = session.name.to_string();
        return [
            name,
            "does not answer".to_owned(),
            "-".to_owned(),
            "-".to_owned(),
            ending,
        ];
    }
    let client = match (session.away, session.client) {
        (Some(away), Some(address)) => format!("{address}, left {} ago", span(away)),
        (Some(away), None) => format!("left {} ago", span(away)),
        (None, Some(address)) => address.to_string(),
        (None, None) => "there".to_owned(),
    };
    let ends = match (session.away, session.expires) {
        (Some(_), Some(left)) => format!("in {}", span(left)),
        (None, Some(left)) => format!("{} after its client", span(left)),
        (_, None) => "never".to_owned(),
    };
    let program = match session.command.as_str() {
        "" => "shell".to_owned(),
        command => escaped(command),
    };
    [
        session.name.to_string(),
        client,
        span(session.age),
        ends,
        program,
    ]
}

/// Returns a time in its largest unit, rounded.
fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    let (unit, name) = match seconds {
        0..60 => (1, "s"),
        60..3600 => (60, "min"),
        3600..172_800 => (3600, "h"),
        _ => (86_400, "days"),
    };
    format!("{} {name}", (seconds.saturating_add(unit / 2)) / unit)
}

/// Returns the sessions as an array with an object on each line.
pub(crate) fn json(sessions: &[SessionInfo]) -> String {
    let objects: Vec<String> = sessions.iter().map(object).collect();
    match objects.as_slice() {
        [] => "[]\n".to_owned(),
        objects => format!("[\n{}\n]\n", objects.join(",\n")),
    }
}

fn object(session: &SessionInfo) -> String {
    let seconds =
        |time: Option<Duration>| time.map_or("null".to_owned(), |time| time.as_secs().to_string());
    let client = session.client.map(|client| json_text(&client.to_string()));
    format!(
        "{{\"name\":{},\"answers\":{},\"pid\":{},\"age\":{},\"client\":{},\"away\":{},\"ends\":{},\
         \"command\":{}}}",
        json_text(session.name.as_str()),
        !session.is_silent,
        match session.pid {
            0 => "null".to_owned(),
            pid => pid.to_string(),
        },
        seconds(Some(session.age).filter(|_| !session.is_silent)),
        client.unwrap_or("null".to_owned()),
        seconds(session.away),
        seconds(session.expires),
        json_text(&session.command),
    )
}

#[cfg(test)]
mod tests {
    use fulmar_login::SessionName;

    use super::*;

    fn sessions() -> Vec<SessionInfo> {
        let session = |name: &str, away: Option<u64>, command: &str| SessionInfo {
            name: SessionName::parse(name).unwrap(),
            former: Vec::new(),
            pid: 12,
            age: Duration::from_secs(7200),
            client: "192.0.2.7".parse().ok(),
            away: away.map(Duration::from_secs),
            expires: Some(Duration::from_secs(30 * 86_400)),
            is_silent: false,
            command: command.to_owned(),
        };
        vec![
            session("work", Some(185), ""),
            session("far-1", None, "vim \u{1b}[2J"),
        ]
    }

    #[test]
    fn sessions_are_listed_in_columns_and_nothing_in_them_is_obeyed() {
        let wanted = "\
NAME   CLIENT                     AGE  ENDS                      PROGRAM
work   192.0.2.7, left 3 min ago  2 h  in 30 days                shell
far-1  192.0.2.7                  2 h  30 days after its client  vim \\u{1b}[2J
";
        assert_eq!(columns(&sessions()), wanted);
    }

    #[test]
    fn a_session_that_does_not_answer_is_listed_with_the_command_that_ends_it() {
        let name = SessionName::parse("work").unwrap();
        let silent = [SessionInfo::silent(name, Some(7))];
        assert!(
            columns(&silent)
                .ends_with("\nwork  does not answer  -    -     kill -9 7 there ends it\n"),
            "{}",
            columns(&silent)
        );
        let wanted = "[\n{\"name\":\"work\",\"answers\":false,\"pid\":7,\"age\":null,\"client\":null,\
                      \"away\":null,\"ends\":null,\"command\":\"\"}\n]\n";
        assert_eq!(json(&silent), wanted);
    }

    #[test]
    fn a_program_gets_all_numbers() {
        let wanted = "[\n{\"name\":\"work\",\"answers\":true,\"pid\":12,\"age\":7200,\"client\":\"192.0.2.7\",\"away\":185,\
                      \"ends\":2592000,\"command\":\"\"},\n{\"name\":\"far-1\",\"answers\":true,\"pid\":12,\"age\":7200,\
                      \"client\":\"192.0.2.7\",\"away\":null,\"ends\":2592000,\
                      \"command\":\"vim \\u001b[2J\"}\n]\n";
        assert_eq!(json(&sessions()), wanted);
        assert_eq!(json(&[]), "[]\n");
    }
}
