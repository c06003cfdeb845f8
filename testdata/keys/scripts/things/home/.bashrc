PS1='\u@\h:\w\$ '
[ "$USER" = lena ] && PS1='\u@tern:\w\$ '
HISTFILE= HISTCONTROL=
alias ll='ls -l' ls='ls --color=auto' grep='grep --color=auto'
