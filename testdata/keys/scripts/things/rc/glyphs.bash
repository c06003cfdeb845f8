# A prompt in the manner of starship: a line of segments with glyphs, then an arrow that tells of failure.
HISTFILE=
alias ls='ls --color=auto'
segments() {
    local failed=$?
    local arrow='\[\e[1;32m\]❯\[\e[0m\]'
    [ "$failed" != 0 ] && arrow='\[\e[1;31m\]❯\[\e[0m\]'
    PS1="\n\[\e[1;36m\] \w\[\e[0m\] on \[\e[1;35m\] main\[\e[0m\] \[\e[1;31m\][✘!?]\[\e[0m\] via \[\e[1;33m\]🐍 v3.11\[\e[0m\] \[\e[2m\]\t\[\e[0m\]\n$arrow "
}
PROMPT_COMMAND=segments
