unset HISTFILE
setopt prompt_subst transient_rprompt
bindkey -e
PROMPT=$'%F{cyan}%~%f %F{240}(main)%f\n%(?.%F{green}.%F{red})❯%f '
RPROMPT='%(?..%F{red}✘ %? )%F{242}%*%f'
alias ls='ls --color=auto'
