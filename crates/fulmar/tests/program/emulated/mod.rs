//! Programs look the same in a session as without one, as real terminal emulators show them.
//!
//! Each program runs twice, in two windows of an emulator: directly, and in a session. It gets the same keys. After each, both
//! windows have to show the same: in xterm and kitty each pixel, in tmux the text and style of each cell.

mod kitty;
mod pages;
mod program;
mod programs;
mod screen;
mod tmux;
mod twins;
mod window;
mod xterm;

/// Makes a test for each program.
macro_rules! look_alike {
    ($emulator:ty: $($name:ident $program:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            super::twins::look_alike::<$emulator>(&super::programs::$program);
        }
    )*};
}

mod in_xterm {
    look_alike! {
        super::xterm::Xterm:
        renditions RENDITIONS,
        disputed DISPUTED,
        characters CHARACTERS,
        cursors CURSORS,
        vim VIM,
        vim_in_24_bit_colors VIM_COLORS,
        nano NANO,
        less LESS,
        tmux TMUX,
        htop HTOP,
        mc MC,
        dialog DIALOG,
        zsh_with_plugins ZSH_WITH_PLUGINS,
        rich RICH,
        textual TEXTUAL,
        fish FISH,
        neovim NEOVIM,
        emacs EMACS,
    }
}

mod in_kitty {
    look_alike! {
        super::kitty::Kitty:
        renditions RENDITIONS,
        underlines UNDERLINES,
        characters CHARACTERS,
        cursors CURSORS,
        vim VIM,
        vim_in_24_bit_colors VIM_COLORS,
        nano NANO,
        less LESS,
        tmux TMUX,
        mc MC,
        dialog DIALOG,
        zsh_with_plugins ZSH_WITH_PLUGINS,
        rich RICH,
        textual TEXTUAL,
        fish FISH,
        neovim NEOVIM,
        emacs EMACS,
    }
}

mod in_tmux {
    look_alike! {
        super::tmux::Tmux:
        renditions RENDITIONS,
        disputed DISPUTED,
        underlines UNDERLINES,
        characters CHARACTERS,
        cursors CURSORS,
        vim VIM,
        vim_in_24_bit_colors VIM_COLORS,
        nano NANO,
        less LESS,
        tmux TMUX,
        htop HTOP,
        mc MC,
        dialog DIALOG,
        man MAN,
        git_diff GIT,
        bash BASH,
        zsh ZSH,
        zsh_with_plugins ZSH_WITH_PLUGINS,
        rich RICH,
        textual TEXTUAL,
        fish FISH,
        python PYTHON,
        neovim NEOVIM,
        neovim_in_24_bit_colors NEOVIM_COLORS,
        emacs EMACS,
        fzf FZF,
        tig TIG,
        bat BAT,
        delta DELTA,
        weechat WEECHAT,
    }
}
