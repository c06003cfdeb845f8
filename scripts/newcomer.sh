#!/usr/bin/env bash
# A newcomer's first day, from README alone: a fresh account here and one on a server behind a cable, `ssh` first, then
# `fulmar`; then the cable is pulled, the machine gets another address, and the session goes on.
#
#   scripts/newcomer.sh [FOLDER]     FOLDER holds the program `fulmar`; without it, it is built and target/release is used
#
# Needs root, for the namespaces: two machines are made of this one, with accounts, networks and processes of their own, and
# all of it goes when the script ends. Needs ssh, sshd, tmux and iproute2. Prints a line for each step; status 0 if all hold.
#
#   client's machine                         server's machine
#   10.77.0.1 ─ cable0 ═══ veth ═══ cable1 ─ 10.77.0.2
#   tmux: ssh, fulmar                        sshd; account `newcomer`, with `fulmar` in ~/.local/bin
set -euo pipefail

account=newcomer
server_address=10.77.0.2
first_address=10.77.0.1
second_address=10.77.0.99

step() { printf 'newcomer: %s\n' "$*"; }
fail() {
    printf 'newcomer: FAILED: %s\n' "$*" >&2
    if [[ -n ${screen_is_open-} ]]; then
        printf -- '--- the screen ---\n%s\n------------------\n' "$(screen)" >&2
    fi
    exit 1
}

# --- outside: find the program, then begin anew in namespaces that vanish with us -------------------------------------------

if [[ ${FULMAR_NEWCOMER_INSIDE-} != yes ]]; then
    root=$(cd "$(dirname "$0")/.." && pwd)
    if [[ $# -gt 0 ]]; then
        programs=$(cd "$1" && pwd)
    else
        cargo build --release --manifest-path "$root/Cargo.toml"
        programs=$root/target/release
    fi
    [[ -x $programs/fulmar ]] || fail "there is no fulmar in $programs"
    for needed in ssh sshd ssh-keygen tmux ip unshare; do
        PATH=$PATH:/usr/sbin:/sbin command -v "$needed" >/dev/null || fail "$needed is not installed"
    done
    # What is done here is what README says to do.
    for said in 'cp target/release/fulmar ~/.local/bin/' 'fulmar user@host'; do
        grep -qF "$said" "$root/README.md" || fail "README does not say: $said"
    done
    export FULMAR_NEWCOMER_INSIDE=yes PATH=$PATH:/usr/sbin:/sbin
    exec unshare --mount --net --pid --fork --kill-child --mount-proc "$0" "$programs"
fi

programs=$1

# --- two machines of one ----------------------------------------------------------------------------------------------------

make_private_copy_of_etc() {
    mount -t tmpfs tmpfs /mnt
    cp -a /etc /mnt/etc
    mount --bind /mnt/etc /etc
    mkdir -p /mnt/home /mnt/run
    mount --bind /mnt/home /home
    mount --bind /mnt/run /run
}

make_account() {
    printf '%s:x:4242:4242::/home/%s:/bin/bash\n' "$account" "$account" >>/etc/passwd
    printf '%s:x:4242:\n' "$account" >>/etc/group
    printf '%s:*:19000:0:99999:7:::\n' "$account" >>/etc/shadow
    mkdir -p "/home/$account"
    cp -a /etc/skel/. "/home/$account/"
    chown -R 4242:4242 "/home/$account"
}

as_newcomer() { setpriv --reuid=4242 --regid=4242 --clear-groups env -i HOME="/home/$account" USER="$account" \
    LOGNAME="$account" SHELL=/bin/bash TERM=xterm-256color LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin "$@"; }

lay_cable() {
    ip netns add server
    ip link set lo up
    ip -n server link set lo up
    ip link add cable0 type veth peer name cable1 netns server
    ip addr add "$first_address/24" dev cable0
    ip link set cable0 up
    ip -n server addr add "$server_address/24" dev cable1
    ip -n server link set cable1 up
}

start_sshd() {
    mkdir -p /run/sshd /etc/newcomer
    ssh-keygen -q -t ed25519 -N '' -f /etc/newcomer/host_key
    cat >/etc/newcomer/sshd_config <<CONFIG
ListenAddress $server_address
HostKey /etc/newcomer/host_key
PidFile /run/newcomer-sshd.pid
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
CONFIG
    # -D keeps it in the foreground: it ends with us, and is ready when its port answers.
    ip netns exec server "$(command -v sshd)" -D -e -f /etc/newcomer/sshd_config 2>/run/sshd.log &
    until_holds 'sshd answers' bash -c "exec 3<>/dev/tcp/$server_address/22"
}

# --- the newcomer's terminal ------------------------------------------------------------------------------------------------

terminal() { as_newcomer tmux -f /dev/null -S "/home/$account/tmux" "$@"; }
screen() { terminal capture-pane -p -t 0; }
type_line() { terminal send-keys -t 0 -l "$1" && terminal send-keys -t 0 Enter; }
shows() { screen | grep -qE -- "$1"; }
shows_no() { ! shows "$1"; }

runs_no() { ! pgrep "$@" >/dev/null; }

# Tries a command until it succeeds.
until_holds() {
    local what=$1 tries=600
    shift
    until "$@" 2>/dev/null; do
        ((tries-- > 0)) || fail "$what"
        read -rt 0.1 <> <(:) || true
    done
}

expect() { until_holds "the screen never showed: $1" shows "$1"; }

open_terminal() {
    terminal new-session -d -x 90 -y 24 "PS1='here> ' exec bash --norc --noprofile"
    screen_is_open=yes
    expect '^here>'
}

# --- the day ----------------------------------------------------------------------------------------------------------------

make_private_copy_of_etc
make_account
lay_cable
start_sshd
step "two machines, a cable between them, a fresh account on both"

as_newcomer mkdir -p "/home/$account/.local/bin" "/home/$account/.ssh"
as_newcomer cp "$programs/fulmar" "/home/$account/.local/bin/"
as_newcomer ssh-keygen -q -t ed25519 -N '' -f "/home/$account/.ssh/id_ed25519"
as_newcomer cp "/home/$account/.ssh/id_ed25519.pub" "/home/$account/.ssh/authorized_keys"
step "installed as README says: one file in ~/.local/bin"

open_terminal
type_line 'export PATH=$PATH:~/.local/bin'
type_line "ssh $account@$server_address"
expect 'continue connecting'
type_line yes
expect "^$account@[^ ]*:~[$]$"
type_line 'echo over-ssh-$((6 * 7)); exit'
expect '^over-ssh-42'
expect '^here>$'
step "ssh $account@$server_address works"

type_line 'clear'
type_line "fulmar $account@$server_address; echo status-\$?"
expect "^$account@[^ ]*:~[$]$"
type_line 'echo by-fulmar-$((6 * 7)); set -- $SSH_CONNECTION; echo from-$1'
expect '^by-fulmar-42'
expect "^from-$first_address"
until_holds 'ssh stays after the login' runs_no -u 4242 -x ssh
step "fulmar $account@$server_address works, and ssh has gone"

ip link set cable0 down
type_line 'echo typed-in-the-dark-$((40 + 2))'
expect '^fulmar: .*quits'
step "the cable is pulled: the client says so, and keeps what is typed"

ip addr flush dev cable0
ip addr add "$second_address/24" dev cable0
ip link set cable0 up
expect '^typed-in-the-dark-42'
until_holds 'the notice stays' shows_no '^fulmar: .*quits'
step "back at $second_address: the session goes on, nothing is lost"

pkill -9 -u 4242 -x fulmar
terminal kill-server
open_terminal
type_line 'export PATH=$PATH:~/.local/bin; clear'
type_line "fulmar attach $account@$server_address; echo status-\$?"
expect '^typed-in-the-dark-42'
type_line 'echo attached-$((40 + 2))'
expect '^attached-42'
step "the client is killed and its window gone: fulmar attach $account@$server_address comes back"

type_line 'exit 7'
expect '^status-7'
until_holds 'something is left of the session' runs_no -x fulmar
step "exit 7 ends it with status 7, and nothing is left on either side"

terminal kill-server
step "all well"
