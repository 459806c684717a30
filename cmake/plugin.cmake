# SPDX-License-Identifier: MIT
# cmake -DPLUGIN=FILE.so -DCOMPILER=CXX -DFLAGS="..." -DSOURCES="A.cc;B.cc" -DLOG=FILE -P plugin.cmake
#
# Makes a plugin of reprise-cc. A compiler whose headers have changed must not end the build: where a
# source does not compile, the plugin is left out, and LOG has what the compiler says.
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
get_filename_component(name ${PLUGIN} NAME_WE)
file(REMOVE ${PLUGIN})
execute_process(COMMAND ${COMPILER} ${flags} -shared ${SOURCES} -o ${PLUGIN} RESULT_VARIABLE failed ERROR_VARIABLE errors)
file(WRITE ${LOG} "${errors}")
if(failed)
  message("no ${name}: it does not compile (${LOG})")
elseif(errors)
  message("${errors}")
endif()
