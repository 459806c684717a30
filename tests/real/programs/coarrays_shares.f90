! SPDX-License-Identifier: MIT
! Images take places of a table in a race.
program shares
    implicit none
    integer, parameter :: n = 30
    integer :: next[*], table(n)[*], place, image, i, mine
    table = 0
    next = 0
    sync all
    do ! who takes a place is a race
        critical
            place = next[1]
            next[1] = place + 1
        end critical
        if (place >= n) exit
        image = 1 + mod(place, num_images())
        table(place + 1)[image] = 100 * this_image() + place
    end do
    sync all
    mine = 0
    do i = 1, n
        mine = mod(mine * 3 + table(i), 1000003)
    end do
    print *, 'image', this_image(), mine, sum(table)
end program
