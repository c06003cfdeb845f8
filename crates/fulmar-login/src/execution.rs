//! Decides whether what the user asks for is run in a session.

use std::fmt;

/// A standard stream of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardStream {
    /// Standard input.
    Input,
    /// Standard output.
    Output,
}

impl fmt::Display for StandardStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StandardStream::Input => "standard input",
            StandardStream::Output => "standard output",
        })
    }
}

/// The way in which what the user asks for is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// In a session, on the user's terminal.
    Session,
    /// With the program's own streams, by ssh or on this machine: a session has a screen, and a command whose input or
    /// output was redirected wants its bytes.
    WithoutSession,
}

impl Execution {
    /// Returns how a command, or else a shell, is run whose stream `redirected`, if any, is no terminal.
    ///
    /// # Errors
    ///
    /// The stream, if a shell is asked for that would have to do without a terminal.
    pub fn choose(
        has_command: bool,
        redirected: Option<StandardStream>,
    ) -> Result<Execution, StandardStream> {
        match redirected {
            None => Ok(Execution::Session),
            Some(_) if has_command => Ok(Execution::WithoutSession),
            Some(stream) => Err(stream),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_command_can_do_without_a_terminal() {
        use StandardStream::{Input, Output};
        for has_command in [true, false] {
            assert_eq!(Execution::choose(has_command, None), Ok(Execution::Session));
        }
        for stream in [Input, Output] {
            assert_eq!(
                Execution::choose(true, Some(stream)),
                Ok(Execution::WithoutSession)
            );
            assert_eq!(Execution::choose(false, Some(stream)), Err(stream));
        }
    }
}
