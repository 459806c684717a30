# SPDX-License-Identifier: MIT
# Each app once: recorded, and replayed with the recorded result.
exec "$(dirname "$0")/../soak" replay -n 1 -r 4 -m "$1"
