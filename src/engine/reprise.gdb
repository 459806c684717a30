# SPDX-License-Identifier: MIT
# Commands for gdb in a replay; 'reprise replay --gdb RANKS' and 'reprise gdb' load them. They use what src/engine/replay_watch.h offers.

define-prefix reprise

document reprise
Where a replay is, and to go on by events of its record: reprise where, pending, step, until.
end

define reprise where
  printf "%s", ((const char *(*)(void)) reprise_where)()
end
document reprise where
The number of the current event, and the one that comes next.
end

define reprise pending
  printf "%s", ((const char *(*)(void)) reprise_pending)()
end
document reprise pending
The receives under way, each with the message that it takes in the record.
end

# The call returns to the program with the outcome in its hands; there it is stopped.
define reprise returned
  tbreak *(*(unsigned long *) &reprise_return_address)
  continue
  reprise where
end
document reprise returned
Goes on until the MPI call of the last event returns to the program.
end

define reprise step
  tbreak reprise_event
  if $argc == 1
    ignore $bpnum $arg0 - 1
  end
  continue
  reprise returned
end
document reprise step
reprise step [N]: goes on until the next event (the N-th from here) was replayed, and its MPI call returns to the program.
end

define reprise until
  tbreak reprise_event if *(unsigned long *) &reprise_event_number >= $arg0
  continue
  reprise returned
end
document reprise until
reprise until N: goes on until N events of this rank were replayed, and the MPI call of the last returns to the program.
end
