# SPDX-License-Identifier: MIT
# Each app once: recorded with clocks in its messages, and replayed with the recorded result.
exec "$(dirname "$0")/../rounds" -n 1 -r 4 -m "$1" -c
