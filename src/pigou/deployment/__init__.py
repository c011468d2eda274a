"""What a consortium needs to run a scenario on Flower: keys, certificates, scripts, instructions.

Functions decide what is to be written and write nothing. ``Federation`` is what a server app takes
its contract, its members and its book from.
"""

from pigou.deployment.address import Address
from pigou.deployment.client import Behaviour, ClientFolder, client_folder
from pigou.deployment.federation import Federation
from pigou.deployment.files import File, Files
from pigou.deployment.members import Member, UnreadableMember, from_toml
from pigou.deployment.server import Places, server_folder
from pigou.deployment.trial import trial_folder

__all__ = [
    "Address",
    "Behaviour",
    "ClientFolder",
    "Federation",
    "File",
    "Files",
    "Member",
    "Places",
    "UnreadableMember",
    "client_folder",
    "from_toml",
    "server_folder",
    "trial_folder",
]
