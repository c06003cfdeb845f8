//! The rows that tmux keeps of programs that run in a session are those that it keeps of them without one, row for row.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fulmar_testbed::peers;
use tempfile::TempDir;

/// The row behind everything that is compared.
const END: &str = "that was all";

/// A person waits as long for what a program has written. Chosen by eye: a machine that does a lot else.
const WITHIN: Duration = Duration::from_secs(30);

/// A window of tmux in which a script runs.
struct Window<'a> {
    folder: &'a Path,
    socket: &'static str,
}

impl<'a> Window<'a> {
    fn open(folder: &'a Path, socket: &'static str, command: &str) -> Window<'a> {
        let window = Window { folder, socket };
        let settings = "set -g history-limit 9999\nset -g status off\nset -g default-shell /bin/sh\n\
             set -g default-terminal screen-256color\n";
        std::fs::write(folder.join("conf"), settings).expect("a file");
        window.tmux(&["new-session", "-d", "-x", "60", "-y", "15", command]);
        window
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.current_dir(self.folder).env("LC_ALL", "C.UTF-8");
        command.env("HOME", self.folder).env("ZDOTDIR", self.folder);
        command.env("LESSHISTFILE", "-").env_remove("TMUX");
        command.args(["-S", self.socket, "-f", "conf"]);
        let output = command.args(arguments).stdin(Stdio::null()).output();
        String::from_utf8(output.expect("tmux runs").stdout).expect("text")
    }

    /// The rows above the screen and on it, without blanks at their ends.
    fn rows(&self) -> Vec<String> {
        let kept = self.tmux(&["capture-pane", "-p", "-S", "-"]);
        let rows = kept.lines().map(|row| row.trim_end().to_owned());
        rows.collect()
    }

    fn wait_for(&self, what: &str, is_there: impl Fn(&[String]) -> bool) -> Vec<String> {
        let begin = Instant::now();
        loop {
            let rows = self.rows();
            if is_there(&rows) {
                return rows;
            }
            assert!(begin.elapsed() < WITHIN, "{what}: {rows:#?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until all rows up to the end are these: lines may come after the screen that has scrolled them off.
    fn expect(&self, wanted: &[String]) {
        let begin = Instant::now();
        loop {
            let rows = self.rows();
            let kept = up_to_end(&rows);
            if kept.as_deref() == Some(wanted) {
                return;
            }
            if begin.elapsed() > WITHIN {
                let kept = kept.unwrap_or(rows);
                let same = kept
                    .iter()
                    .zip(wanted)
                    .take_while(|(kept, wanted)| kept == wanted);
                let first = same.count();
                let part = |rows: &[String]| {
                    rows.iter()
                        .skip(first)
                        .take(40)
                        .cloned()
                        .collect::<Vec<_>>()
                };
                panic!(
                    "from row {first}: {:#?} and not {:#?}",
                    part(&kept),
                    part(wanted)
                );
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Has the script end, and with it the session that it is in, which would go on without its client.
    fn end(self) {
        self.tmux(&["send-keys", "Enter"]);
        self.wait_for("the end", |rows| rows.iter().any(|row| row == "left"));
    }

    /// Types each text as soon as that many rows have another one.
    fn type_all(&self, texts: &[Typed]) {
        for (seen, count, text) in texts {
            self.wait_for(seen, |rows| {
                rows.iter().filter(|row| row.contains(seen)).count() >= *count
            });
            self.tmux(&["send-keys", "-l", text]);
        }
    }
}

/// The text that is to be seen, in how many rows, before another one is typed, and that.
type Typed = (&'static str, usize, &'static str);

impl Drop for Window<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// Returns the rows up to the end.
fn up_to_end(rows: &[String]) -> Option<Vec<String>> {
    let end = rows.iter().position(|row| row == END)?;
    Some(rows[..=end].to_vec())
}

/// Runs a script in tmux and in a session in tmux, and expects the same rows.
fn keeps_the_same(script: &str, texts: &[Typed]) {
    let folder = TempDir::with_prefix("fulmar-test-").expect("a folder");
    let script = format!("{script}\necho '{END}'\nread answer\n");
    std::fs::write(folder.path().join("script"), script).expect("a file");
    let plain = "echo before; sh script; echo left; exec sleep 600";
    let window = Window::open(folder.path(), "plain", plain);
    window.type_all(texts);
    let wanted = window.wait_for("plain", |rows| up_to_end(rows).is_some());
    let wanted = up_to_end(&wanted).expect("it is there");
    drop(window);
    let ours = env!("CARGO_BIN_EXE_fulmar");
    let session = format!("echo before; {ours} --local -- sh script; echo left; exec sleep 600");
    let window = Window::open(folder.path(), "session", &session);
    window.type_all(texts);
    window.expect(&wanted);
    window.end();
}

#[test]
fn of_programs_that_only_write() {
    if ["tmux", "git"]
        .iter()
        .any(|name| peers::require(name).is_none())
    {
        return;
    }
    keeps_the_same(
        r#"
        export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
        rm -rf folder; mkdir folder; cd folder
        for n in $(seq 70); do echo $n > file-$n; done
        ls --color=always -C; ls -l --time-style=+ | head -n 30
        git init -q . 2>/dev/null
        for n in 1 2 3 4 5 6; do
            git -c user.name=ada -c user.email=a@b commit -q --allow-empty -m "change $n"
        done
        git --no-pager log --color=always
        for n in $(seq 40); do printf '\r\033[Kbuilding %s/40' $n; [ $n = 20 ] && sleep 0.1; done; echo
        printf '\033[1;32m   Compiling\033[m one\n\033[1;36m    Building\033[m [=>  ] 1/2'; sleep 0.1
        printf '\r\033[K\033[1;32m   Compiling\033[m two\n\033[1;36m    Building\033[m [==>] 2/2'; sleep 0.1
        printf '\r\033[K\033[1;32m    Finished\033[m in 2 s\n'
        printf 'no line end'; sleep 0.1; echo
        printf '%010000d\n' 0 | tr 0 x
        printf '%s\n' 'exactly as wide as the window is, which is sixty columns here'
        for n in $(seq 50 60); do printf "%${n}s漢字の端\n" | tr ' ' -; done
        printf '\033[44mon blue\033[K\033[m\n\033[7minverse\033[m\n'
        seq 3000
        "#,
        &[],
    );
}

#[test]
fn of_programs_with_a_screen_of_their_own() {
    if ["tmux", "vim", "less"]
        .iter()
        .any(|name| peers::require(name).is_none())
    {
        return;
    }
    keeps_the_same(
        r#"
        seq -f 'early %g' 30; read answer
        printf '\033[H\033[2J\033[3J'; seq 40
        vim -u NONE -i NONE -c 'call setline(1, range(99))' -c redraw -c 'sleep 200m' -c q!
        seq 41 60
        seq 200 > numbers
        less -X -Pbelow numbers
        less -Pbehind numbers
        echo after less
        # As a program that draws the whole main screen over and over, such as top. One that is erased at once enters the scrollback of tmux.
        for n in 1 2 3; do
            printf '\033[H'; for row in $(seq 14); do printf 'process %s\033[K\n' "$row, $n"; done; sleep 0.1
        done
        # As an assistant that draws its lower part anew.
        printf '┌───┐\n│   │\n└───┘\033[2A\r'
        for n in $(seq 20); do
            printf '\033[Aanswer %s\033[K\n\033[J\n┌───┐\n│ x │\n└───┘\033[2A\r' $n; sleep 0.02
        done
        printf '\033[3B\n'
        "#,
        // A client that has none of the lines yet has nothing to clear.
        &[
            ("early", 30, "\r"),
            ("below", 1, "    q"),
            ("behind", 1, "  q"),
        ],
    );
}

#[test]
fn of_a_shell_with_a_prompt_at_the_right() {
    if ["tmux", "zsh"]
        .iter()
        .any(|name| peers::require(name).is_none())
    {
        return;
    }
    keeps_the_same(
        r#"
        cat > .zshrc <<'rc'
        PROMPT='left %# '; RPROMPT='right'
rc
        zsh -i
        "#,
        &[
            ("right", 1, "seq 20\r"),
            ("right", 2, "printf no-end\r"),
            (
                "right",
                3,
                "echo a line that is longer than the window is wide, so that it wraps; exit\r",
            ),
        ],
    );
}

#[test]
fn of_a_program_whose_window_changes() {
    if peers::require("tmux").is_none() {
        return;
    }
    let folder = TempDir::with_prefix("fulmar-test-").expect("a folder");
    let sizes = [
        (60, 8),
        (60, 20),
        (40, 15),
        (60, 15),
        (60, 5),
        (70, 24),
        (60, 15),
    ];
    let mut script = "seq 40; printf '%0100d\\n' 1 2 3\n".to_owned();
    for (number, (columns, rows)) in sizes.iter().enumerate() {
        let wait = format!("until [ \"$(stty size)\" = '{rows} {columns}' ]; do sleep 0.05; done");
        script += &format!("printf ask{number}; {wait}; echo; seq 1{number}00 1{number}09\n");
    }
    script += &format!("seq 2000 2030; echo '{END}'; read answer\n");
    std::fs::write(folder.path().join("script"), script).expect("a file");
    let ours = env!("CARGO_BIN_EXE_fulmar");
    let open = |socket, command: &str| {
        let command = format!("echo before; {command} sh script; echo left; exec sleep 600");
        let window = Window::open(folder.path(), socket, &command);
        for (number, (columns, rows)) in sizes.iter().enumerate() {
            let ask = format!("ask{number}");
            window.wait_for(&ask, |rows| rows.iter().any(|row| row.contains(&ask)));
            let (columns, rows) = (columns.to_string(), rows.to_string());
            window.tmux(&["resize-window", "-x", &columns, "-y", &rows]);
        }
        window
    };
    let window = open("plain", "");
    let wanted = window.wait_for(END, |rows| up_to_end(rows).is_some());
    drop(window);
    let wanted = up_to_end(&wanted).expect("it is there");
    let window = open("session", &format!("{ours} --local --"));
    window.expect(&wanted);
    window.end();
}
