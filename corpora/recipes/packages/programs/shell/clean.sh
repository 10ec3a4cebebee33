#!/bin/sh
set -eu
printf '%s\n' "ok"
