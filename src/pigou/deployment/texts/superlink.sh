#!/bin/sh
# The server's SuperLink, on $bind. That address must stay closed to everybody else: next to the
# nodes' interface it serves one that starts runs and registers nodes without asking who calls.
set -eu
cd "$$(dirname "$$0")"
$quiet
export FLWR_HOME="$$PWD/flower"

exec flower-superlink \
  --host $bind_host --port $bind_port \
  --ssl-ca-certfile tls/ca.crt --ssl-certfile tls/server.pem --ssl-keyfile tls/server.key \
  --enable-supernode-auth \
  --database superlink.db
