# SPDX-License-Identifier: MIT
"""usage: PROGRAM...: the counter in $PAGE_FILE moves while the program runs, and its end is what the program tells."""
import mmap, struct, subprocess, sys, os
page = os.environ["PAGE_FILE"]
program = subprocess.Popen(sys.argv[1:], env=dict(os.environ, LD_PRELOAD=os.environ["PRELOAD"]), stdout=subprocess.PIPE)
while program.poll() is None and not (os.path.exists(page) and os.path.getsize(page)):
    pass
shared = mmap.mmap(os.open(page, os.O_RDONLY), 8, prot=mmap.PROT_READ)
seen = set()
while program.poll() is None:
    seen.add(struct.unpack("<Q", shared)[0])
last, said = struct.unpack("<Q", shared)[0], program.stdout.read().decode()
print(len(seen), last, said.split()[0])
# What the program counted after it asked is little.
sys.exit(not (len(seen) > 20 and 0 <= last - int(said.split()[0]) < 1000 and program.returncode == 0))
