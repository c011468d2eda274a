#!/bin/sh
# Registers the members' nodes, once; the SuperLink must be running. No other node can join.
set -eu
cd "$$(dirname "$$0")"
$commands
