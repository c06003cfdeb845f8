//! The table: command lines for which both starters do the same.

use super::fakes::{Case, SESSION, Status, same};

const ARGS: fn(&'static [&'static str]) -> Case<'static> = |words| Case {
    words,
    ..Case::default()
};

/// Tries command lines that lead to a session.
#[track_caller]
fn sessions(lines: &[&'static [&'static str]]) {
    expect(Status::Client, lines);
}

/// Tries command lines that lead to none.
#[track_caller]
fn refusals(lines: &[&'static [&'static str]]) {
    expect(Status::Failure, lines);
}

#[track_caller]
fn expect(status: Status, lines: &[&'static [&'static str]]) {
    for &words in lines {
        let Some(outcome) = same(&ARGS(words)) else {
            return;
        };
        assert_eq!(outcome.status, status, "{words:?}");
        assert_eq!(outcome.complained, status == Status::Failure, "{words:?}");
    }
}

/// Tries what ssh may say, with the same command line.
#[track_caller]
fn hears(status: Status, words: &'static [&'static str], sayings: &[&str]) {
    for &said in sayings {
        let Some(outcome) = same(&Case {
            words,
            said,
            ..Case::default()
        }) else {
            return;
        };
        assert_eq!(outcome.status, status, "{said:?}");
    }
}

#[test]
fn options_that_ssh_and_the_server_feel() {
    sessions(&[
        &["host"],
        &["--server=env A=b mosh-server", "host"],
        &["--server=it's; $x", "host"],
        &["--server", "", "host"],
        &["--ssh=ssh -p 2222", "host"],
        &[
            "--ssh",
            "  ssh 'a b' \"c d\" e\\ f 'g'h \"i\\\"j\" $HOME #x ''",
            "host",
        ],
        &["--no-ssh-pty", "host"],
        &["--ssh-pty", "host"],
        &["--bind-server=ssh", "host"],
        &["--bind-server=ANY", "host"],
        &["--bind-server=192.0.2.3", "host"],
        &["--bind-server=fe80::1%eth0", "host"],
        &["--bind-server=a'b c", "host"],
    ]);
}

#[test]
fn options_that_the_client_feels() {
    sessions(&[
        &["--predict=adaptive", "host"],
        &["--predict=always", "host"],
        &["--predict", "never", "host"],
        &["--predict=experimental", "host"],
        &["-a", "host"],
        &["-n", "host"],
        &["-a", "-n", "host"],
        &["--predict=never", "-a", "host"],
        &["-a", "--predict=never", "host"],
        &["-o", "host"],
        &["--predict-overwrite", "host"],
        &["-o", "--no-o", "host"],
        &["--no-init", "host"],
        &["--no-init", "--init", "host"],
    ]);
}

#[test]
fn families() {
    sessions(&[
        &["-4", "host"],
        &["-6", "host"],
        &["-4", "-6", "host"],
        &["--family=inet6", "-4", "host"],
        &["-4", "--family=inet6", "host"],
        &["--family=auto", "host"],
        &["--family=all", "host"],
        &["--family=Prefer-INET6", "host"],
        &["--family=nonsense", "host"],
        &["--family=a'b c", "host"],
    ]);
}

#[test]
fn names_of_options_may_be_shortened() {
    sessions(&[
        &["--p=7", "host"],
        &["--po", "7", "host"],
        &["--se=s", "host"],
        &["--fam=all", "host"],
        &["--b=any", "host"],
        &["--predict-", "host"],
        &["--no-p", "host"],
        &["--nopredict-overwrite", "host"],
        &["--no-s", "host"],
        &["--noi", "host"],
        &["--i", "host"],
        &["-bind=any", "host"],
        &["-P", "7", "host"],
        &["--FAMILY=all", "host"],
        &["+4", "host"],
        &["--4", "host"],
        &["-p=7", "host"],
    ]);
    refusals(&[
        &["--pr=never", "host"],
        &["--s=x", "host"],
        &["--ss=x", "host"],
        &["--f=inet", "host"],
        &["--fa=inet", "host"],
        &["--no", "host"],
        &["--no-", "host"],
        &["--no-4", "host"],
        &["--no-local", "host"],
        &["--no-a", "host"],
    ]);
}

#[test]
fn options_and_operands_may_be_mixed() {
    sessions(&[
        &["host", "-a"],
        &["host", "-4", "ls"],
        &["host", "--", "ls", "-l"],
        &["--", "host", "ls", "-l"],
        &["host", "ls", "--", "-l"],
        &["host", "--", "--"],
        &["--", "host", "--", "ls"],
        &["host", ""],
        &["user@host", "-p", "7", "vim", "-o"],
        &["DOM\\user%x@gw", "ls"],
    ]);
    let posix = Case {
        words: &["-4", "host", "ls", "-l"],
        variables: &[("POSIXLY_CORRECT", "1")],
        ..Case::default()
    };
    same(&posix);
    same(&Case {
        words: &["+4", "ls"],
        ..posix
    });
}

#[test]
fn command_lines_that_make_no_sense() {
    refusals(&[
        &[],
        &["--"],
        &["-4"],
        &["-x", "host"],
        &["--foo", "host"],
        &["host", "-x"],
        &["-an", "host"],
        &["-p7", "host"],
        &["-4x", "host"],
        &["---4", "host"],
        &["++4", "host"],
        &["+", "host"],
        &["--=x", "host"],
        &["-1", "host"],
        &["--server"],
        &["host", "-p"],
        &["--server=", "host"],
        &["--family=", "host"],
        &["--init=1", "host"],
        &["-a=1", "host"],
        &["--help=1"],
        &["--help", "-x"],
        &["--predict=NEVER", "host"],
        &["--predict=foo", "host"],
        &["--predict=foo"],
        &["--experimental-remote-ip=PROXY", "host"],
        &["--experimental-remote-ip=foo", "host"],
        &["--client", "no-such-client", "host"],
        &["--client", "false", "host"],
    ]);
}

#[test]
fn ports() {
    sessions(&[
        &["-p", "0", "host"],
        &["-p", "65535", "host"],
        &["-p", "007", "host"],
        &["-p", "60500:60510", "host"],
        &["-p", "5:5", "host"],
        &["-p", "1:65535", "host"],
        &["-p", "5", "--port=6", "host"],
    ]);
    refusals(&[
        &["-p", "65536", "host"],
        &["-p", "-1", "host"],
        &["-p", "+5", "host"],
        &["-p", "", "host"],
        &["-p", "x", "host"],
        &["-p", "5x", "host"],
        &["-p", " 5", "host"],
        &["-p", "6:5", "host"],
        &["-p", "0:5", "host"],
        &["-p", "0:0", "host"],
        &["-p", "5:", "host"],
        &["-p", ":5", "host"],
        &["-p", "5:6:7", "host"],
        &["-p", "5:65536", "host"],
        &["-p", "99999999999999999999", "host"],
        &["-p", "0x10", "host"],
        &["-p", "host"],
    ]);
}

#[test]
fn words_that_a_shell_would_take_for_something_else() {
    sessions(&[
        &["host", "--", "it's", "a b", "*", "$HOME", "`id`", "$(id)"],
        &[
            "host", "--", "'", "''", "\\", "\"", "\n", "", "--", "-x", "ü", "!", "~", ";", "#",
        ],
        &["--server=a\tb", "--bind-server=$HOME", "host"],
    ]);
}

#[test]
fn help_and_version() {
    for words in [
        &["--help"] as &[_],
        &["-h", "host"],
        &["host", "--help", "--predict=foo"],
        &["--version", "--help"],
        &["--version"],
        &["-v"],
        &["--ver", "-p", "x"],
    ] {
        let Some([ours, stock]) = super::fakes::both(&ARGS(words)) else {
            return;
        };
        for outcome in [&ours, &stock] {
            assert_eq!(outcome.status, Status::Success, "{words:?}");
            assert!(!outcome.complained && outcome.ssh.is_none(), "{words:?}");
        }
        // A help text is each one's own. Scripts read the first line of a version.
        if words[0].starts_with("--ver") && words.len() != 2 {
            assert_eq!(ours.printed.lines().next(), stock.printed.lines().next());
        }
        assert_eq!(
            ours.printed.starts_with("mosh 1."),
            stock.printed.starts_with("mosh 1.")
        );
    }
}

#[test]
fn locales_travel_in_a_fixed_order() {
    for variables in [
        &[] as &[_],
        &[("LANG", ""), ("LC_ALL", "C")],
        &[
            ("LANG", "C.UTF-8"),
            ("LC_FOO", "x"),
            ("LC_TIME", "a'b\nc"),
            ("LANGUAGE", "en:de"),
        ],
        &[
            ("LC_ALL", "C"),
            ("LC_IDENTIFICATION", "a"),
            ("LC_MEASUREMENT", "b"),
            ("LC_TELEPHONE", "c"),
            ("LC_ADDRESS", "d"),
            ("LC_NAME", "e"),
            ("LC_PAPER", "f"),
            ("LC_MESSAGES", "g"),
            ("LC_MONETARY", "h"),
            ("LC_COLLATE", "i"),
            ("LC_TIME", "j"),
            ("LC_NUMERIC", "k"),
            ("LC_CTYPE", "l"),
            ("LANGUAGE", "m"),
            ("LANG", "n"),
        ],
    ] {
        same(&Case {
            variables,
            ..ARGS(&["host"])
        });
    }
}

#[test]
fn environments() {
    for (words, variables) in [
        (
            &["host"] as &[_],
            &[("MOSH_PREDICTION_DISPLAY", "never")] as &[_],
        ),
        (&["-a", "host"], &[("MOSH_PREDICTION_DISPLAY", "never")]),
        (&["-n", "host"], &[("MOSH_PREDICTION_DISPLAY", "foo")]),
        (&["host"], &[("MOSH_PREDICTION_DISPLAY", "foo")]),
        (&["host"], &[("MOSH_PREDICTION_DISPLAY", "")]),
        (&["--no-o", "host"], &[("MOSH_PREDICTION_OVERWRITE", "yes")]),
        (&["--init", "host"], &[("MOSH_NO_TERM_INIT", "1")]),
        (
            &["host"],
            &[("MOSH_CLIENT_PID", "1"), ("SHELL", "/bin/zsh")],
        ),
        (
            &["host"],
            &[("MOSH_ESCAPE_KEY", "x"), ("MOSH_TITLE_NOPREFIX", "")],
        ),
        (&["host"], &[("SSH_CONNECTION", "192.0.2.1 7 192.0.2.2 22")]),
        (
            &["--local", "192.0.2.9"],
            &[("SSH_CONNECTION", "192.0.2.1 7 192.0.2.2 22")],
        ),
        (&["--local", "192.0.2.9"], &[("HOME", "/no/such/folder")]),
        (&["--local", "-o", "192.0.2.9"], &[("HOME", "")]),
    ] {
        same(&Case {
            words,
            variables,
            ..Case::default()
        });
    }
}

#[test]
fn colours() {
    for colors in [
        "256\n", "8\n", "0", "-1\n", "", "foo\n", " 8\n", "8 \n", "8\n8\n", "+8\n", "008\n",
    ] {
        same(&Case {
            colors,
            ..ARGS(&["host"])
        });
    }
}

#[test]
fn servers_on_this_machine() {
    for words in [
        &["--local", "192.0.2.9"] as &[_],
        &["--local", "192.0.2.9", "--", "vim", "-b"],
        &["--local", "-6", "-p", "5:6", "::1"],
        &["--local", "--bind-server=any", "192.0.2.9"],
        &["--local", "--bind-server=192.0.2.1", "192.0.2.9"],
        &["--local", "--server=env A=b mosh-server", "192.0.2.9"],
        &["--local", "--server=echo hello; mosh-server", "192.0.2.9"],
        &["--local", "--server=false", "192.0.2.9"],
        &["--local", "--server=no-such-server", "192.0.2.9"],
        &["--local", "--experimental-remote-ip=remote", "192.0.2.9"],
        &["--local", "localhost"],
        &["-local", "192.0.2.9"],
        &["--l", "192.0.2.9"],
        &["+l", "192.0.2.9"],
        &["192.0.2.9", "ls", "-l"],
        &["--local", "192.0.2.9", "it's", "$HOME", "a  b", "\\"],
    ] {
        let said = SESSION.split_once('\n').map_or("", |(_, connect)| connect);
        same(&Case {
            words,
            said,
            ..Case::default()
        });
        // The address is known, so a line that tells one is an attack.
        same(&Case {
            words,
            ..Case::default()
        });
    }
}

#[test]
fn ways_to_the_address() {
    const CONNECT: &str = "MOSH CONNECT 60001 c68K8iLyuCr1oEM7Hszyjg\n";
    const TOLD: &str = "\nMOSH SSH_CONNECTION 192.0.2.1 7 192.0.2.2 22\nMOSH CONNECT 60001 c68K8iLyuCr1oEM7Hszyjg\n";
    for option in ["proxy", "remote", "local"] {
        let option = format!("--experimental-remote-ip={option}");
        for words in [
            &[&option, "ada@b@127.0.0.1"] as &[_],
            &[&option, "-4", "127.0.0.1"],
            &[&option, "-6", "::1"],
            &[&option, "--family=all", "127.0.0.1"],
            &[&option, "--family=auto", "127.0.0.1"],
            &[&option, "--family=inet6", "127.0.0.1"],
        ] {
            for said in [CONNECT, TOLD, SESSION] {
                same(&Case {
                    words,
                    said,
                    ..Case::default()
                });
            }
        }
    }
}

#[test]
fn lines_that_begin_a_session() {
    let connect = "MOSH CONNECT 60001 c68K8iLyuCr1oEM7Hszyjg";
    let sayings = [
        format!("MOSH IP 192.0.2.7\n{connect}"),
        format!("MOSH IP 192.0.2.7\n{connect} \t\r\nafter\n"),
        format!("MOSH IP 192.0.2.7 \t\r\n{connect}\n"),
        format!("MOSH IP fe80::1%1\n{connect}\n"),
        format!("hello\n\nMOSH IP 192.0.2.7\n MOSH IP 192.0.2.8\nMOSH IP\nMOSH FOO x\n{connect}\n"),
        format!("MOSH IP 192.0.2.7\n{connect}\n{connect}\nMOSH IP 192.0.2.8\n"),
        format!(
            "MOSH IP 192.0.2.7\n  {connect}\nx{connect}\nMOSH CONNECT\nMOSH CONNECTx\n{connect}\n"
        ),
        format!("MOSH IP 192.0.2.7\nBad UDP port\n{connect}\n"),
        format!("MOSH SSH_CONNECTION 192.0.2.1 7 192.0.2.2 22\nMOSH IP 192.0.2.7\n{connect}\n"),
        format!("MOSH SSH_CONNECTION  192.0.2.1  7 192.0.2.2 22 \r\n{connect}\n"),
        format!(
            "MOSH SSH_CONNECTION 192.0.2.1 7 192.0.2.2 22\n\
             MOSH SSH_CONNECTION 192.0.2.1 7 192.0.2.3 22\n{connect}\n"
        ),
        "MOSH IP 192.0.2.7\nMOSH CONNECT 1 ++++++++++//////////BB\n".to_owned(),
        "MOSH IP 192.0.2.7\nMOSH CONNECT 0065535 ++++++++++//////////BB\n".to_owned(),
    ];
    let sayings: Vec<&str> = sayings.iter().map(String::as_str).collect();
    hears(Status::Client, &["-p", "5:6", "host"], &sayings);
}

#[test]
fn lines_that_begin_none() {
    let connect = "MOSH CONNECT 60001 c68K8iLyuCr1oEM7Hszyjg\n";
    let sayings = [
        String::new(),
        "hello".to_owned(),
        "MOSH IP 192.0.2.7\n".to_owned(),
        "MOSH IP 192.0.2.7\nBad UDP port\n".to_owned(),
        connect.to_owned(),
        format!("{connect}MOSH IP 192.0.2.7\n"),
        format!("MOSH IP\n{connect}"),
        format!("MOSH IP \n{connect}"),
        format!("MOSH IP a b\n{connect}"),
        format!("MOSH IP  192.0.2.7\n{connect}"),
        format!("MOSH IP 192.0.2.7\nMOSH IP 192.0.2.7\n{connect}"),
        format!("MOSH IP 192.0.2.7\nMOSH IP 192.0.2.8\n{connect}"),
        format!("MOSH SSH_CONNECTION 192.0.2.1 7 192.0.2.2\nMOSH IP 192.0.2.7\n{connect}"),
        format!("MOSH SSH_CONNECTION 192.0.2.1 7 192.0.2.2 22 5\nMOSH IP 192.0.2.7\n{connect}"),
        format!("MOSH IP 192.0.2.7\nMOSH CONNECT \n{connect}"),
        format!("MOSH IP 192.0.2.7\nMOSH CONNECT 60001 short\n{connect}"),
        "MOSH IP 192.0.2.7\nMOSH CONNECT 60001 c68K8iLyuCr1oEM7HszyjgA\n".to_owned(),
        "MOSH IP 192.0.2.7\nMOSH CONNECT 60001 c68K8iLyuCr1oEM7Hszyjg x\n".to_owned(),
        "MOSH IP 192.0.2.7\nMOSH CONNECT 60001  c68K8iLyuCr1oEM7Hszyjg\n".to_owned(),
        "MOSH IP 192.0.2.7\nMOSH CONNECT +1 c68K8iLyuCr1oEM7Hszyjg\n".to_owned(),
        "MOSH IP 192.0.2.7\nMOSH CONNECT 1 c68K8iLyuCr1oEM7Hszy!!\n".to_owned(),
    ];
    let sayings: Vec<&str> = sayings.iter().map(String::as_str).collect();
    hears(Status::Failure, &["host"], &sayings);
    hears(Status::Failure, &["-p", "5:6", "host"], &sayings[..5]);
}

#[test]
fn the_status_of_ssh_says_nothing_and_its_errors_are_lines_like_others() {
    for status in [0, 1, 255] {
        same(&Case {
            status,
            ..ARGS(&["host"])
        });
        same(&Case {
            status,
            said: "",
            ..ARGS(&["host"])
        });
    }
    for said_on_stderr in [SESSION, "Permission denied (publickey).\n"] {
        same(&Case {
            said: "",
            said_on_stderr,
            ..ARGS(&["host"])
        });
    }
}
