PS1='%n@%m:%~%# '
unset HISTFILE
bindkey -e
