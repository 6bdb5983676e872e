#!/usr/bin/env bash
# Gradescope runs this once, as root, when it makes the image. It needs Python 3.11 or newer with venv.
set -euo pipefail
cd "$(dirname "$0")"
chmod 700 .

if [ -z "${PYTHON:-}" ]; then
    for version in 3.14 3.13 3.12 3.11; do
        if command -v "python$version" >/dev/null || apt-get install -y "python$version" "python$version-venv"; then
            PYTHON="python$version"
            break
        fi
    done
fi
[ -n "${PYTHON:-}" ] || { echo "There is no Python 3.11 or newer; choose a newer base image."; exit 1; }
"$PYTHON" -m venv ../python
../python/bin/python -m pip install @OPTIONS@ -r requirements.txt
