"""Where a server is reached: HOST:PORT, checked before it goes into scripts and certificates."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final, Self

from pigou.errors import require

HIGHEST_PORT: Final = 65535
LONGEST_HOST: Final = 253  # characters of a DNS name
LABEL: Final = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
DNS_NAME: Final = re.compile(rf"{LABEL}(\.{LABEL})*")


@dataclass(frozen=True)
class Address:
    """A host, by DNS name or IP address, and a port."""

    host: str
    port: int

    @classmethod
    def parse(cls, option: str, text: str) -> Self:
        """The address in HOST:PORT or [IPv6]:PORT; errors name the option it came from."""
        host, colon, port = text.rpartition(":")
        bare = host.removeprefix("[").removesuffix("]")
        bracketed = host != bare
        whole = bool(colon) and host in (bare, f"[{bare}]")
        require(whole, option, "must be HOST:PORT", text)
        number = int(port) if re.fullmatch(r"[0-9]{1,5}", port) else 0
        require(1 <= number <= HIGHEST_PORT, option, "must end in a port from 1 to 65535", text)
        found = ip_of(bare)
        if bracketed or isinstance(found, IPv6Address):
            both = bracketed and isinstance(found, IPv6Address)
            require(both, option, "must hold IPv6 addresses, and only them, in brackets", text)
        elif found is None:
            # a last label of digits would be read as an IP address by some programs
            named = DNS_NAME.fullmatch(bare) and not bare.rpartition(".")[2].isdigit()
            fine = named and len(bare) <= LONGEST_HOST
            require(fine, option, "must hold a DNS name or an IP address", text)
        return cls(bare, number)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def ip_of(host: str) -> IPv4Address | IPv6Address | None:
    """The host as an IP address, if it is one."""
    try:
        return ip_address(host)
    except ValueError:
        return None
