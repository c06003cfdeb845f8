//! A typist that follows a script: what is typed comes from a file, the rhythm from a seed.
//!
//! It makes key traces of real programs that anyone can make again. A [`Script`] says what to type, when to wait
//! and what to mark; a [`ScriptedTypist`] is the state machine that types it, with the gaps, slips and corrections of a
//! person ([`TypingRhythm`]); a [`AnsweringTerminal`] is the terminal before that person, which answers what programs ask of one.
//!
//! # Scripts
//!
//! One thing a line; empty lines and those that begin with `#` say nothing. The head comes first:
//!
//! | line | meaning |
//! |---|---|
//! | `size 100x30` | columns and rows of the terminal |
//! | `seed 7` | of the rhythm |
//! | `run PROGRAM ARGUMENT…` | what is recorded; arguments are parted by blanks |
//!
//! Then what happens, in order:
//!
//! | line | meaning |
//! |---|---|
//! | `type TEXT` | types the rest of the line, with slips that are mended |
//! | `line TEXT` | waits until the output has settled, thinks, types TEXT and presses Enter |
//! | `exact TEXT` | types without slips |
//! | `keys NAME NAME*3 …` | presses keys with the rhythm of commands: `Enter`, `Up`, `C-a`, `M-f`, `F5`, `x` |
//! | `hold NAME COUNT` | holds a key down: it is repeated 30 times a second after half a second |
//! | `commit WORD WORD …` | an input method hands over each word in one piece |
//! | `paste TEXT` | TEXT at once, in brackets where the program asks for them; `\n`, `\t`, `\\` |
//! | `secret TEXT` | as `line`, marked as a secret in the sidecar |
//! | `open TEXT` | as `line`, marked as an answer at a prompt that echoes |
//! | `settle`, `think` | waits until the output pauses; 0.4 to 1.2 s |
//! | `wait TEXT` | until the programs have written TEXT, in one piece, since the last key |
//! | `pause MS` | milliseconds |
//! | `mark WORD` | `secret-on`, `secret-off`, `open-on`, `open-off` |
//! | `size 120x40` | the window has another size from here on |

mod rhythm;
mod script;
mod terminal;
mod typist;

pub use rhythm::{TimedKey, TypingRhythm};
pub use script::{Script, ScriptError, ScriptHeader, ScriptKey, ScriptLine, ScriptStep};
pub use terminal::AnsweringTerminal;
pub use typist::{PATIENCE, ScriptedTypist, TypistAction, WaitTimeout};
