HISTFILE=/tmp/history HISTSIZE=1000 SAVEHIST=1000
setopt inc_append_history
bindkey -v
KEYTIMEOUT=5
autoload -Uz compinit && compinit -u
zstyle ':completion:*' menu select
. /usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh
. /usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh
mode() { [ "$KEYMAP" = vicmd ] && RPROMPT='%F{yellow}❮ NORMAL%f' || RPROMPT='%F{242}INSERT %n%f'; zle reset-prompt }
zle -N zle-keymap-select mode
zle -N zle-line-init mode
PROMPT=$'%F{25}%K{25}%F{255}  %~ %k%F{25}%f '
alias ls='ls --color=auto'
