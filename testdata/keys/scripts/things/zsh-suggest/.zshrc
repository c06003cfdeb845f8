HISTFILE=/tmp/history HISTSIZE=1000 SAVEHIST=1000
setopt inc_append_history
bindkey -e
PROMPT='%B%F{blue}%1~%f%b %# '
RPROMPT='%F{242}%n@%m%f'
autoload -Uz compinit && compinit -u
zstyle ':completion:*' menu select
. /usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh
. /usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh
alias ls='ls --color=auto'
