# SPDX-License-Identifier: BSD-3-Clause
# Sourced by try-deb and try-wheel: a copy of a fresh Debian in $work, which goes when the script ends.
#
#   fresh SUITE    makes $work; the Debian itself is made once, in $AMBIT_CHROOT (/var/tmp/ambit-chroot)
#   inside COMMAND...    runs a command there, with an empty environment
#
# As root; needs debootstrap and a mirror of Debian, $AMBIT_MIRROR.
root=$(cd "$(dirname "$0")/.." && pwd)
work=

clean() {
  [ -n "$work" ] || return 0
  umount "$work/proc" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap clean EXIT
inside() { chroot "$work" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
  http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" "$@"; }
step() { echo "== $*"; }

fresh() {
  local base=${AMBIT_CHROOT:-/var/tmp/ambit-chroot}/$1
  work=$(mktemp -d "${TMPDIR:-/var/tmp}/ambit-try.XXXXXX")
  if [ ! -e "$base/made" ]; then
    step "a fresh $1"
    rm -rf "$base"
    debootstrap --variant=minbase "$1" "$base" "${AMBIT_MIRROR:-http://deb.debian.org/debian}"
    touch "$base/made"
  fi
  cp -a "$base/." "$work"
  [ ! -e /etc/apt/apt.conf ] || cp /etc/apt/apt.conf "$work/etc/apt/"
  cp -r /etc/apt/apt.conf.d/. "$work/etc/apt/apt.conf.d/" 2>/dev/null || true
  cp /etc/resolv.conf "$work/etc/resolv.conf" 2>/dev/null || true
  mount -t proc proc "$work/proc"
  inside apt-get -q update >/dev/null
}

# Packages of Debian, or files below $work.
install_packages() {
  inside apt-get -q install -y --no-install-recommends "$@" >"$work/log" 2>&1 || { tail -20 "$work/log"; exit 1; }
}
