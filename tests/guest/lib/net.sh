# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Hosts as network namespaces a and b, joined by a veth pair: in each the device
# is eth0, with 10.0.0.1 and fd00::1 for a, 10.0.0.2 and fd00::2 for b.

# hosts_create [MTU]: makes a and b.
hosts_create() {
    modprobe -q veth
    ip netns add a && ip netns add b || return 1
    ip link add eth0 netns a type veth peer name eth0 netns b || return 1
    host_set_up a 1 "${1:-1500}" && host_set_up b 2 "${1:-1500}"
}

# host_set_up NAME NUMBER MTU: addresses of one host; its eth0 is there already.
host_set_up() {
    on "$1" sh -c "
        echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_dad
        ip link set lo up
        ip addr add 10.0.0.$2/24 dev eth0
        ip addr add fd00::$2/64 dev eth0 nodad
        ip link set eth0 mtu $3 up
    "
}

# hosts_delete: removes a and b with all that is in them.
hosts_delete() {
    for net_host in a b; do
        [ ! -e "/run/netns/$net_host" ] || ip netns del "$net_host"
    done
}

# on HOST COMMAND...: runs a command on a host. "-" is the machine itself.
on() {
    net_host=$1
    shift
    if [ "$net_host" = - ]; then
        "$@"
    else
        ip netns exec "$net_host" "$@"
    fi
}

# hosts_mtu MTU: sets it on both ends.
hosts_mtu() {
    on a ip link set eth0 mtu "$1" && on b ip link set eth0 mtu "$1"
}

# hosts_offload FEATURE on|off ...: ethtool -K on both ends.
hosts_offload() {
    on a ethtool -K eth0 "$@" && on b ethtool -K eth0 "$@"
}

# hosts_gro on|off: GRO for what arrives through veth. Off and never asked for is
# the default there. Kernels before 5.13 have it only under an XDP program, so
# this fails with them.
hosts_gro() {
    hosts_offload gro "$1" && [ "$(feature b generic-receive-offload)" = "$1" ]
}

# feature HOST FEATURE: prints on or off, as ethtool sees it on eth0.
feature() {
    on "$1" ethtool -k eth0 | sed -n "s/^[[:space:]]*$2: \([a-z]*\).*/\1/p"
}

# netem HOST PARAMETERS...: what leaves the host is delayed, lost, ... until
# netem_off.
netem() {
    net_host=$1
    shift
    modprobe -q sch_netem
    on "$net_host" tc qdisc replace dev eth0 root netem limit 10000 "$@"
}

# netem_off HOST
netem_off() {
    on "$1" tc qdisc del dev eth0 root 2>/dev/null || true
}

# hosts_count NUMBER [MTU]: many hosts h1, h2, ... on one bridge, with addresses
# 10.0.0.N and fd00::N; the bridge is in namespace sw.
hosts_count() {
    modprobe -a -q veth bridge
    ip netns add sw || return 1
    on sw ip link add br0 type bridge stp_state 0 mcast_snooping 0 || return 1
    on sw ip link set br0 mtu "${2:-1500}" up
    for net_number in $(seq "$1"); do
        ip netns add "h$net_number" || return 1
        ip link add eth0 netns "h$net_number" type veth peer name "p$net_number" netns sw || return 1
        on sw ip link set "p$net_number" mtu "${2:-1500}" master br0 up
        host_set_up "h$net_number" "$net_number" "${2:-1500}" || return 1
    done
}

# hosts_count_delete NUMBER: removes what hosts_count made.
hosts_count_delete() {
    for net_number in $(seq "$1"); do
        ip netns del "h$net_number"
    done
    ip netns del sw
}
