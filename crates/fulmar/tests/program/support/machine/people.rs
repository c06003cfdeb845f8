//! The people who have an account on a machine of the tests.

use std::fmt::Write as _;

/// Somebody with an account and a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Person {
    /// The administrator.
    Root,
    /// The person whose fingers the tests are.
    Alice,
    /// The account that Alice has on the remote machine.
    Bob,
}

/// The password of Bob's account, and of Alice's.
pub(crate) const PASSWORD: &str = "open sesame";

/// The same as `crypt` has it (SHA-512).
const PASSWORD_HASH: &str = "$6$fulmar$cZoGaY6DPKopnDXqwo.cZH91Ry3X5rHpbEzjXj9k0Xs5rnknm11OPf\
                             Y2Syl7asKoZh2RuNP9oDRfDw3kmnYFw0";

impl Person {
    pub(crate) const ALL: [Self; 3] = [Self::Root, Self::Alice, Self::Bob];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Alice => "alice",
            Self::Bob => "bob",
        }
    }

    /// The number of the user, and of the group that is the user's alone.
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Root => 0,
            Self::Alice => 61_001,
            Self::Bob => 61_002,
        }
    }

    pub(crate) fn home(self) -> String {
        match self {
            Self::Root => "/root".to_owned(),
            Self::Alice | Self::Bob => format!("/home/{}", self.name()),
        }
    }
}

/// The text of /etc/passwd, in which everybody has the login shell `shell`.
pub(super) fn passwd(shell: &str) -> String {
    let mut text = "sshd:x:105:65534::/run/sshd:/usr/sbin/nologin\n\
                    nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
        .to_owned();
    for person in Person::ALL {
        let (name, number, home) = (person.name(), person.number(), person.home());
        let _ = writeln!(text, "{name}:x:{number}:{number}::{home}:{shell}");
    }
    text
}

/// The text of /etc/shadow: alice and bob have [`PASSWORD`].
pub(super) fn shadow() -> String {
    let mut text = "sshd:*:19000:0:99999:7:::\n".to_owned();
    for person in Person::ALL {
        let hash = match person {
            Person::Root => "*",
            Person::Alice | Person::Bob => PASSWORD_HASH,
        };
        let _ = writeln!(text, "{}:{hash}:19000:0:99999:7:::", person.name());
    }
    text
}

/// The text of /etc/group.
pub(super) fn group() -> String {
    let mut text = "tty:x:5:\nshadow:x:42:\nutmp:x:43:\nnogroup:x:65534:\n".to_owned();
    for person in Person::ALL {
        let _ = writeln!(text, "{}:x:{}:", person.name(), person.number());
    }
    text
}
