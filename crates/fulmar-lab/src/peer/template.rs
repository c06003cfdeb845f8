//! Lines with words in braces.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use super::programs::NotInstalled;

/// The values that are put in the place of words in braces. None has characters that a shell changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Values {
    /// The server's address.
    pub(crate) host: String,
    /// The port of its sshd.
    pub(crate) port: u16,
    /// The remote command.
    pub(crate) command: String,
    /// ssh with its options.
    pub(crate) ssh: String,
    /// Our program.
    pub(crate) fulmar: PathBuf,
    /// Stock Mosh's server, where it is installed.
    pub(crate) mosh_server: Option<PathBuf>,
}

/// A word that may stand in braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Command,
    Host,
    Port,
    Ssh,
    Fulmar,
    MoshServer,
}

/// Checks that a template can be filled.
pub(super) fn check(template: &str) -> Result<()> {
    let mut has_command = false;
    replaced(template, |name| {
        has_command |= name == Name::Command;
        Ok(String::new())
    })?;
    ensure!(
        has_command,
        "{{command}} is missing in the template “{template}”"
    );
    Ok(())
}

/// Fills a template.
pub(super) fn filled(template: &str, values: &Values) -> Result<String> {
    replaced(template, |name| value(name, values))
}

fn value(name: Name, values: &Values) -> Result<String> {
    Ok(match name {
        Name::Command => values.command.clone(),
        Name::Host => values.host.clone(),
        Name::Port => values.port.to_string(),
        Name::Ssh => values.ssh.clone(),
        Name::Fulmar => {
            ensure!(
                values.fulmar.is_file(),
                "{} is not there; build it, or say where it is",
                values.fulmar.display()
            );
            plain(&values.fulmar)?
        }
        Name::MoshServer => {
            let server = values.mosh_server.as_deref();
            plain(server.ok_or_else(|| NotInstalled("mosh-server".to_owned()))?)?
        }
    })
}

/// Returns a path as text, if no shell would make something else of it.
pub(crate) fn plain(path: &Path) -> Result<String> {
    let text = path.to_str().unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,:@".contains(&byte);
    ensure!(
        !text.is_empty() && text.bytes().all(is_plain),
        "the path {} has characters that shells change; move it elsewhere",
        path.display()
    );
    Ok(text.to_owned())
}

fn replaced(template: &str, mut value: impl FnMut(Name) -> Result<String>) -> Result<String> {
    let mut line = String::new();
    let mut rest = template;
    while let Some((text, behind)) = rest.split_once('{') {
        let (name, next) = behind
            .split_once('}')
            .with_context(|| format!("a brace in “{template}” has no end"))?;
        line += text;
        line += &value(named(name)?)?;
        rest = next;
    }
    Ok(line + rest)
}

fn named(name: &str) -> Result<Name> {
    Ok(match name {
        "command" => Name::Command,
        "host" => Name::Host,
        "port" => Name::Port,
        "ssh" => Name::Ssh,
        "fulmar" => Name::Fulmar,
        "mosh-server" => Name::MoshServer,
        _ => bail!(
            "“{name}” is not known in a template; there are {{command}}, {{host}}, {{port}}, \
             {{ssh}}, {{fulmar}} and {{mosh-server}}"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        Values {
            host: "203.0.113.1".to_owned(),
            port: 22,
            command: "lab play trace".to_owned(),
            ssh: "ssh -F config".to_owned(),
            fulmar: "/nowhere/fulmar".into(),
            mosh_server: None,
        }
    }

    #[test]
    fn words_in_braces_are_replaced() {
        let line = filled("a --ssh='{ssh}' {host}:{port} {command}", &values()).unwrap();
        assert_eq!(
            line,
            "a --ssh='ssh -F config' 203.0.113.1:22 lab play trace"
        );
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        for (template, said) in [
            ("{fulmar} {command}", "/nowhere/fulmar is not there"),
            ("{mosh-server}", "mosh-server is not installed"),
        ] {
            let error = filled(template, &values()).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    #[test]
    fn a_path_that_shells_change_is_refused() {
        assert_eq!(plain(Path::new("/a/b-1.2_c")).unwrap(), "/a/b-1.2_c");
        for path in ["/a b", "/a'b", "/$a", ""] {
            assert!(plain(Path::new(path)).is_err(), "{path}");
        }
    }
}
