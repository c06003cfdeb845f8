HISTFILE=/tmp/history HISTSIZE=1000 SAVEHIST=1000
setopt inc_append_history
bindkey -e
PROMPT='%1~ %# '
ZSH_AUTOSUGGEST_HIGHLIGHT_STYLE=none
. /usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh
