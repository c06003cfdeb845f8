//! Alice at her machine, Bob's account on the far one, and how she gets there.

use std::fmt::Write as _;
use std::process::ExitStatus;

use fulmar_platform::{Spawn, WindowSize};

use crate::support::network::{self, Families};
use crate::support::{Daemon, Machine, Person, Rules, Setup, Terminal, make_key};
use fulmar_testbed::peers;

/// The program that Alice starts to get to the remote machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Starter {
    /// Our program under its own name.
    Fulmar,
    /// Stock's `mosh`, with stock at both ends.
    Mosh,
    /// `ssh -t`, which shows that the set-up itself works.
    Ssh,
}

/// Makes of each function a module of the same name with a test for each of the starters named.
macro_rules! for_each_starter {
    ($($name:ident: $($starter:ident)*;)*) => {$(
        mod $name {
            $(crate::login::scene::test_with_starter!($name $starter);)*
        }
    )*};
}

macro_rules! test_with_starter {
    ($name:ident $starter:ident) => {
        #[test]
        fn $starter() {
            super::$name(crate::login::scene::Starter::named(stringify!($starter)));
        }
    };
}
pub(crate) use {for_each_starter, test_with_starter};

impl Starter {
    /// The starter that is called so.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "fulmar" => Self::Fulmar,
            "mosh" => Self::Mosh,
            "ssh" => Self::Ssh,
            _ => panic!("nothing is called {name}"),
        }
    }
}

/// A near and a remote machine with a cable between them, and a daemon on the far one that knows
/// Alice's key.
pub(crate) struct Scene {
    // The daemon first: its log is told before the machine is gone.
    pub(crate) daemon: Daemon,
    pub(crate) near: Machine,
    pub(crate) far: Machine,
}

/// The set-up of the two machines; [`Plan::default`] is what most people have.
pub(crate) struct Plan<'a> {
    /// Lines for the far sshd, before those that all have.
    pub(crate) sshd: &'a str,
    /// Alice's ~/.ssh/config.
    pub(crate) config: &'a str,
    pub(crate) families: Families,
    /// Bob's login shell.
    pub(crate) shell: &'a str,
    pub(crate) daemon: Kind,
    /// Machines between the two, in their order from the near one.
    pub(crate) jumps: &'a [&'a Machine],
}

/// The ssh server on the remote machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    OpenSsh,
    Dropbear,
}

impl Default for Plan<'_> {
    fn default() -> Self {
        Self {
            sshd: "",
            config: "",
            families: Families::Both,
            shell: "/bin/sh",
            daemon: Kind::OpenSsh,
            jumps: &[],
        }
    }
}

/// The name of the remote machine in /etc/hosts of the near one.
pub(crate) const FAR: &str = "far";

impl Scene {
    /// Makes all of it; `None` if the calling test is to return.
    #[track_caller]
    pub(crate) fn new(plan: &Plan<'_>) -> Option<Self> {
        peers::require("ssh")?;
        let near = Machine::start("near")?;
        let far = Machine::start("far")?;
        let mut row = vec![&near];
        row.extend(plan.jumps);
        row.push(&far);
        network::join(&row, plan.families);
        far.set_login_shell(plan.shell);
        let daemon = match plan.daemon {
            Kind::OpenSsh => Daemon::sshd(&far, plan.sshd)?,
            Kind::Dropbear => Daemon::dropbear(&far)?,
        };
        let scene = Self { daemon, near, far };
        scene.set_hosts(plan.jumps, plan.families);
        // As Debian has it.
        scene
            .near
            .write("/etc/ssh/ssh_config", "SendEnv LANG LC_*\n");
        scene.near.folder(Person::Alice, ".ssh");
        scene
            .near
            .write_home(Person::Alice, ".ssh/config", plan.config);
        make_key(&scene.near, Person::Alice, ".ssh/id_ed25519")?;
        scene.authorize("");
        scene.trust(&[]);
        Some(scene)
    }

    /// Tells all machines the names of those to the right of the near one.
    fn set_hosts(&self, jumps: &[&Machine], families: Families) {
        let mut hosts = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
        let names = jumps.iter().map(|jump| jump.name()).chain([FAR]);
        for (cable, name) in names.enumerate() {
            if families != Families::V4 {
                let _ = writeln!(hosts, "{} {name} {name}.example.org", network::v6(cable, 2));
            }
            if families != Families::V6 {
                let _ = writeln!(hosts, "{} {name} {name}.example.org", network::v4(cable, 2));
            }
        }
        for machine in jumps.iter().copied().chain([&self.near]) {
            machine.write("/etc/hosts", &hosts);
        }
    }

    /// Lets Alice's key in as Bob, with these options before it.
    pub(crate) fn authorize(&self, options: &str) {
        self.authorize_at(&self.far, Person::Bob, options);
    }

    /// Lets Alice's key in on some machine as somebody, with these options before it.
    pub(crate) fn authorize_at(&self, machine: &Machine, person: Person, options: &str) {
        let key = self.near.read_home(Person::Alice, ".ssh/id_ed25519.pub");
        let key = key.expect("Alice has a key");
        machine.folder(person, ".ssh");
        let line = format!("{options} {key}");
        machine.write_home(person, ".ssh/authorized_keys", line.trim_start());
    }

    /// Tells Alice's ssh the keys of the remote machine and of others, under whatever names.
    pub(crate) fn trust(&self, others: &[&Machine]) {
        let key = |machine: &Machine| {
            let key = std::fs::read_to_string(machine.path("/etc/ssh/host_key.pub")).ok()?;
            Some(format!("* {key}"))
        };
        let keys = others.iter().copied().chain([&self.far]).filter_map(key);
        let keys: String = keys.collect();
        self.near
            .write_home(Person::Alice, ".ssh/known_hosts", keys);
    }

    /// Alice types `fulmar`, `mosh` or `ssh -t` and these arguments; `None` if the calling test is
    /// to return.
    #[track_caller]
    pub(crate) fn start(&self, starter: Starter, arguments: &[&str]) -> Option<Terminal> {
        let command = self.command(starter, arguments)?;
        Some(self.start_command(starter, &command))
    }

    /// The same with what [`command`](Self::command) has made.
    pub(crate) fn start_command(&self, starter: Starter, command: &Spawn) -> Terminal {
        self.start_at(starter, command, Setup::default().size)
    }

    /// The same at a terminal of some size.
    pub(crate) fn start_at(&self, starter: Starter, command: &Spawn, size: WindowSize) -> Terminal {
        let rules = match starter {
            Starter::Fulmar => Rules::Client,
            Starter::Mosh | Starter::Ssh => Rules::None,
        };
        self.near.terminal(command, size, rules)
    }

    /// Returns the command that Alice types, to be changed before it is started.
    #[track_caller]
    pub(crate) fn command(&self, starter: Starter, arguments: &[&str]) -> Option<Spawn> {
        self.command_after(&[], starter, arguments)
    }

    /// The same with words before it, such as `env LANG=C`.
    #[track_caller]
    pub(crate) fn command_after(
        &self,
        words: &[&str],
        starter: Starter,
        arguments: &[&str],
    ) -> Option<Spawn> {
        let starter: &[&str] = match starter {
            Starter::Fulmar => &["fulmar"],
            Starter::Mosh => {
                peers::require("mosh")?;
                &["mosh"]
            }
            Starter::Ssh => &["ssh", "-t"],
        };
        let mut all = words.iter().chain(starter).chain(arguments);
        let mut command = self
            .near
            .spawn(Person::Alice, *all.next().expect("a starter"));
        for word in all {
            command.arg(*word);
        }
        Some(command)
    }

    /// Expects that nothing of the session is left on either machine.
    #[track_caller]
    pub(crate) fn expect_nothing_left(&self) {
        self.near.wait_until_only(|_| false);
        self.far.wait_until_only(is_daemon);
        for machine in [&self.near, &self.far] {
            let sockets = machine.udp_sockets();
            assert!(sockets.is_empty(), "on {}: {sockets:?}", machine.name());
        }
    }
}

/// True for the daemon that waits for connections, as `ps` shows it.
pub(crate) fn is_daemon(line: &str) -> bool {
    line.contains("[listener]") || line.starts_with("/usr/sbin/dropbear -F")
}

/// Makes the machines, types `starter` with `bob@far`, and expects a session as usual.
#[track_caller]
pub(crate) fn expect_login(starter: Starter, plan: &Plan<'_>, prepare: impl FnOnce(&Scene)) {
    let Some(scene) = Scene::new(plan) else {
        return;
    };
    prepare(&scene);
    if let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) {
        expect_session(&scene, starter, &mut terminal);
    }
}

/// Waits for the prompt, sees that keys arrive and where, leaves with status 7, and expects that
/// nothing is left.
#[track_caller]
pub(crate) fn expect_session(scene: &Scene, starter: Starter, terminal: &mut Terminal) {
    expect_work_and_status(starter, terminal);
    scene.expect_nothing_left();
}

/// The same on a near or remote machine where something else may run.
#[track_caller]
pub(crate) fn expect_work_and_status(starter: Starter, terminal: &mut Terminal) {
    terminal.wait_for_prompt();
    expect_work(terminal);
    let status = leave(terminal);
    // Stock does not know how the program ended.
    let expected = if starter == Starter::Mosh { 0 } else { 7 };
    assert_eq!(status.code(), Some(expected), "the status of {starter:?}");
    terminal.expect_restored();
}

/// Runs a command at Bob's prompt.
#[track_caller]
pub(crate) fn expect_work(terminal: &mut Terminal) {
    // In words that every shell understands.
    terminal.type_keys("sh -c 'echo $(id -un) on $(uname -n) $((6 * 7))'\n");
    terminal.wait_for_text("bob on far 42");
    terminal.wait_for_prompt();
}

/// Types `exit 7` at the prompt.
#[track_caller]
pub(crate) fn leave(terminal: &mut Terminal) -> ExitStatus {
    terminal.type_keys("exit 7\n");
    terminal.wait_for_end()
}

/// Waits for a message with these words, after which our program leaves as ssh does when it fails.
#[track_caller]
pub(crate) fn expect_refusal(terminal: &mut Terminal, words: &str) {
    let status = terminal.wait_for_end();
    terminal.wait_for_text(words);
    assert_eq!(status.code(), Some(255), "the status of our program");
    terminal.expect_restored();
}
