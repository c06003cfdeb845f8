//! Finds out what a process runs.

#[cfg(target_os = "linux")]
use std::fs::File;
#[cfg(target_os = "linux")]
use std::os::unix::fs::FileExt;

/// The longest name that the kernel keeps of a program.
///
/// Source: proc_pid_comm(5); 15 bytes and a line end.
pub const NAME_BYTES_MAX: usize = 16;

/// A process, and what it runs at the moment: a process may become another program.
///
/// Asking costs one system call; the files of `/proc` are opened once. They stay those of this
/// process, whoever gets its number afterwards. Where the system has no such files, nothing is known
/// of any process.
#[derive(Debug)]
pub struct RunningProgram {
    pid: u32,
    #[cfg(target_os = "linux")]
    name: File,
    #[cfg(target_os = "linux")]
    words: File,
}

impl RunningProgram {
    /// Returns the process of that number; `None` if there is none, or the system tells nothing of it.
    pub fn of(pid: u32) -> Option<RunningProgram> {
        #[cfg(target_os = "linux")]
        return Some(RunningProgram {
            pid,
            name: File::open(format!("/proc/{pid}/comm")).ok()?,
            words: File::open(format!("/proc/{pid}/cmdline")).ok()?,
        });
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Returns its number.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns the name of the program, as the kernel keeps it; `None` once the process is gone.
    pub fn name<'b>(&self, buffer: &'b mut [u8; NAME_BYTES_MAX]) -> Option<&'b [u8]> {
        let name = self.read_name(buffer)?;
        Some(name.strip_suffix(b"\n").unwrap_or(name))
    }

    /// Returns the words of its command line, each with a zero byte behind it, as far as they fit
    /// into `buffer`; `None` once the process is gone. A process may have written over them.
    pub fn command_line<'b>(&self, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        self.read_words(buffer)
    }

    #[cfg(target_os = "linux")]
    fn read_name<'b>(&self, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        read_start(&self.name, buffer)
    }

    #[cfg(target_os = "linux")]
    fn read_words<'b>(&self, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        read_start(&self.words, buffer)
    }

    #[cfg(not(target_os = "linux"))]
    fn read_name<'b>(&self, _: &'b mut [u8]) -> Option<&'b [u8]> {
        None
    }

    #[cfg(not(target_os = "linux"))]
    fn read_words<'b>(&self, _: &'b mut [u8]) -> Option<&'b [u8]> {
        None
    }
}

/// Reads from the beginning of a file that the kernel makes up when it is read.
#[cfg(target_os = "linux")]
fn read_start<'b>(file: &File, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    let count = file.read_at(buffer, 0).ok().filter(|count| *count > 0)?;
    buffer.get(..count)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_followed_when_it_becomes_another_program() {
        let mut child = Command::new("sh")
            .args(["-c", "read -r line; exec cat -u"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let program = RunningProgram::of(child.id()).unwrap();
        assert_eq!(program.pid(), child.id());
        let (mut name, mut words) = ([0; NAME_BYTES_MAX], [0; 64]);
        let before = program.name(&mut name).map(<[u8]>::to_vec);
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"go\nx").unwrap();
        // What cat has written, it is.
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        assert_eq!(program.name(&mut name), Some(b"cat".as_slice()));
        assert_eq!(
            program.command_line(&mut words),
            Some(b"cat\0-u\0".as_slice())
        );
        assert_ne!(before.as_deref(), Some(b"cat".as_slice()));
        drop(input);
        child.wait().unwrap();
        assert_eq!(program.name(&mut name), None, "it is gone");
        assert_eq!(program.command_line(&mut words), None);
    }

    #[test]
    fn a_command_line_is_cut_where_there_is_no_room() {
        let program = RunningProgram::of(std::process::id()).unwrap();
        let mut words = [0; 3];
        assert_eq!(program.command_line(&mut words).map(<[u8]>::len), Some(3));
    }

    #[test]
    fn of_nobody_nothing_is_known() {
        // Linux has no process numbers beyond 2^22.
        assert!(RunningProgram::of(0x7fff_fffe).is_none());
    }
}
