#!/bin/busybox sh
# The guest's first process: mounts what tests look at, then runs the scripts that come
# over a virtio port, one at a time (see guest.py for the other end).
/bin/busybox mkdir -p /proc /sys /dev /tmp /sbin /usr/bin /usr/sbin
/bin/busybox --install -s
export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
mount -t cgroup2 cgroup /sys/fs/cgroup

# The kernel finds the port a moment after boot.
while [ ! -e /dev/vport0p1 ]; do usleep 10000; done
exec <>/dev/vport0p1 1>&0

# The number of CPUs of each node that has memory, in the order of the nodes.
cpus_per_node() {
    for node in /sys/devices/system/node/node[0-9]*; do
        grep -q 'MemTotal: *0 kB' "$node/meminfo" && continue
        set -- "$node"/cpu[0-9]*
        [ -e "$1" ] || shift
        echo $#
    done
}
echo "ready" $(cpus_per_node)

mkdir -p /job
cd /job
while read -r id limit script; do
    echo "$script" | base64 -d >/job/script
    timeout -s KILL "$limit" sh /job/script </dev/null >/job/out 2>/job/err
    echo "result $id $? $(base64 -w0 /job/out) $(base64 -w0 /job/err)"
done
poweroff -f
