# SPDX-License-Identifier: MIT
# Finds the MPIs to build for. Each is known by its compiler wrapper:
#
#   -DREPRISE_MPICC="/opt/a/bin/mpicc;/opt/b/bin/mpicc"    these
#   (nothing)     mpicc in PATH, and Debian's mpicc.openmpi, mpicc.mpich and mpicc.mpi_abi_mpich
#
# The family of an MPI (openmpi, mpich, abi: the standard ABI of MPI 5) is found by compiling, never by
# a name. What is built for one MPI of a family works with all of it. So an MPI has the name of its
# family, or FAMILY-VERSION where there are several of one family.
#
# reprise_find_mpis sets REPRISE_FLAVOURS, the names. For each NAME it sets:
#   NAME_WRAPPER, NAME_COMPILE, NAME_LINK, NAME_FAMILY, NAME_VERSION, NAME_LIBRARY
#   NAME_MPICXX, NAME_MPIF90, NAME_MPIRUN   beside the wrapper; empty if there is none
set(REPRISE_MPICC "" CACHE STRING "compiler wrappers of the MPIs to build for, separated by semicolons")
set(REPRISE_CMAKE ${CMAKE_CURRENT_LIST_DIR})

# What the wrapper gives to the compiler: flags in COMPILE and LINK. Empty lists: it does not tell.
function(read_wrapper wrapper compile link)
  foreach(option -show -showme)
    execute_process(COMMAND ${wrapper} ${option} OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE
      RESULT_VARIABLE failed ERROR_QUIET)
    if(failed EQUAL 0 AND line)
      break()
    endif()
  endforeach()
  if(NOT failed EQUAL 0)
    set(line "")
  endif()
  separate_arguments(words UNIX_COMMAND "${line}")
  set(compile_words ${words})
  list(FILTER compile_words INCLUDE REGEX "^-(I|D|pthread|isystem)")
  set(link_words ${words})
  list(FILTER link_words INCLUDE REGEX "^(-(L|l|Wl,|pthread)|/.*\\.(so|a)$)")
  set(${compile} ${compile_words} PARENT_SCOPE)
  set(${link} ${link_words} PARENT_SCOPE)
endfunction()

# Sets OUT to openmpi, mpich or abi; empty: the wrapper's mpi.h is none of these, or there is none.
function(find_family compile out)
  set(${out} "" PARENT_SCOPE)
  foreach(family openmpi mpich abi)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -std=gnu11 -fsyntax-only ${compile} -DFAMILY=${family}
      ${REPRISE_CMAKE}/probe_family.c RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed EQUAL 0)
      set(${out} ${family} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

function(find_version compile out)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -E -P ${compile} -x c ${REPRISE_CMAKE}/probe_mpi.h
    OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCH "rp_version ([^\n]*)" line "${text}")
  string(REGEX MATCHALL "[A-Za-z0-9.]+" parts "${CMAKE_MATCH_1}")
  list(JOIN parts "." version)
  set(${out} ${version} PARENT_SCOPE)
endfunction()

# The first of NAMES beside the wrapper, with its suffix (mpicc.mpich: mpirun.mpich) or without.
function(find_beside wrapper out) # NAME...
  get_filename_component(folder ${wrapper} DIRECTORY)
  get_filename_component(file ${wrapper} NAME)
  string(REGEX MATCH "[._-].*$" suffix ${file})
  set(${out} "" PARENT_SCOPE)
  foreach(name ${ARGN})
    if(EXISTS ${folder}/${name}${suffix})
      set(${out} ${folder}/${name}${suffix} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# The file by which the command knows what its libraries were built for (src/cli/flavours.h), and what
# tests start programs with.
function(write_flavour name)
  set(folder ${CMAKE_BINARY_DIR}/lib/reprise/${name})
  file(MAKE_DIRECTORY ${folder})
  file(WRITE ${folder}/mpi "family ${${name}_FAMILY}\nversion ${${name}_VERSION}\nlibrary ${${name}_LIBRARY}\n")
  install(FILES ${folder}/mpi DESTINATION lib/reprise/${name})
  foreach(tool mpicc mpicxx mpif90 mpirun)
    string(TOUPPER ${tool} variable)
    string(REPLACE MPICC WRAPPER variable ${variable})
    set(script ${CMAKE_BINARY_DIR}/tests/bin/${tool}.${name})
    if(${name}_${variable} AND NOT ${name}_${variable} STREQUAL "/usr/bin/${tool}.${name}")
      file(WRITE ${script} "#!/bin/sh\nexec ${${name}_${variable}} \"$@\"\n")
      file(CHMOD ${script} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    endif()
  endforeach()
endfunction()

# The MPI library that the wrapper links, without symbolic links; empty: not found.
function(find_library_file link out)
  set(folders ${link})
  list(FILTER folders INCLUDE REGEX "^-L")
  list(TRANSFORM folders REPLACE "^-L" "")
  set(names ${link})
  list(FILTER names INCLUDE REGEX "^-l(mpi|mpich|mpi_abi)$")
  list(TRANSFORM names REPLACE "^-l" "")
  find_library(mpi_library NAMES ${names} HINTS ${folders} NO_CACHE)
  set(${out} "" PARENT_SCOPE)
  if(mpi_library)
    get_filename_component(real ${mpi_library} REALPATH)
    set(${out} ${real} PARENT_SCOPE)
  endif()
endfunction()

function(list_wrappers out)
  set(found ${REPRISE_MPICC})
  if(NOT found)
    foreach(name mpicc.openmpi mpicc.mpich mpicc.mpi_abi_mpich mpicc)
      find_program(wrapper_${name} NAMES ${name} NO_CACHE)
      if(wrapper_${name})
        list(APPEND found ${wrapper_${name}})
      endif()
    endforeach()
  endif()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# Adds the MPI of a wrapper to the list `mpis` of the caller, unless it is there already.
macro(add_mpi wrapper)
  read_wrapper(${wrapper} compile link)
  find_family("${compile}" family)
  if(NOT family)
    if(REPRISE_MPICC)
      message(FATAL_ERROR "${wrapper}: no MPI that reprise knows: its mpi.h is not that of Open MPI, of MPICH and its like, or of the standard ABI")
    endif()
    message(STATUS "reprise is not built for ${wrapper}: it does not compile")
  else()
    find_version("${compile}" version)
    if(NOT "${family}-${version}" IN_LIST mpis)
      list(APPEND mpis ${family}-${version})
      list(APPEND families ${family})
      foreach(what compile link family version)
        set(${family}-${version}_${what} ${${what}})
      endforeach()
      set(${family}-${version}_wrapper ${wrapper})
    endif()
  endif()
endmacro()

# Says which functions are refused because api/functions.table does not have them.
function(list_unknown name)
  execute_process(COMMAND ${CMAKE_C_COMPILER} ${${name}_COMPILE} -E -P -x c ${CMAKE_SOURCE_DIR}/api/mpi.h.in
    -o ${CMAKE_BINARY_DIR}/CMakeFiles/mpi-${name}.i ERROR_QUIET)
  execute_process(COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/api/unknown.py ${CMAKE_SOURCE_DIR}/api/functions.table
    ${CMAKE_BINARY_DIR}/CMakeFiles/mpi-${name}.i OUTPUT_VARIABLE unknown OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(unknown)
    message(STATUS "  refused, for want of a row in api/functions.table: ${unknown}")
  endif()
endfunction()

macro(reprise_find_mpis)
  set(REPRISE_FLAVOURS)
  set(mpis)
  set(families)
  list_wrappers(wrappers)
  foreach(each ${wrappers})
    add_mpi(${each})
  endforeach()
  foreach(mpi ${mpis})
    set(name ${mpi})
    set(others ${families})
    list(FILTER others INCLUDE REGEX "^${${mpi}_family}$")
    list(LENGTH others count)
    if(count EQUAL 1)
      set(name ${${mpi}_family})
    endif()
    list(APPEND REPRISE_FLAVOURS ${name})
    set(${name}_WRAPPER ${${mpi}_wrapper})
    set(${name}_COMPILE ${${mpi}_compile})
    set(${name}_LINK ${${mpi}_link})
    set(${name}_FAMILY ${${mpi}_family})
    set(${name}_VERSION ${${mpi}_version})
    find_library_file("${${name}_LINK}" ${name}_LIBRARY)
    find_beside(${${name}_WRAPPER} ${name}_MPICXX mpicxx mpic++)
    find_beside(${${name}_WRAPPER} ${name}_MPIF90 mpif90 mpifort)
    find_beside(${${name}_WRAPPER} ${name}_MPIRUN mpirun mpiexec)
    message(STATUS "reprise for ${name}: ${${name}_WRAPPER}, version ${${name}_VERSION}")
    list_unknown(${name})
  endforeach()
  if(NOT REPRISE_FLAVOURS)
    message(FATAL_ERROR "no MPI was found: put its mpicc into PATH, or say -DREPRISE_MPICC=/where/it/is/bin/mpicc")
  endif()
endmacro()
