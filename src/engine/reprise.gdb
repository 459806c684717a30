# SPDX-License-Identifier: MIT
# Commands for gdb in a replay; 'reprise replay --gdb RANKS' and 'reprise gdb' load them. They read what src/engine/gdb_hooks.h offers.

define-prefix reprise

document reprise
Where a replay is, and to go on by events of its record: reprise where, pending, step, until.
end

define reprise where
  set $reprise_place = (unsigned long *) &reprise_place
  if $reprise_place[0] == 0
    printf "no replay has begun in this process\n"
  else
    printf "rank %lu: %lu of %lu events replayed", $reprise_place[1], $reprise_place[2], $reprise_place[3]
    if $reprise_place[8] != 0
      printf "; next is event %lu: %s in %s", $reprise_place[2], (const char *) $reprise_place[8], (const char *) $reprise_place[9]
      set $reprise_kind = ((int *) $reprise_place)[8]
      set $reprise_a = ((int *) $reprise_place)[12]
      set $reprise_b = ((int *) $reprise_place)[13]
      if $reprise_kind == 1 || $reprise_kind == 2 || $reprise_kind == 6
        printf ", from rank %d with tag %d", $reprise_a, $reprise_b
      end
      if $reprise_kind == 4
        printf ", index %d, %d of them", $reprise_a, $reprise_b
      end
      if $reprise_kind == 3
        printf ", %lu times", $reprise_place[7]
      end
    else
      if $reprise_place[2] < $reprise_place[3]
        printf "; the next is not loaded yet"
      else
        printf "; this is the end of the record"
      end
    end
    printf "\n"
  end
end
document reprise where
The number of the current event, and the one that comes next.
end

define reprise pending
  set $reprise_receives = *(unsigned long **) &reprise_receives
  set $reprise_slot = (unsigned long *) $reprise_receives[0]
  set $reprise_end = $reprise_slot
  if $reprise_slot != 0
    set $reprise_end = (unsigned long *) ($reprise_receives[0] + $reprise_receives[1] + 64)
  end
  set $reprise_found = 0
  while $reprise_slot < $reprise_end
    if $reprise_slot[0] != 0 && ($reprise_slot[1] & 1) != 0
      set $reprise_found = 1
      printf "receive %lu, request 0x%lx: ", $reprise_slot[2], $reprise_slot[0]
      if ($reprise_slot[1] & 32) != 0
        printf "takes nothing in the record\n"
      else
        if ((int *) $reprise_slot)[12] < 0
          printf "takes a message from any rank"
        else
          printf "takes a message from rank %d", ((int *) $reprise_slot)[12]
        end
        if ((int *) $reprise_slot)[13] < 0
          printf " with any tag\n"
        else
          printf " with tag %d\n", ((int *) $reprise_slot)[13]
        end
      end
    end
    set $reprise_slot = $reprise_slot + 8
  end
  if !$reprise_found
    if *(unsigned long *) &reprise_place == 0
      printf "no replay has begun in this process\n"
    else
      printf "no receive is under way\n"
    end
  end
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
  tbreak reprise_event if ((unsigned long *) &reprise_place)[2] >= $arg0
  continue
  reprise returned
end
document reprise until
reprise until N: goes on until N events of this rank were replayed, and the MPI call of the last returns to the program.
end
