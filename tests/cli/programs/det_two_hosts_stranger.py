# SPDX-License-Identifier: MIT
"""Connects to the ports of a job's processes without the secret of the job; counts the answers."""
import os, socket, struct, sys
def name_of(process):
    try:
        return open("/proc/%s/comm" % process).read().strip()
    except OSError:
        return ""
def sockets_of(process):
    try:
        return {os.readlink("/proc/%s/fd/%s" % (process, fd)) for fd in os.listdir("/proc/%s/fd" % process)}
    except OSError:
        return set()
def listening(program):
    names = {process: name_of(process) for process in os.listdir("/proc") if process.isdigit()}
    own = [process for process in names if names[process] == program]
    ports = {}
    for line in open("/proc/net/tcp").read().split("\n")[1:] if own else []:
        word = line.split()
        if len(word) > 9 and word[3] == "0A" and word[1].startswith("00000000:"):
            ports["socket:[%s]" % word[9]] = int(word[1].split(":")[1], 16)
    found = set().union(*map(sockets_of, own)) & set(ports)
    for process in names if found else []:
        if names[process].startswith(("mpi", "hydra", "orte", "prte")):
            found -= sockets_of(process)
    return {ports[one] for one in found}
answers, kept, silent = 0, [], []
while True:
    for port in listening("masterworker"):
        try:
            silent = (silent + [socket.create_connection((sys.argv[1], port), 0.2)])[-20:]
            s = socket.create_connection((sys.argv[1], port), 0.2)
            s.settimeout(0.1)
            s.send(b"reprise\1" + struct.pack("<II", 1, 0) + b"0123456789abcdef")
            if len(s.recv(24)) == 24:
                answers += 1
                open(sys.argv[2], "w").write(str(answers))
                s.send(b"12345678")
            kept = (kept + [s])[-20:]
        except OSError:
            pass
