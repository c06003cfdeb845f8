# A prompt of two lines, drawn with lines, in full colour.
HISTFILE=
alias ls='ls --color=auto'
PS1='\[\e[38;5;240m\]╭─\[\e[48;5;24;97m\] \u@\h \[\e[0;38;5;24;48;5;238m\]\[\e[97m\] \w \[\e[0;38;5;238m\]\[\e[0m\]\n\[\e[38;5;240m\]╰─\[\e[0m\]\$ '
