#!/usr/bin/env bash
# Packs a folder so that the same files give the same bytes: pack.sh FOLDER EPOCH > ARCHIVE.tar.gz
# Names are sorted, owners and umask left out, and every time is EPOCH.
set -euo pipefail
tar --create --directory "$(dirname "$1")" --format=gnu --sort=name --owner=0 --group=0 --numeric-owner \
  --mode=u+rw,go+r,go-w,a+X --mtime="@$2" "$(basename "$1")" | gzip -9 --no-name
