#!/bin/sh
# The SuperNode of $name. It calls the server; nobody needs to reach this machine from outside.
# What the app itself wants to know of this node stands in PIGOU_NODE_CONFIG, as Flower has it:
#   PIGOU_NODE_CONFIG="data='/srv/records.npz' batch=32" ./supernode.sh
set -eu
cd "$$(dirname "$$0")"
$quiet
export FLWR_HOME="$$PWD/flower"

exec flower-supernode \
  --superlink $superlink --root-certificates ca.crt \
  --auth-supernode-private-key node.key \
  --host 127.0.0.1 --port "$${PIGOU_NODE_PORT:-$port}" \
  --node-config "pigou='$$PWD/client.toml' $${PIGOU_NODE_CONFIG:-}"
