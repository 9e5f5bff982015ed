# SPDX-License-Identifier: GPL-2.0
"""The wire between several machines: taps on a bridge.

Made in the network namespace that the runner finds itself in, which
`scripts/enter --netns` provides; refuses to touch one that is in use.
"""

import subprocess
from dataclasses import dataclass

from .errors import RunnerError

BRIDGE = "homabr0"
# Room for any MTU a test asks for inside its machine.
_WIRE_MTU = 9216


@dataclass(frozen=True)
class Port:
    """One machine's end of the wire."""

    tap: str
    mac: str


def join(count: int) -> list[Port]:
    """Create the bridge with one tap for each machine."""
    _refuse_busy_namespace()
    _ip("link", "set", "lo", "up")
    _ip("link", "add", BRIDGE, "type", "bridge", "stp_state", "0", "mcast_snooping", "0")
    ports: list[Port] = []
    for number in range(1, count + 1):
        port = Port(f"homatap{number}", f"52:54:00:00:00:{number:02x}")
        _ip("tuntap", "add", port.tap, "mode", "tap", "vnet_hdr")
        _quiet(port.tap)
        _ip("link", "set", port.tap, "mtu", str(_WIRE_MTU), "master", BRIDGE, "up")
        ports.append(port)
    _quiet(BRIDGE)
    _ip("link", "set", BRIDGE, "up")
    return ports


def leave(ports: list[Port]) -> None:
    """Remove what `join` created."""
    for name in [*(port.tap for port in ports), BRIDGE]:
        subprocess.run(["ip", "link", "delete", name], check=False, stderr=subprocess.DEVNULL)


def _refuse_busy_namespace() -> None:
    listing = subprocess.run(
        ["ip", "-o", "link", "show"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    names = [line.split(":")[1].strip().split("@")[0] for line in listing.splitlines()]
    others = [name for name in names if name != "lo" and name not in _FALLBACK_TUNNELS]
    if others:
        raise RunnerError(
            f"Several machines need a network namespace of their own, and this one has "
            f"{', '.join(others)}; run through scripts/enter --netns."
        )


# Devices that the kernel itself puts into each new namespace.
_FALLBACK_TUNNELS = frozenset(
    "tunl0 gre0 gretap0 erspan0 ip_vti0 ip6_vti0 sit0 ip6tnl0 ip6gre0".split()
)


def _quiet(device: str) -> None:
    """No IPv6 chatter from the host's side: tests count packets."""
    path = f"/proc/sys/net/ipv6/conf/{device}/disable_ipv6"
    try:
        with open(path, "w", encoding="ascii") as knob:
            knob.write("1")
    except OSError:
        # A host without IPv6 is silent already.
        return


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], check=False, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RunnerError(
            f"'ip {' '.join(arguments)}' failed ({done.stderr.strip()}); several machines need "
            f"root in a network namespace and /dev/net/tun: run through scripts/enter --netns."
        )
