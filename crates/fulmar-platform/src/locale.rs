//! Asks the C library about a locale.

use std::ffi::{CStr, CString};

/// Returns the name of the character set of a locale, such as `UTF-8`; `None` if the C library has
/// no such locale, or not for all that a locale says.
///
/// Programs of the machine agree with us as far as they use the C library that we do. One that
/// knows a single character set, as musl, has any locale.
pub fn locale_codeset(name: &str) -> Option<String> {
    // An empty name would stand for what the environment says.
    let name = CString::new(name).ok().filter(|name| !name.is_empty())?;
    let locale = Locale::of(&name)?;
    Some(locale.codeset())
}

/// A locale of the C library. It is in nobody's use.
struct Locale(libc::locale_t);

impl Locale {
    fn of(name: &CStr) -> Option<Self> {
        // SAFETY: the name ends with a zero byte and is copied; without a base there is nothing that
        // is changed.
        let locale =
            unsafe { libc::newlocale(libc::LC_ALL_MASK, name.as_ptr(), std::ptr::null_mut()) };
        (!locale.is_null()).then(|| Self(locale))
    }

    fn codeset(&self) -> String {
        // SAFETY: the locale is valid as long as `self`, and used by this thread alone until the one
        // before is put back, which is before anything else happens. The text is a string of the
        // locale, or an empty one, and copied while the locale is in use.
        unsafe {
            let before = libc::uselocale(self.0);
            let text = libc::nl_langinfo(libc::CODESET);
            let codeset = if text.is_null() {
                String::new()
            } else {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            };
            libc::uselocale(before);
            codeset
        }
    }
}

impl Drop for Locale {
    fn drop(&mut self) {
        // SAFETY: it was made by `newlocale`, is in no use and not used again.
        unsafe { libc::freelocale(self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_locale_of_c_is_everywhere_and_not_utf8() {
        for name in ["C", "POSIX"] {
            let codeset = locale_codeset(name).unwrap();
            assert_ne!(codeset, "UTF-8", "{name}");
        }
    }

    #[test]
    fn what_is_no_name_is_no_locale() {
        for name in ["", "C\0C"] {
            assert_eq!(locale_codeset(name), None, "{name:?}");
        }
    }

    #[cfg(target_env = "gnu")]
    #[test]
    fn a_locale_that_is_not_installed_is_told_from_one_that_is() {
        for name in ["xx_XX.UTF-8", "C.no-such-set", "/etc", "../C", "UTF-8"] {
            assert_eq!(locale_codeset(name), None, "{name}");
        }
        // The same as a program is told that asks for it by the environment.
        for name in ["C.UTF-8", "C.utf8", "en_US.UTF-8", "de_DE", "C"] {
            let mut charmap = Command::new("locale");
            charmap.arg("charmap").env("LC_ALL", name);
            let Ok(output) = charmap.output() else {
                crate::leave_out("there is no program locale");
                return;
            };
            let told = String::from_utf8(output.stdout).unwrap();
            let is_there = output.stderr.is_empty();
            let codeset = is_there.then(|| told.trim().to_owned());
            assert_eq!(locale_codeset(name), codeset, "{name}");
        }
    }

    #[test]
    fn asking_changes_nothing() {
        // SAFETY: it only asks.
        let current = || unsafe { libc::uselocale(std::ptr::null_mut()) };
        let before = current();
        locale_codeset("C.UTF-8");
        assert_eq!(current(), before);
    }
}
