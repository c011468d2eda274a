#!/bin/sh
# Flower's own program, set up for this server: ./flwr.sh run APP pigou, ./flwr.sh supernode list pigou
set -eu
here="$$(cd "$$(dirname "$$0")" && pwd)"
$quiet
export FLWR_HOME="$$here/flower"

mkdir -p "$$FLWR_HOME"
cat > "$$FLWR_HOME/config.toml" <<END
[superlink.pigou]
address = "$local"
root-certificates = "$$here/tls/ca.crt"
END
exec flwr "$$@"
