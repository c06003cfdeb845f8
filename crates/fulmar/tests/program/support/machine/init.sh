# What the first process of a machine does (machine/mod.rs): it makes the machine's files from
# those of the real one, then waits until its standard input ends. With it all others end.
#
# $1 is our program, and it has to be bound: other users may not enter the folder it is in.
# $2 is the name of the machine.
set -eu
# The number by which the real machine knows this process: /proc is still that of the real one.
read -r pid rest </proc/self/stat
mount --make-rprivate /

# First, because it may be in one of the folders that are replaced.
mount -t tmpfs -o mode=755 tmpfs /usr/local/bin
: >/usr/local/bin/fulmar
mount --bind "$1" /usr/local/bin/fulmar

etc=/mnt
mount -t tmpfs -o mode=755 tmpfs "$etc"
for name in alternatives ld.so.cache ld.so.conf ld.so.conf.d locale.alias localtime login.defs \
    mime.types security terminfo zsh fish; do
    if [ -e "/etc/$name" ]; then cp -a "/etc/$name" "$etc/"; fi
done
mkdir -p "$etc/ssh" "$etc/pam.d" "$etc/profile.d" "$etc/dropbear"
mount --bind "$etc" /etc
umount "$etc"

for folder in /home /root /run /tmp /var/tmp /var/log /mnt; do
    if [ -d "$folder" ]; then
        mode=$(stat -c %a "$folder")
        mount -t tmpfs -o "mode=$mode" tmpfs "$folder"
    fi
done
mkdir -p -m 755 /run/sshd

mount -t proc proc /proc
echo "$2" >/proc/sys/kernel/hostname
# An address counts at once: nobody else is there who could have it too.
for what in all default; do
    echo 0 >/proc/sys/net/ipv6/conf/$what/accept_dad
    echo 0 >/proc/sys/net/ipv6/conf/$what/router_solicitations
done
ip link set lo up
echo "$pid"
read -r line || :
